"""Scanners against labelled sessions: what they flag is to be looked at, and what is to be looked at is flagged."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session as session_of
from tests.scanners.labelled import ENDS, TESTS_CLAIMED, claimed_session, ended_session
from tests.waiting import ending
from unspool.errors import UsageProblem
from unspool.model import Session
from unspool.scanners import SCANNERS, own_scanners, scan_session
from unspool.scanners.base import QUOTE, Scanner
from unspool.store.library import Library
from unspool.store.library.scans import scan_log

SETS: dict[str, tuple[Sequence[Any], Callable[[Any], LogBuilder]]] = {
    "tests-claimed": (TESTS_CLAIMED, claimed_session),
    "unclean-end": (ENDS, ended_session),
}


def flags(session: Session, name: str) -> list[Any]:
    (scanner,) = (one for one in SCANNERS if one.name == name)
    return list(scanner.scan(session))


def test_every_scanner_has_a_labelled_set_half_of_which_are_traps() -> None:
    assert {one.name for one in SCANNERS} == {*SETS}
    for cases, _ in SETS.values():
        assert len(cases) >= 60
        assert 0.4 <= sum(case.flagged for case in cases) / len(cases) <= 0.6


@pytest.mark.parametrize("name", SETS)
def test_precision_and_recall(name: str) -> None:
    cases, build = SETS[name]
    found = [(case, bool(flags(session_of(build(case)), name))) for case in cases]
    false_alarms = [case for case, flagged in found if flagged and not case.flagged]
    missed = [case for case, flagged in found if case.flagged and not flagged]
    right = sum(case.flagged and flagged for case, flagged in found)
    precision, recall = right / (right + len(false_alarms)), right / (right + len(missed))
    assert precision >= 0.95, false_alarms
    assert recall >= 0.9, missed
    told = f"| {len(cases)} | {100 * precision:.0f} % | {100 * recall:.0f} % |"
    page = (Path(__file__).parents[2] / "docs" / "scanners.md").read_text("utf-8")
    assert any(line.startswith(f"| `{name}`") and line.endswith(told) for line in page.splitlines())


def test_a_flag_leads_to_its_evidence() -> None:
    log = claimed_session(TESTS_CLAIMED[1])
    (flag,) = scan_session(session_of(log))
    assert (flag.scanner, flag.turn, flag.why) == ("tests-claimed", 1, "the last run failed: 11 passed, 1 failed")
    assert flag.quote == "Done. All 12 tests pass."
    assert flag.line == len(log.lines)
    assert len(flag.quote) <= QUOTE + 4


def test_copied_turns_are_the_session_s_that_they_were_copied_from(tmp_path: Path) -> None:
    claimed = claimed_session(TESTS_CLAIMED[0])
    session = session_of(claimed)
    copied = msgspec.structs.replace(
        session, turns=tuple(msgspec.structs.replace(turn, copied=True) for turn in session.turns)
    )
    assert flags(copied, "tests-claimed") == []


def test_one_s_own_scanner_comes_by_a_file(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "from unspool.scanners.base import Scanner, SessionFlag\n"
        "def scan(session):\n"
        "    yield SessionFlag('mine', 'it is there', 1, 1, session.title)\n"
        "SCANNER = Scanner('mine', 'mine', 'Everything.', scan)\n"
    )
    (scanner,) = own_scanners((own,))
    assert isinstance(scanner, Scanner)
    (flag,) = scan_session(session_of(ended_session(ENDS[-1])), (scanner,))
    assert flag.why == "it is there"
    (tmp_path / "none.py").write_text("x = 1\n")
    for wrong in ("none.py", "missing.py"):
        with pytest.raises(UsageProblem):
            own_scanners((tmp_path / wrong,))


UNCLEAN = frozenset(
    [
        "aba9151e",
        "5e12a303",
        "f048d5e5",
        "e0b4cc0a",
        "ddcb0cdc",
        "d1581d1f",
        "b10910e8",
        "a6c144bf",
        "924c258c",
        "645ea3df",
        "3ae3ab59",
        "88db7fea",
        "5a3bb1c8",
        "2a80b8d9",
        "93d77a79",
        "d3ad4cdc",
        "cb947e5b",
    ]
)
"""Real sessions that ended unclean, as somebody who read their ends says."""


def test_real_sessions_are_flagged_as_a_reader_would(shared: Path) -> None:
    logs = Library([shared / "corpora" / "claude"]).logs()
    found = {(flag.scanner, log.session_id[:8]) for log in logs for flag in scan_log(log).flags}
    assert found == {("unclean-end", one) for one in UNCLEAN}


@pytest.mark.parametrize(
    "piece", ["all ", "1,", "1 tests ", "the new new ", "✅ ", "```", '"', "> pass\n", "pass. ", "if pass"]
)
def test_answers_made_to_be_slow_come_to_their_end(piece: str) -> None:
    log = LogBuilder().prompt("Mend")
    log.assistant(log.text(piece * (400_000 // len(piece)) + " pass"))
    with ending():
        scan_session(session_of(log))
