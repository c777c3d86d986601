"""Erasure: what is erased is nowhere, at once, and the proof can fail."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.hub.people.folk import One, project, session, share, somebody
from tests.hub.running import running
from tests.waiting import PATIENCE
from unspool.hub.errors import BadRequest, Conflict, NotVisible, StoreUnavailable
from unspool.hub.people import erasure, users
from unspool.hub.people.audit import list_audit, seal_audit, verify_audit, write_audit
from unspool.hub.people.erasure import SEARCHED, content_mark, erase_permanently, object_keys
from unspool.hub.store.blobs import Blobs
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.schema import STEPS
from unspool.hub.store.texts import insert_parts
from unspool.hub.store.words import as_tokens, word_number

SECRET = "quicksilverzanzibar"
_OTHER = {
    "audit", "hold", "tombstone", "setting", "team", "blob.encoding", "blob.key", "invitation.digest",
    "invitation.name", "invitation.parent", "invitation.team", "member.team", "pace.who",
    "permit.kind", "person.kind", "person.name", "piece.name", "project.name",
    "project.policy", "request.day", "request.identity", "request.model", "session.agent", "session.branch",
    "session.key", "session.kind", "session.made", "session.models", "session.slug", "session.source",
    "session.asked", "session.title", "text_part.mark", "text_part.words",
    "session_page.kind", "session_page.name", "share.facts", "share.password", "share.title", "share_file.kind",
    "share_file.name", "token.digest", "token.id", "token.kind", "token.label", "token.parent", "token.scope",
}  # fmt: skip
"""Columns that hold no id of what can be erased and no digest of a content; they go with their rows. `pace.who`, which
has ids within a text, is searched by itself."""


@pytest.fixture
def boss(store: Store) -> One:
    """An admin."""
    return somebody(store.db, "boss", admin=True)


def keys(store: Store) -> list[str]:
    """All objects."""
    return list(store.objects.keys("blobs/"))


def counted(store: Store) -> dict[str, int]:
    """Rows by table, of those that what can be erased has any in."""
    return {
        table: store.db.rows(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608
        for table in (
            "session",
            "piece",
            "session_page",
            "session_text",
            "text_part",
            "request",
            "share",
            "share_file",
            "blob",
            "sent",
        )
    }


def test_a_session_is_gone_at_once(store: Store, boss: One) -> None:
    """Its rows, its contents and its words; another one stays whole; the audit log and a tombstone tell of it."""
    ada = somebody(store.db, "ada")
    shop = project(store.db, "shop", write=ada)
    other = session(store, shop, ada, "another session")
    before, rows = keys(store), counted(store)
    mine = session(store, shop, ada, f"a session with {SECRET}", key="its-key")
    assert len(keys(store)) == len(before) + 3
    proof = erase_permanently(store, boss.person, "session", mine)
    assert proof["proved"]
    assert proof["found"] == []
    assert proof["cleared"]
    assert proof["rows"] == {
        "piece": 1,
        "session_page": 1,
        "request": 1,
        "text_part": 1,
        "session_text": 1,
        "session": 1,
        "sent": 1,
    }
    assert keys(store) == before
    assert counted(store) == rows
    assert store.db.rows("SELECT id FROM session") == [(other,)]
    [stone] = erasure.list_tombstones(store.db)
    assert (stone.kind, stone.target, stone.made_by) == ("session", mine, boss.id)
    assert len(stone.proof["contents"]) == 3
    with pytest.raises(NotVisible):
        erase_permanently(store, boss.person, "session", mine)


def test_no_byte_is_left_in_the_files(files_store: Store, tmp_path: Path) -> None:
    """Neither in the database's pages, nor in its search index, nor in its journal, nor in an object."""
    boss = somebody(files_store.db, "boss", admin=True)
    shop = project(files_store.db, "shop")
    for number in range(20):
        session(files_store, shop, boss, f"an ordinary session {number}")
    mine = session(files_store, shop, boss, f"{SECRET} and more")
    link = share(files_store, boss, f"share of {SECRET}")
    token = as_tokens([word_number(SECRET.encode())])
    insert_parts(files_store.db, [("", 0, 0, 0, 0, "", b"", [word_number(SECRET.encode())])])
    assert holding(tmp_path, SECRET) != []
    assert holding(tmp_path, token) != []
    assert erase_permanently(files_store, boss.person, "session", mine)["proved"]
    proof = erase_permanently(files_store, boss.person, "share", link)
    assert proof["proved"]
    assert proof["searched"]["bytes"] > 0
    assert holding(tmp_path, SECRET) == []
    assert holding(tmp_path, token) == []


