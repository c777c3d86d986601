"""What was kept is there for good: sources may be deleted, and every byte and every answer is still to be had."""

import os
import shutil
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.archive.making import clean, held
from tests.store.sync.dumped import differing, dump
from tests.store.sync.sessions import child, full, rested, source, turn, write
from unspool.demo import write_demo
from unspool.figures import figures
from unspool.model import Overview
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase
from unspool.store.library import Library, SessionListing
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import sync

PRICES = PriceTable.load()


def bare_plan() -> LogBuilder:
    """A session whose plan stands in a file alone."""
    log = LogBuilder(seed="bare plan", slug="brave-heron")
    use = log.use("ExitPlanMode")
    log.prompt("Plan it").assistant(use).result(use, "User has approved your plan.", {"isAgent": False})
    return log.file("plans/brave-heron.md", b"# Raise the mast\n\nCarefully.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A source with all kinds of sessions and companions."""
    place = tmp_path / "source"
    logs = [full("aa"), full("bb", version="2.0.5"), full("cc", version="1.0.80"), bare_plan()]
    write(place, [*logs, logs[0].copied("0b0b0b0b-0000-4000-8000-000000000001", fork=True)])
    write_demo(place)
    more = {
        "history.jsonl": b'{"display":"hello","timestamp":1,"project":"/p","sessionId":"x"}\n',
        f"todos/{logs[0].session_id}-agent-{logs[0].session_id}.json": b"[]",
        f"tasks/{logs[0].session_id}/1.json": b'{"id":"1"}',
        f"file-history/{logs[0].session_id}/abc@v1": b"before",
        f"{logs[0].folder}/memory/MEMORY.md": b"# Remember\n",
        f"{logs[0].folder}/{logs[0].session_id}/workflows/run.jsonl": b'{"step":1}\n',
    }
    for name, data in more.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    rested()
    return place


def swept(root: Path) -> None:
    """Delete what the agent's cleanup deletes, which leaves the folders of projects."""
    for path in list(root.rglob("*")):
        if path.is_file():
            path.unlink()


def last(folder: Path) -> dict[str, bytes]:
    """The last generation of every file that is kept, by path."""
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        (origin,) = archive.origins()
        return {path: archive.read(one.generation) for path, one in archive.kept(origin).items()}


def unlike(now: SessionListing, before: SessionListing) -> dict[str, Any]:
    """Where two listings differ, but for whose logs only the archive has, and for ghosts, which only it knows."""
    told: dict[str, Any] = {}
    fields = set(Overview.__struct_fields__) - {"kept"}
    for one, other in zip_longest((one for one in now.overviews if one.kind != "ghost"), before.overviews):
        there = {name: (getattr(one, name, None), getattr(other, name, None)) for name in fields}
        told.update({f"{other.id} {name}": pair for name, pair in there.items() if pair[0] != pair[1]})
    for name in ("usage", "cost", "failures"):
        if getattr(now, name) != getattr(before, name):
            told[name] = getattr(now, name), getattr(before, name)
    return told


def test_every_byte_of_deleted_sources_is_given_back(root: Path, tmp_path: Path) -> None:
    before, folder = source(root), tmp_path / "archive"
    report = sync(folder, [root])
    assert (report.new, report.files, report.failures) == (len(before), len(before), [])
    assert source(root) == before, "a source was written to"
    swept(root)
    assert sync(folder, [root]).gone == len(before)
    assert last(folder) == before
    clean(folder)
    shutil.rmtree(root)
    assert last(folder) == before


def test_the_list_is_the_same_when_sources_are_gone(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    sync(folder, [root])
    before = Library([root]).listing()
    assert unlike(Library([root], kept=KeptSessions(folder)).listing(), before) == {}
    swept(root)
    for _ in range(2):
        assert unlike(Library([root], kept=KeptSessions(folder)).listing(), before) == {}
        assert sync(folder, [root]).failures == []


def test_a_session_opens_the_same_when_its_source_is_gone(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    sync(folder, [root])
    library = Library([root])
    before = {log.session_id: library.open(log) for log in library.logs()}
    swept(root)
    library = Library([root], kept=KeptSessions(folder))
    after = {log.session_id: library.open(log) for log in library.logs()}
    assert after.keys() == before.keys()
    for name, session in before.items():
        assert figures(after[name], PRICES) == figures(session, PRICES), name
        same = {"turns", "agents", "todos", "title", "project", "problems", "links", "branches"}
        assert {one: getattr(after[name], one) for one in same} == {one: getattr(session, one) for one in same}


def test_nothing_that_the_index_says_depends_on_the_sources(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    sync(folder, [root])
    before = dump(folder, states=True)
    swept(root)
    report = sync(folder, [root])
    assert report.parsed == 0
    assert differing(before, dump(folder, states=True)) == {}
    (folder / "index.db").unlink()
    report = sync(folder, [root])
    assert (report.parsed, report.ghosts) == (len(before["session"]) - 1, 1)
    assert differing(before, dump(folder, states=True)) == {}


def test_a_log_that_grows_after_files_of_its_session_vanished_keeps_what_these_said(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    log = full("part", 2)
    (path,) = write(root, [log])
    todo = root / f"todos/{log.session_id}-agent-{log.session_id}.json"
    todo.parent.mkdir()
    todo.write_bytes(b"[]")
    sync(folder, [root])
    whole = dump(folder)
    for name in source(root):
        if name.startswith("todos/") or "/subagents/" in name or "/tool-results/" in name:
            (root / name).unlink()
    assert sync(folder, [root]).parsed == 0
    turn(log, 5)
    path.write_bytes(log.to_bytes())
    rested()
    assert sync(folder, [root]).parsed == 1
    now = dump(folder, states=True)
    assert [row for row in now["words"] if row[0] == "spilledpart"] == [
        row for row in whole["words"] if row[0] == "spilledpart"
    ]
    assert len(now["log"]) == len(whole["log"]) == 2
    assert sync(folder, [root]).parsed == 0, "a session is read again though nothing changed"
    (folder / "index.db").unlink()
    sync(folder, [root])
    assert differing(now, dump(folder, states=True)) == {}


def test_a_subagent_that_goes_on_after_its_sessions_log_vanished_is_kept_and_indexed(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    log = child(full("orphan", 1), "carry on")
    (path,) = write(root, [log])
    sync(folder, [root])
    path.unlink()
    agent = next(path for path in root.rglob("subagents/agent-*.jsonl") if b"carry" in path.read_bytes())
    agent.write_bytes(agent.read_bytes().replace(b"carry", b"borne") + agent.read_bytes())
    rested()
    report = sync(folder, [root])
    assert (report.gone, report.rewritten, report.parsed) == (1, 1, 1)
    now = dump(folder, states=True)
    assert any(row[0] == "borne" for row in now["words"])
    assert sync(folder, [root]).parsed == 0
    (folder / "index.db").unlink()
    sync(folder, [root])
    assert differing(now, dump(folder, states=True)) == {}


def test_a_rewritten_log_begins_a_generation_and_both_remain(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    log = full("both", 1)
    (path,) = write(root, [log])
    sync(folder, [root])
    versions = [path.read_bytes()]
    versions.append(versions[0].replace(b"mend", b"fix") + b'{"type":"more"}\n')
    versions.append(versions[1][:2000])
    for version in versions[1:]:
        path.write_bytes(version)
        rested()
        assert sync(folder, [root]).rewritten == 1
    name = path.relative_to(root).as_posix()
    assert [data for (_, one, _), data in sorted(held(folder).items()) if one == name] == versions
    path.unlink()
    sync(folder, [root])
    assert [data for (_, one, _), data in sorted(held(folder).items()) if one == name] == versions
    clean(folder)


def test_a_file_that_vanished_is_marked_and_unmarked_when_it_comes_back(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    (path,) = write(root, [full("back", 1)])
    sync(folder, [root])
    data, name = path.read_bytes(), path.relative_to(root).as_posix()
    path.unlink()
    assert (sync(folder, [root]).gone, sync(folder, [root]).gone) == (1, 0)
    assert gone(folder, name) is not None
    path.write_bytes(data)
    rested()
    report = sync(folder, [root])
    assert (report.new, report.grown, report.rewritten, report.bytes) == (0, 0, 0, 0)
    assert gone(folder, name) is None
    assert sum(one == name for _, one, _ in held(folder)) == 1, "the same content was kept twice"


def gone(folder: Path, name: str) -> float | None:
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        kept = archive.last(1, name)
        assert kept is not None
        return kept.gone


@pytest.mark.parametrize("way", ["in place", "replaced", "replaced with its time"])
def test_a_rewrite_of_the_same_size_within_the_same_second_is_noticed(tmp_path: Path, way: str) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    (path,) = write(root, [full("same", 1)])
    sync(folder, [root])
    status, data = path.stat(), path.read_bytes()
    other = data.replace(b"number0", b"number9")
    assert len(other) == len(data)
    assert other != data
    if way == "in place":
        path.write_bytes(other)
    else:
        beside = path.with_name("beside")
        beside.write_bytes(other)
        beside.rename(path)
    if way != "in place":
        nanoseconds = status.st_mtime_ns if way == "replaced with its time" else status.st_mtime_ns + 1000
        os.utime(path, ns=(status.st_atime_ns, nanoseconds))
    rested()
    assert sync(folder, [root]).rewritten == 1
    assert last(folder)[path.relative_to(root).as_posix()] == other


def test_sources_of_an_encrypted_archive_are_given_back(root: Path, tmp_path: Path) -> None:
    folder, key = tmp_path / "archive", "a key of some length"
    before = source(root)
    listing = Library([root]).listing()
    sync(folder, [root], key=key)
    assert b"projects/" not in (folder / "archive.db").read_bytes()
    swept(root)
    sync(folder, [root], key=key)
    assert {name: data for (_, name, _), data in held(folder, key).items()} == before
    assert unlike(Library([root], kept=KeptSessions(folder, key)).listing(), listing) == {}


def test_a_subagent_whose_session_was_never_seen_stands_for_itself_until_that_comes(tmp_path: Path) -> None:
    root, folder = tmp_path / "source", tmp_path / "archive"
    log = full("stray", 1, version="2.0.5")
    (path,) = write(root, [log, full("other", 1, version="2.0.5")])[:1]
    path.unlink()
    sync(folder, [root])
    listing, before = Library([root]).listing(), dump(folder, states=True)
    assert len(listing.overviews) == 2
    swept(root)
    assert sync(folder, [root]).parsed == 0
    assert unlike(Library([root], kept=KeptSessions(folder)).listing(), listing) == {}
    (folder / "index.db").unlink()
    assert sync(folder, [root]).parsed == 2
    assert differing(before, dump(folder, states=True)) == {}
    assert sync(folder, [root]).parsed == 0
    library = Library([root], kept=KeptSessions(folder))
    assert {library.open(one).id for one in library.logs()} == {one.id for one in listing.overviews}
    write(root, [log])
    sync(folder, [root])
    now = dump(folder, states=True)
    assert len(now["session"]) == 2
    assert sum(bool(row[4]) for row in now["log"]) == 2
    (folder / "index.db").unlink()
    sync(folder, [root])
    assert differing(now, dump(folder, states=True)) == {}
