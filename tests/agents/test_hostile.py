"""Text that a stranger made to be slow is read to its end."""

from collections.abc import Callable

import pytest

from tests.reading.lines import answer, asked, said, use
from tests.reading.reading import entries, jsonl, session
from tests.waiting import ending

ASKED = use("t", "AskUserQuestion", questions=[{"question": "q", "options": []}])
HOSTILE: dict[str, Callable[[], object]] = {
    "a notification of opening tags": lambda: session(
        jsonl(asked("a", "<task-notification>" + "<a>" * 200_000 + "</task-notification>"))
    ),
    "a tag with one endless attribute": lambda: session(
        jsonl(asked("a", "<teammate-message " + "a" * 300_000 + ">x</teammate-message>"))
    ),
    "a plan of newlines": lambda: session(
        jsonl(asked("a", "Implement the following plan:\n# P\n" + "\n" * 300_000 + "x"))
    ),
    "an answer of quotes": lambda: session(
        jsonl(asked("u", "x"), said("a", "m", [ASKED], "u"), asked("r", [answer("t", '"\\' * 150_000)], "a"))
    ),
    "a line of glued objects": lambda: entries('{"a":"é"}'.encode() * 40_000),
    "a torn line of opening braces": lambda: entries(b'{"type":"a","x":[' + b'{"' * 200_000),
    "a line of NUL bytes": lambda: entries(b"\0" * 5_000_000),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_it_is_read_to_its_end(name: str) -> None:
    """In a moment; what takes time as the square of its length would take hours."""
    with ending():
        HOSTILE[name]()
