"""The review at a terminal: each value is shown in context, secrets only by their beginning, and judged."""

import os
import pty
import select
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.running import source
from tests.log_builder.builder import LogBuilder
from tests.share.made import PERSONAL, SECRETS, SESSION, leaked

ASKED = "accept [e]verything"
HELD = {"prompt": SECRETS["prompt"], "address": PERSONAL["address"], "mail": PERSONAL["mail"]}


class Seen(NamedTuple):
    """What stood on the terminal, and how it ended."""

    text: str
    code: int


def typed(arguments: list[str], answers: str) -> Seen:
    """Run `unspool` at a terminal and answer each question by a letter."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "unspool", *arguments])  # noqa: S606  our own program
    seen, asked, ends = b"", 0, time.monotonic() + 60
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                read = os.read(terminal, 65536)
            except OSError:  # Linux says so where the other side has ended
                break
            if not read:
                break
            seen += read
        if seen.count(ASKED.encode()) > asked and asked < len(answers):
            os.write(terminal, answers[asked].encode() + b"\n")
            asked += 1
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return Seen(seen.decode(errors="replace"), os.waitstatus_to_exitcode(status))


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    log = LogBuilder(session_id=SESSION, cwd="/srv/harbour")
    log.prompt(f"The key is {HELD['prompt']} \x1b[2J and the gauge {HELD['address']}").assistant(log.text("Aye."))
    log.prompt(f"Write to {HELD['mail']} or {HELD['mail']}").assistant(log.text("Written."))
    given = source(tmp_path / "logs", log)
    return ["share", SESSION, *given, "--html", "-o", str(tmp_path / "talk.html")]


def test_each_value_is_shown_and_judged(tmp_path: Path, arguments: list[str]) -> None:
    seen = typed(arguments, "aka")
    assert seen.code == 0, seen.text
    assert seen.text.count(ASKED) == 3
    assert HELD["prompt"] not in seen.text
    assert f"⟦{HELD['prompt'][:4]}…⟧" in seen.text
    assert f"the gauge ⟦{HELD['address']}⟧" in seen.text
    assert "\x1b[2J" not in seen.text
    assert leaked(tmp_path / "talk.html", HELD) == {"address"}


def test_what_was_kept_is_not_asked_again(tmp_path: Path, arguments: list[str]) -> None:
    assert typed(arguments, "aka").code == 0
    again = typed(arguments, "e")
    assert again.code == 0
    assert HELD["address"] not in again.text
    assert leaked(tmp_path / "talk.html", HELD) == {"address"}


def test_who_quits_has_shared_nothing(tmp_path: Path, arguments: list[str]) -> None:
    seen = typed(arguments, "q")
    assert seen.code == 130
    assert not (tmp_path / "talk.html").exists()


def test_a_rule_is_accepted_for_all_its_values(tmp_path: Path, arguments: list[str]) -> None:
    seen = typed(arguments, "rrr")
    assert seen.code == 0
    assert leaked(tmp_path / "talk.html", HELD) == set()
