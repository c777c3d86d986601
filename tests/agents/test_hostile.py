"""Text that a stranger made to be slow is read in no more than a moment."""

import time
from collections.abc import Callable

import pytest

from tests.reading.lines import answer, asked, said, use
from tests.reading.reading import entries, jsonl, session

ASKED = use("t", "AskUserQuestion", questions=[{"question": "q", "options": []}])
HOSTILE: dict[str, Callable[[], object]] = {
    "a notification of opening tags": lambda: session(
        jsonl(asked("a", "<task-notification>" + "<a>" * 20_000 + "</task-notification>"))
    ),
    "a tag with one endless attribute": lambda: session(
        jsonl(asked("a", "<teammate-message " + "a" * 30_000 + ">x</teammate-message>"))
    ),
    "a plan of newlines": lambda: session(
        jsonl(asked("a", "Implement the following plan:\n# P\n" + "\n" * 30_000 + "x"))
    ),
    "an answer of quotes": lambda: session(
        jsonl(asked("u", "x"), said("a", "m", [ASKED], "u"), asked("r", [answer("t", '"\\' * 15_000)], "a"))
    ),
    "a line of glued objects": lambda: entries('{"a":"é"}'.encode() * 40_000),
    "a torn line of opening braces": lambda: entries(b'{"type":"a","x":[' + b'{"' * 200_000),
    "a line of NUL bytes": lambda: entries(b"\0" * 5_000_000),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_it_takes_but_a_moment_to_read(name: str) -> None:
    assert min(_seconds(HOSTILE[name]) for _ in range(3)) < 1


def _seconds(read: Callable[[], object]) -> float:
    """What reading keeps this thread busy; the best of several, for others in this process may collect garbage."""
    began = time.thread_time()
    read()
    return time.thread_time() - began
