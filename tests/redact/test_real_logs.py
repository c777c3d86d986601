"""Real logs: hardly an alarm in ordinary work, and nothing left after redaction."""

from pathlib import Path

import pytest

from tests.thorough import some, tries
from unspool.redact.finder import Finder
from unspool.redact.log import redact_lines, scan_lines
from unspool.redact.replacements import ReplacementNames

FINDER = Finder()
MADE_UP = "sk_live" + "_3j20d9as0d2j30d2"
"""A key that somebody made up for an example: nothing tells it from a real one."""


@pytest.fixture(scope="module")
def logs(shared: Path) -> list[Path]:
    return sorted((shared / "corpora").rglob("*.jsonl"))


def test_ordinary_work_gives_no_alarm(logs: list[Path]) -> None:
    """In real logs no secret is told that is none: in every fourth, or in all."""
    lines = [line for path in some(logs, 4) for line in path.read_bytes().splitlines(keepends=True)]
    assert len(lines) > tries(2_000, 10_000)
    assert {one.match.value for one in scan_lines(lines, FINDER) if one.match.kind == "secret"} <= {MADE_UP}


def test_nothing_is_left_in_a_redacted_log(logs: list[Path]) -> None:
    """A redacted log has as many lines, nothing is found in it, and redacting it again changes no byte."""
    for path in logs[:: tries(24, 2)]:
        lines = path.read_bytes().splitlines(keepends=True)
        once = list(redact_lines(lines, FINDER, ReplacementNames()))
        assert len(once) == len(lines)
        assert list(scan_lines(once, FINDER)) == []
        assert list(redact_lines(once, FINDER, ReplacementNames())) == once
