"""The index numbers turns as a session that is read whole does, so that `search` says what `show --turn` takes."""

from pathlib import Path

import pytest

from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from unspool.agents import FoundLog
from unspool.model import Session, Turn
from unspool.prices import PriceTable
from unspool.store.library import Library
from unspool.store.library.discover import discover_logs
from unspool.store.sync.extract import ExtractJob, extract_rows


def read_whole(session: Session) -> dict[int, tuple[int, int]]:
    """Branch and number of every turn that a line of the log begins, by the place of that line."""
    branches = [(0, session.turns), *((branch.number, branch.turns) for branch in session.branches)]
    return {_place(turn): (number, turn.number) for number, turns in branches for turn in turns if _in_log(turn)}


def _in_log(turn: Turn) -> bool:
    return turn.prompt is not None and bool(turn.prompt.id)


def _place(turn: Turn) -> int:
    assert turn.prompt is not None
    return turn.prompt.place.offset


def indexed(found: FoundLog) -> dict[int, tuple[int, int]]:
    """The same as the index has it; what stands before the first prompt is no turn of anybody's."""
    rows = extract_rows(ExtractJob(found, {}), PriceTable.load())
    assert not isinstance(rows, str), rows
    return {turn.place: (turn.branch, turn.number) for turn in rows.logs[0].turns if turn.number}


def agree(found: FoundLog, session: Session) -> None:
    whole, rows = read_whole(session), indexed(found)
    assert {place: rows.get(place) for place in whole} == whole


def test_every_session_of_the_demo(tmp_path: Path) -> None:
    for log in demo_sessions():
        log.write(tmp_path)
    library = Library([tmp_path])
    assert any(library.open(found).branches for found in library.logs())
    for found in library.logs():
        agree(found, library.open(found))


def test_a_rewound_prompt_does_not_shift_the_turns_after_it(tmp_path: Path) -> None:
    log = LogBuilder(seed="rewound")
    log.prompt("first").assistant(log.text("one"))
    here = log.last
    log.prompt("left behind").assistant(log.text("two"))
    log.last = here
    log.prompt("kept instead").assistant(log.text("three"))
    log.prompt("last").assistant(log.text("four"))
    log.write(tmp_path)
    [found] = discover_logs([tmp_path])
    agree(found, Library([tmp_path]).open(found))
    assert sorted(indexed(found).values()) == [(0, 1), (0, 2), (0, 3), (1, 2)]


def test_real_logs(shared: Path) -> None:
    root = shared / "corpora" / "claude"
    if not root.is_dir():
        pytest.skip("the shared folder has no corpora/claude")
    library = Library([root])
    logs = sorted(library.logs(), key=lambda found: found.size)[:60]
    for found in logs:
        agree(found, library.open(found))
