"""What could not be read is told without harm."""

import pytest

from unspool.cli.output import complain


def test_a_name_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A file may be called anything, escapes and line ends included."""
    complain(["Cannot read /x/\x1b]0;owned\x07\x1b[2J.jsonl: no permission."])
    told = capsys.readouterr().err
    assert told.startswith("unspool: Cannot read /x/")
    assert "\x1b" not in told
    assert "\x07" not in told
