"""Sessions that left only traces are in the index as long as that is all that is known of them."""

import json
from pathlib import Path

from tests.store.sync.dumped import differing, dump
from tests.store.sync.sessions import full, rested, write
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index, discard_index
from unspool.store.index.query import parse_query
from unspool.store.index.search import search_index
from unspool.store.sync import sync

GONE = "99999999-0000-4000-8000-000000000009"


def typed(root: Path, *prompts: tuple[str, str]) -> None:
    """Add prompts of sessions to the list of them."""
    with (root / "history.jsonl").open("a") as stream:
        for number, (session, text) in enumerate(prompts):
            line = {"display": text, "timestamp": 1_770_000_000_000 + number, "project": "/home/dev/ship"}
            stream.write(json.dumps({**line, "sessionId": session}) + "\n")
    rested()


def ghosts(folder: Path) -> dict[str, tuple[str, int]]:
    """Project and number of prompts of every ghost."""
    with Index.open(folder, readonly=True) as index:
        rows = index.db.execute("SELECT key, project, turns FROM session WHERE kind = 'ghost'")
        return {key: (project, turns) for key, project, turns in rows}


def found(folder: Path, question: str) -> list[str]:
    with Index.open(folder, readonly=True) as index, ArchiveDatabase.open(folder, readonly=True) as archive:
        return [one.session for one in search_index(index.db, archive, parse_query(question)).sessions]


def test_prompts_of_a_session_without_a_log_are_found(root: Path, folder: Path) -> None:
    typed(root, (GONE, "hoist the zanzibar flag"), (GONE, "and lower it"))
    report = sync(folder, [root])
    assert report.ghosts == 1
    assert ghosts(folder) == {GONE: ("/home/dev/ship", 2)}
    assert found(folder, "zanzibar") == [GONE]
    assert sync(folder, [root]).ghosts == 1


def test_a_ghost_gains_prompts_without_doubling(root: Path, folder: Path) -> None:
    typed(root, (GONE, "hoist the zanzibar flag"))
    sync(folder, [root])
    typed(root, (GONE, "lower the madagascar flag"))
    sync(folder, [root])
    assert ghosts(folder) == {GONE: ("/home/dev/ship", 2)}
    assert found(folder, "madagascar") == found(folder, "zanzibar") == [GONE]
    before = dump(folder, states=True)
    discard_index(folder)
    sync(folder, [root])
    assert differing(before, dump(folder, states=True)) == {}


def test_a_ghost_goes_when_its_log_comes(root: Path, folder: Path) -> None:
    typed(root, (GONE, "hoist the zanzibar flag"))
    sync(folder, [root])
    write(root, [full("found again", 1, session_id=GONE)])
    assert sync(folder, [root]).ghosts == 0
    assert ghosts(folder) == {}
    assert found(folder, "zanzibar") == []
    dump(folder)


def test_a_session_whose_log_vanished_is_no_ghost(root: Path, folder: Path) -> None:
    log = full("aa")
    typed(root, (log.session_id, "hello"))
    assert sync(folder, [root]).ghosts == 0
    (root / log.path).unlink()
    assert sync(folder, [root]).ghosts == 0


def test_a_ghost_stays_when_the_list_of_prompts_vanishes(root: Path, folder: Path) -> None:
    typed(root, (GONE, "hoist the zanzibar flag"))
    sync(folder, [root])
    (root / "history.jsonl").unlink()
    assert sync(folder, [root]).ghosts == 1
    assert found(folder, "zanzibar") == [GONE]


def test_a_list_of_prompts_that_was_rewritten_is_told_as_it_is_now(root: Path, folder: Path) -> None:
    """Though every line begins where another did, and is as long."""
    typed(root, (GONE, "hoist the zanzibar flag"))
    sync(folder, [root])
    path = root / "history.jsonl"
    path.write_text(path.read_text().replace("zanzibar", "barbados"))
    rested()
    assert sync(folder, [root]).rewritten == 1
    assert (found(folder, "zanzibar"), found(folder, "barbados")) == ([], [GONE])
    before = dump(folder, states=True)
    discard_index(folder)
    sync(folder, [root])
    assert differing(before, dump(folder, states=True)) == {}