def test_the_api_says_proved_once_no_byte_is_left(files_store: Store, tmp_path: Path) -> None:
    """While the hub runs and other connections are open: the write-ahead log is emptied, and searched."""
    boss = somebody(files_store.db, "boss", admin=True)
    mine = session(files_store, project(files_store.db, "shop"), boss, f"{SECRET} and more")
    with running(files_store) as client:
        before = client.as_(boss.token).get(f"/api/archive/{mine}/log")
        assert SECRET.encode() in before.body
        proof = client.as_(boss.token).send("POST", "/api/erase", {"kind": "session", "id": mine}).json
        assert (proof["proved"], proof["cleared"], proof["found"]) == (True, True, [])
        assert proof["searched"]["bytes"] > 0
        assert holding(tmp_path, SECRET) == []


def test_what_a_reader_keeps_in_the_log_is_not_proved_gone(files_store: Store, tmp_path: Path) -> None:
    """As long as somebody reads of a moment before; the hub goes on by itself, and says proved once that is over."""
    boss = somebody(files_store.db, "boss", admin=True)
    link = share(files_store, boss, f"share of {SECRET}")
    reading, over = threading.Event(), threading.Event()

    def read() -> None:
        with files_store.db.snapshot():
            reading.set()
            over.wait(PATIENCE)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert reading.wait(PATIENCE)
        proof = erase_permanently(files_store, boss.person, "share", link)
        assert (proof["proved"], proof["cleared"]) == (False, False)
        assert holding(tmp_path, SECRET) != []
    finally:
        over.set()
        thread.join()
    assert erasure.resume_erasures(files_store) == 1
    assert holding(tmp_path, SECRET) == []
    [stone] = erasure.list_tombstones(files_store.db)
    assert (stone.proof["proved"], stone.proof["searched"]["objects"]) == (True, 1)
    assert erasure.resume_erasures(files_store) == 0


def test_a_proof_says_what_was_not_searched(store: Store, boss: One) -> None:
    """The files, the log and the replicas of a database's server are not the hub's to look into."""
    proof = erase_permanently(store, boss.person, "share", share(store, boss, "a share"))
    told = " ".join(proof["not_searched"])
    assert "backups" in told
    assert ("write-ahead log" in told) is (store.db.dialect == "postgresql")
    assert ("bytes" in proof["searched"]) is (store.db.dialect == "sqlite")


def holding(folder: Path, text: str) -> list[str]:
    """Files below a folder that hold a text as it is."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_a_session_that_was_erased_is_not_pushed_again(store: Store, boss: One) -> None:
    """By the same person, into whichever project, until it is allowed again; another's copy is another's."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop = project(store.db, "shop")
    assert not erasure.was_erased(store.db, ada.id, "its-key")
    erase_permanently(store, boss.person, "session", session(store, shop, ada, "text", key="its-key"))
    assert erasure.was_erased(store.db, ada.id, "its-key")
    assert not erasure.was_erased(store.db, bob.id, "its-key")
    erasure.allow_push_again(store.db, ada.id, "its-key")
    assert not erasure.was_erased(store.db, ada.id, "its-key")
    with pytest.raises(NotVisible):
        erasure.allow_push_again(store.db, ada.id, "its-key")


def test_what_others_refer_to_stays(store: Store, boss: One) -> None:
    """A content that two sessions have goes with the second."""
    ada = somebody(store.db, "ada")
    shop = project(store.db, "shop")
    one, two = session(store, shop, ada, "the same"), session(store, shop, boss, "the same")
    proof = erase_permanently(store, boss.person, "session", one)
    assert (proof["kept_for_others"], proof["contents"]) == (3, [])
    assert len(keys(store)) == 3
    proof = erase_permanently(store, boss.person, "session", two)
    assert proof["proved"]
    assert len(proof["contents"]) == 3
    assert keys(store) == []


