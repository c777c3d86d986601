"""The texts of old hubs are kept as they are now once a hub was opened, however often that was broken off."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import zstandard

from tests.hub.people.folk import project, somebody
from tests.hub.people.folk import session as folk_session
from unspool.files import scratch_folder
from unspool.hub.sessions.listing import ListPage
from unspool.hub.sessions.search import search
from unspool.hub.store import move_texts, schema
from unspool.hub.store.blobs import MadeFile
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.schema import STEPS, table_exists
from unspool.hub.store.texts import SessionPassage
from unspool.hub.store.verify import verify

if TYPE_CHECKING:
    from tests.hub.servers import Servers


@pytest.fixture(params=["files", "servers"])
def bare(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorePlace]:
    """A place without tables, of each kind."""
    monkeypatch.setattr(move_texts, "_SAID_EVERY", -1.0)
    if request.param == "files":
        yield StorePlace(tmp_path / "hub")
        return
    request.getfixturevalue("credentials")
    servers: Servers = request.getfixturevalue("servers")
    with servers.place(tmp_path / "hub", tables=False) as place:
        yield place


@pytest.fixture(params=["passages", "unsigned"])
def before(request: pytest.FixtureRequest, bare: StorePlace) -> StorePlace:
    """The place of a hub of before, with three sessions that hold a word each: its texts are in the database still, or
    in the object store in parts without signatures."""
    {"passages": _fill_with_passages, "unsigned": _fill_unsigned}[request.param](bare)
    return bare


TEXTS = [
    [SessionPassage(at, "prompt", "", 7 + number, f"heron number{number} {at}") for at in range(3)]
    for number in range(3)
]


def _fill_unsigned(place: StorePlace) -> None:
    """Tables of the eighth version: a part holds two passages, and the words are in the database."""
    with pytest.MonkeyPatch.context() as before:
        before.setattr(schema, "STEPS", STEPS[:8])
        before.setattr(move_texts, "move_old_texts", lambda *_: 0)
        before.setattr("unspool.hub.store.connect.move_old_texts", lambda *_: 0)
        before.setattr("tests.hub.people.folk.write_texts", lambda *_: None)
        store = open_store(place)
        ada = somebody(store.db, "ada", admin=True)
        shop = project(store.db, "shop", own=ada)
        for number, passages in enumerate(TEXTS):
            session = folk_session(store, shop, ada, f"the heron number{number}")
            frames = [msgspec.json.encode(some) for some in (passages[:2], passages[2:])]
            with scratch_folder() as folder:
                (folder / "texts").write_bytes(b"".join(map(zstandard.ZstdCompressor().compress, frames)))
                whole = b"".join(frames)
                made = MadeFile("texts", folder / "texts", sha256(whole).hexdigest(), len(whole), "zstd", "")
                store.blobs.keep_file(made)
            store.db.run("INSERT INTO session_text(session, digest, month) VALUES(?, ?, 0)", session, made.digest)
            store.db.run("INSERT INTO opening(session, line) VALUES(?, ?)", session, 7 + number)
            columns = "session, number, month, place, size, mark, kinds, words"
            store.db.run(f"INSERT INTO text_part({columns}) VALUES(?, 0, 0, 0, 0, '', 2, 'herons')", session)
        store.db.close()


def _fill_with_passages(place: StorePlace) -> None:
    store = open_store(place)
    ada = somebody(store.db, "ada", admin=True)
    shop = project(store.db, "shop", own=ada)
    ids = [folk_session(store, shop, ada, f"the heron number{number}") for number in range(3)]
    with store.db.transaction():
        for one in ids:
            store.db.run("DELETE FROM text_part WHERE session = ?", one)
            store.db.run("DELETE FROM session_text WHERE session = ?", one)
        store.db.script(
            "CREATE TABLE passage(id INTEGER PRIMARY KEY, session TEXT, turn BIGINT, kind TEXT, link TEXT, body TEXT,"
            " line BIGINT)"
        )
        for number, one in enumerate(ids):
            rows = [
                (10 * number + at, one, told.turn, told.kind, told.link, told.body, told.line)
                for at, told in enumerate(TEXTS[number])
            ]
            store.db.many("INSERT INTO passage VALUES(?, ?, ?, ?, ?, ?, ?)", rows)
        store.db.run("INSERT INTO passage VALUES(99, '', 1, 'prompt', '', 'gone', 0)")
    store.db.close()


def found(store: Store, text: str) -> list[list[str]]:
    admin = somebody(store.db, f"asks {text}", admin=True).person
    return [[hit.snippet.text for hit in one.hits] for one in search(store, admin, text, ListPage(None, 20)).found]


def test_the_texts_of_an_old_hub_move_when_it_is_opened(before: StorePlace) -> None:
    """Once, and it says so; then they are found as they were."""
    said: list[str] = []
    store = open_store(before, say=said.append)
    assert said[0] == "Moving the texts of 3 sessions to how they are kept now, once; this may take a while"
    assert said[-1] == "3 of 3 sessions have moved"
    assert found(store, "number1") == [["heron number1 2", "heron number1 1", "heron number1 0"]]
    assert found(store, "gone") == []
    assert not table_exists(store.db, "passage")
    assert store.db.row("SELECT count(*) FROM opening") == (3,)
    store.db.close()
    store = open_store(before, say=said.append)
    assert len(said) == 4
    store.db.close()


_KILLED = """
import os, signal, sys
from pathlib import Path
from unspool.hub.store import move_texts
from unspool.hub.store.connect import StorePlace, open_store

write, left = move_texts.write_texts, [1]

def written(*args):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    write(*args)

move_texts.write_texts = written
open_store(StorePlace(*map(Path, sys.argv[1:2]), *sys.argv[2:]))
"""


def test_a_move_that_is_killed_goes_on_where_it_was(before: StorePlace) -> None:
    command = [sys.executable, "-c", _KILLED, str(before.folder), before.database, before.bucket]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    said: list[str] = []
    store = open_store(before, say=said.append)
    assert said[0].startswith("Moving the texts of 2 sessions")
    assert len(found(store, "heron")) == 3
    assert not table_exists(store.db, "passage")
    store.db.close()


def test_a_session_whose_texts_are_gone_keeps_no_hub_shut(bare: StorePlace) -> None:
    """The others move, and what is wrong is told by a verification."""
    _fill_unsigned(bare)
    with pytest.MonkeyPatch.context() as before:
        before.setattr("unspool.hub.store.connect.move_old_texts", lambda *_: 0)
        store = open_store(bare)
    key, session = store.db.rows(
        "SELECT blob.key, session_text.session FROM blob JOIN session_text ON blob.digest = session_text.digest"
    )[0]
    store.objects.delete(key)
    store.db.close()
    store = open_store(bare)
    assert len(found(store, "heron")) == 2
    assert store.db.row("SELECT year FROM session_text WHERE session = ?", session) == (0,)
    assert any("missing" in problem for problem in verify(store).problems)
    store.db.close()
