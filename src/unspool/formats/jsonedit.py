"""Changes to a JSON text that leave everything else as somebody wrote it: order, indentation, spaces, numbers.

A place in the text is a span; `members` and `elements` find them, the rest gives texts with one of them put in or
taken out. The text must be valid JSON: ask `json.loads` first.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Item(NamedTuple):
    """A member of an object, or an element of a list (its name is empty): from `start` to `end`, its value at `at`."""

    name: str
    value: Any
    start: int
    at: int
    end: int


def items(text: str, at: int) -> list[Item]:
    """What the object or list that begins at `at` holds, in order."""
    return list(_items(text, at))


def _items(text: str, at: int) -> Iterator[Item]:
    named = text[at] == "{"
    where = _skip(text, at + 1)
    while text[where] not in "]}":
        start, name = where, ""
        if named:
            name, where = _DECODER.raw_decode(text, where)
            where = _skip(text, _skip(text, where) + 1)
        value, end = _DECODER.raw_decode(text, where)
        yield Item(name, value, start, where, end)
        where = _skip(text, end)
        where = _skip(text, where + 1) if text[where] == "," else where


def begin(text: str) -> int:
    """Where the value of the whole text begins."""
    return _skip(text, 0)


def appended(text: str, at: int, name: str, value: Any) -> str:
    """The text with a member (or, without a name, an element) put last in the object or list at `at`."""
    present = items(text, at)
    own = _indent_at(text, at)
    made = json.dumps(value, indent=_unit(text) or None, ensure_ascii=False)
    inner = own + _unit(text)
    piece = (json.dumps(name, ensure_ascii=False) + ": " if name else "") + made.replace("\n", _newline(text) + inner)
    spread = bool(_unit(text)) and (not present or "\n" in text[at : present[0].start])
    if present:
        gap = _newline(text) + inner if spread else " "
        return f"{text[: present[-1].end]},{gap}{piece}{text[present[-1].end :]}"
    close = _skip(text, at + 1)
    around = (_newline(text) + inner, _newline(text) + own) if spread else ("", "")
    return text[: at + 1] + around[0] + piece + around[1] + text[close:]


def removed(text: str, at: int, number: int) -> str:
    """The text without item `number` of the object or list at `at`."""
    present = items(text, at)
    if len(present) == 1:
        return text[: at + 1] + text[_skip(text, present[0].end) :]
    if number:
        return text[: present[number - 1].end] + text[present[number].end :]
    return text[: present[0].start] + text[present[1].start :]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """What one level is indented by; empty where the text is all on one line."""
    if "\n" not in text.strip():
        return "" if text.strip() not in ("{}", "[]") else "  "
    found = re.search(r"[{\[]\r?\n([ \t]+)", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    """How the line that holds `at` is indented."""
    line = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[line:at])
    return found[0] if found else ""
