"""Files in the index: how many lines changed, which prompt led to it, and which file is meant."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import Asked, asked
from unspool.demo import write_demo
from unspool.figures import figures
from unspool.figures.file_states import file_place, forward_slashes
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.index.schema import TOUCHES
from unspool.store.index.touched_files import file_touches, find_files, sum_file, sum_files, sum_projects, touch_prompts
from unspool.store.library import Library
from unspool.store.sync import sync

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def built() -> tuple[LogBuilder, LogBuilder]:
    """A session that writes, edits and lets a subagent edit; one that writes over what is there."""
    log = LogBuilder(session_id="first", cwd="/p", start=NOW)
    log.prompt("Write it.\nAnd well.").wrote("/p/a.py", "1\n2\n").edited("/p/a.py", "1\n2\n", "2", "two\n3")
    log.prompt("\n  Let it be mended. ")
    use = log.agent_use("Explore", "mend", "Mend it all.")
    log.assistant(use).subagent(
        use, "Explore", "mend", lambda child: child.edited("/p/a.py", "1\ntwo\n3\n", "1", "one")
    )
    log.read("/p/b.py", "x\n")
    second = LogBuilder(session_id="second", cwd="/q", start=NOW + timedelta(days=1))
    second.prompt("Over.").wrote("/p/a.py", "one\n", "one\ntwo\n3\n").wrote("/q/a.py", "x\n")
    lost = {"file_path": "/q/a.py", "content": "y\n"}
    return log, second.call("Write", lost, "The file /q/a.py has been updated.")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> "object":
    with asked(tmp_path_factory.mktemp("touched"), *built()) as opened:
        yield opened


def test_each_change_tells_its_lines_and_its_prompt(index: Asked) -> None:
    touches = file_touches(index.store.db, "/p/a.py", ("write", "edit"), 10)
    prompts = touch_prompts(index.store.db, index.archive, touches)
    assert [(one.key, one.how, one.added, one.removed, bool(one.agent)) for one in touches] == [
        ("second", "write", 0, 2, False),
        ("first", "edit", 1, 1, True),
        ("first", "edit", 2, 1, False),
        ("first", "write", 2, 0, False),
    ]
    assert [(one.text, one.turn) for one in prompts] == [
        ("Over.", 1), ("Let it be mended.", 2), ("Write it.", 1), ("Write it.", 1),
    ]  # fmt: skip


def test_lines_that_a_log_does_not_tell_are_unknown_and_not_none(index: Asked) -> None:
    newest, *_ = file_touches(index.store.db, "/q/a.py", ("write",), 10)
    assert (newest.added, newest.removed) == (None, None)


def test_files_and_projects_add_up(index: Asked) -> None:
    db = index.store.db
    found = sum_file(db, "/p/a.py")
    assert found is not None
    assert (found.changes, found.added, found.removed, found.sessions, found.reads) == (4, 5, 4, 2, 0)
    assert [one.name for one in sum_files(db, (), 9)] == ["/p/a.py", "/q/a.py", "/p/b.py"]
    assert {one.name: (one.files, one.changes, one.added) for one in sum_projects(db)} == {
        "/p": (1, 3, 5), "/q": (2, 3, 1),
    }  # fmt: skip
    assert sum_file(db, "/nowhere") is None


@pytest.mark.parametrize(
    ("typed", "folder", "meant"),
    [
        ("a.py", "/p", ["/p/a.py"]), ("./a.py", "/q", ["/q/a.py"]), ("../p/a.py", "/q", ["/p/a.py"]),
        ("/p/a.py", "/", ["/p/a.py"]), ("p/a.py", "/else", ["/p/a.py"]), ("a.py", "/else", ["/p/a.py", "/q/a.py"]),
        (".p", "/else", ["/p/a.py", "/q/a.py", "/p/b.py"]), ("%", "/", []),
    ],
)  # fmt: skip
def test_a_file_is_found_as_people_type_it(index: Asked, typed: str, folder: str, meant: list[str]) -> None:
    assert [one.name for one in find_files(index.store.db, typed, folder, 9)] == meant


def test_the_index_and_a_session_read_whole_tell_the_same_lines(tmp_path: Path) -> None:
    """Of every agent of the demo; a relative path is the same file as a whole one."""
    write_demo(tmp_path / "source", others=True)
    sync(tmp_path / "archive", [tmp_path / "source"])
    expected: Counter[tuple[str, str]] = Counter()
    library, prices = Library([tmp_path / "source"]), PriceTable.load()
    for log in library.logs():
        session = library.open(log)
        for file in figures(session, prices).files:
            where = forward_slashes(file_place(file.path, session.cwd))
            expected[where, "+"] += file.added
            expected[where, "-"] += file.removed
    with (
        Index.open(tmp_path / "archive", readonly=True) as opened,
        ArchiveDatabase.open(tmp_path / "archive", readonly=True),
    ):
        found: Counter[tuple[str, str]] = Counter()
        for path in {path for path, _ in expected}:
            for one in file_touches(opened.db, path, TOUCHES, 1000):
                found[path, "+"] += one.added or 0
                found[path, "-"] += one.removed or 0
    assert +found == +expected
    assert +found