def test_a_project_goes_with_all_its_sessions(store: Store, boss: One) -> None:
    """And with the rights on it; what its people have elsewhere stays."""
    ada = somebody(store.db, "ada")
    shop, mill = project(store.db, "shop", own=ada), project(store.db, "mill", own=ada)
    for number in range(3):
        session(store, shop, ada, f"in the shop {number}")
    stays = session(store, mill, ada, "in the mill")
    proof = erase_permanently(store, boss.person, "project", shop)
    assert proof["proved"]
    assert proof["rows"]["session"] == 3
    assert store.db.rows("SELECT id FROM session") == [(stays,)]
    assert store.db.rows("SELECT id FROM project") == [(mill,)]
    assert store.db.rows("SELECT DISTINCT project FROM permit") == [(mill,)]


def test_a_person_goes_with_all_that_was_theirs(store: Store, boss: One) -> None:
    """Shares, sessions, tokens, rights, and their name in the audit log, whose chain still holds."""
    ada = somebody(store.db, "ada")
    shop = project(store.db, "shop", own=ada)
    session(store, shop, ada, "mine")
    link = share(store, ada, "mine too")
    stays = session(store, shop, boss, "not mine")
    write_audit(store.db, ada.person, "share.make", "x", "done")
    seal_audit(store.db)
    for who in (ada.id, f"sent {ada.id}", f"attempt 900 share {link} 192.0.2.1", boss.id):
        store.db.run("INSERT INTO pace(who, span, amount) VALUES(?, 0, 1)", who)
    proof = erase_permanently(store, boss.person, "person", ada.id)
    assert proof["proved"]
    assert store.db.rows("SELECT id FROM session") == [(stays,)]
    assert store.db.rows("SELECT address FROM share") == []
    assert [one.name for one in users.list_users(store.db, everybody=True)] == ["boss"]
    assert store.db.rows("SELECT who FROM pace") == [(boss.id,)]
    assert "ada" not in [line.name for line in list_audit(store.db)]
    assert verify_audit(store) == []
    with pytest.raises(Conflict):
        erase_permanently(store, boss.person, "person", boss.id)
    assert [one.name for one in users.list_users(store.db)] == ["boss"]
    assert store.db.rows("SELECT id FROM session") == [(stays,)]


def test_an_erasure_that_was_broken_off_goes_on(store: Store, boss: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before or while the contents go, nobody sees any of it, and `resumed` removes the rest."""
    link = share(store, boss, f"share of {SECRET}")
    digest = store.db.rows("SELECT digest FROM share_file")[0][0]
    with monkeypatch.context() as patched:
        patched.setattr(Blobs, "drop", _broken)
        with pytest.raises(StoreUnavailable):
            erase_permanently(store, boss.person, "share", link)
    assert store.db.rows("SELECT address FROM share") == []
    assert len(keys(store)) == 1
    store.db.run("DELETE FROM blob")  # as when it is killed after the row went and before the object did
    assert object_keys(store, digest) == keys(store)
    assert erasure.resume_erasures(store) == 1
    assert keys(store) == []
    assert erasure.resume_erasures(store) == 0
    [stone] = erasure.list_tombstones(store.db)
    assert stone.proof["proved"]
    assert stone.proof["contents"] == [content_mark(digest)]


def test_what_comes_in_behind_an_erasure_goes_too(store: Store, boss: One) -> None:
    """A push or an upload that had begun before and ends after it leaves nothing for long."""
    ada = somebody(store.db, "ada")
    shop, mill = project(store.db, "shop"), project(store.db, "mill")
    erase_permanently(store, boss.person, "project", shop)
    erase_permanently(store, boss.person, "person", ada.id)
    late = [session(store, shop, boss, "late"), session(store, mill, ada, "too late")]
    link = share(store, ada, "late as well")
    stays = session(store, mill, boss, "in time")
    assert erasure.resume_erasures(store) == 3
    assert store.db.rows("SELECT id FROM session") == [(stays,)]
    assert store.db.rows("SELECT address FROM share") == []
    assert {stone.target for stone in erasure.list_tombstones(store.db)} == {shop, ada.id, link, *late}
    assert erasure.resume_erasures(store) == 0


def test_a_content_that_is_referred_to_again_stays(store: Store, boss: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who uploads the same while it is erased loses nothing, and the proof says that it is theirs."""
    link = share(store, boss, "the same")
    drop = Blobs.drop

    def meanwhile(self: Blobs, digest: str) -> bool:
        share(store, boss, "the same")
        return drop(self, digest)

    monkeypatch.setattr(Blobs, "drop", meanwhile)
    proof = erase_permanently(store, boss.person, "share", link)
    assert (proof["proved"], proof["kept_for_others"], proof["contents"]) == (True, 1, [])
    assert len(keys(store)) == 1


def _broken(*_: object) -> bool:
    raise StoreUnavailable("The object store does not answer.")


def test_the_proof_fails_where_something_is_left(store: Store, boss: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object that stays, or a row, is found and named."""
    link = share(store, boss, "a share")
    monkeypatch.setattr(type(store.objects), "delete", lambda *_: None)
    proof = erase_permanently(store, boss.person, "share", link)
    assert not proof["proved"]
    assert len(proof["found"]) == 1
    assert proof["found"][0].startswith("object blobs/")


def test_a_digest_in_a_page_of_the_file_is_found(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of the file sees what no table holds any more."""
    boss = somebody(files_store.db, "boss", admin=True)
    link = share(files_store, boss, "a share")
    digest = files_store.db.rows("SELECT digest FROM share_file")[0][0]
    write_audit(files_store.db, boss.person, "x", "y", "z", {"ab12": f"ff{digest}00"})
    proof = erase_permanently(files_store, boss.person, "share", link)
    assert proof["found"] == [f"file {digest}"]


def test_only_what_there_is_can_be_erased(files_store: Store) -> None:
    """Anything else is told, and nothing happens."""
    boss = somebody(files_store.db, "boss", admin=True)
    for kind in erasure.KINDS:
        with pytest.raises(NotVisible):
            erase_permanently(files_store, boss.person, kind, "nothing")
    with pytest.raises(BadRequest):
        erase_permanently(files_store, boss.person, "team", "nothing")
    assert erasure.list_tombstones(files_store.db) == []


def test_every_column_is_searched_or_known_to_hold_no_trace(files_store: Store) -> None:
    """Whoever adds a column that could hold an id says so here."""
    assert STEPS
    columns = {
        f"{table}.{column}"
        for table, column, kind in files_store.db.rows(
            "SELECT m.name, p.name, p.type FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p"
            " WHERE m.type = 'table' AND m.sql NOT LIKE '%VIRTUAL%'"
        )
        if kind == "TEXT" and not table.startswith("words") and table not in _OTHER
    }
    searched = {f"{table}.{column}" for table, names in SEARCHED.items() for column in names}
    assert columns == searched | {one for one in _OTHER if "." in one}
    assert json.dumps(sorted(searched & _OTHER)) == "[]"


_KILLED = """
import os, signal, sys
from pathlib import Path
from unspool.hub.people.erasure import erase_permanently
from unspool.hub.people.users import HUB
from unspool.hub.store.blobs import FolderObjects
from unspool.hub.store.connect import StorePlace, open_store

store, left = open_store(StorePlace(Path(sys.argv[1]))), [int(sys.argv[3])]
delete = FolderObjects.delete

def deleted(self, key):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    delete(self, key)

FolderObjects.delete = deleted
erase_permanently(store, HUB, "project", sys.argv[2])
"""


@pytest.mark.parametrize("after", [0, 3])
def test_a_process_that_is_killed_in_an_erasure_leaves_no_half_of_it(on_files: StorePlace, after: int) -> None:
    """Everything is out of sight when it dies, and gone once another process goes on."""
    store = open_store(on_files)
    boss = somebody(store.db, "boss", admin=True)
    shop = project(store.db, "shop")
    for number in range(4):
        session(store, shop, boss, f"{SECRET} {number}")
    done = subprocess.run([sys.executable, "-c", _KILLED, str(on_files.folder), shop, str(after)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert store.db.rows("SELECT count(*) FROM session, text_part") == [(0,)]
    assert len(keys(store)) == 12 - after
    assert erasure.resume_erasures(store) == 1
    assert keys(store) == []
    assert store.db.rows("SELECT count(*) FROM blob") == [(0,)]
    store.db.close()
    assert holding(on_files.folder, SECRET) == []
