"""A small TOML file, read and edited line by line: comments, order and unknown keys stay as a person left them.

Where a statement begins and ends is asked of the TOML reader itself: what stands before a statement reads without
it, what reads with it ends after it. So a line inside a longer text is never taken for a setting.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from unspool.errors import Unreadable

_LINE = re.compile(r"\(at line (\d+)")
_TABLE = re.compile(r"\s*\[")
_MOST_MENDED = 20


class TomlProblem(NamedTuple):
    """What is wrong, and in which line; 0 for the file as a whole."""

    line: int
    words: str


class ParsedToml(NamedTuple):
    """The values of a file, and what had to be ignored for it to be read."""

    values: dict[str, Any]
    troubles: tuple[TomlProblem, ...] = ()


def parse_toml(text: str) -> ParsedToml:
    """The values of a file; a line that is no TOML is told and left out."""
    lines, troubles = text.split("\n"), list[TomlProblem]()
    for _ in range(_MOST_MENDED):
        try:
            return ParsedToml(tomllib.loads("\n".join(lines)), tuple(troubles))
        except tomllib.TOMLDecodeError as problem:
            words, found = str(problem), _LINE.search(str(problem))
            filled = (number for number, line in enumerate(lines, 1) if line.strip())
            at = int(found[1]) if found else max(filled, default=1)  # an end was missed
            troubles.append(TomlProblem(at, f"This is no TOML: {words.split(' (at', maxsplit=1)[0]}."))
            if not lines[at - 1]:
                break
            lines[at - 1] = ""
    return ParsedToml({}, (TomlProblem(0, "The file is no TOML."), *troubles[:1]))


def line_of_key(text: str, name: str) -> int:
    """The line in which a setting begins; 0 where it is not set, or the file cannot be read so far."""
    span = _span(text.split("\n"), name)
    return span[0] + 1 if span else 0


def edit_toml(text: str, changes: Mapping[str, Any]) -> str:
    """The text with settings changed; None takes one out. Unreadable where the file is no TOML."""
    before = _parsed(text)
    if before is None:
        trouble = parse_toml(text).troubles[0]
        raise Unreadable(f"The settings cannot be written before line {trouble.line} is mended: {trouble.words}")
    lines = text.split("\n")
    for name, value in changes.items():
        lines = _changed(lines, name, value)
    after = "\n".join(lines)
    wanted = {**before, **changes}
    if _parsed(after) != {name: value for name, value in wanted.items() if value is not None}:
        raise Unreadable("The settings file is written in a way that cannot be changed from here; edit it by hand.")
    return after


def _changed(lines: list[str], name: str, value: Any) -> list[str]:
    span = _span(lines, name)
    if span is None:
        return lines if value is None else _added(lines, f"{name} = {format_value(value)}")
    first, end = span
    if value is None:
        return lines[:first] + lines[end:]
    ending = "\r" if lines[end - 1].endswith("\r") else ""
    return [*lines[:first], f"{name} = {format_value(value)}{_comment(lines[first:end])}{ending}", *lines[end:]]


def _added(lines: list[str], line: str) -> list[str]:
    """Before the first table, for what follows a table's name belongs to it."""
    tables = (at for at, one in enumerate(lines) if _TABLE.match(one) and _parsed("\n".join(lines[:at])) is not None)
    at = next(tables, len(lines))
    while at and not lines[at - 1].strip():
        at -= 1
    return [*lines[:at], line, *(lines[at:] or [""])]


def _comment(lines: list[str]) -> str:
    """The comment after a value that stands on one line."""
    if len(lines) > 1:
        return ""
    line = lines[0].rstrip("\r")
    value = _parsed(line)
    places = (at for at, char in enumerate(line) if char == "#" and _parsed(line[:at]) == value)
    at = next(places, None)
    return "" if at is None else f"  {line[at:]}"


def _span(lines: list[str], name: str) -> tuple[int, int] | None:
    """The lines of a setting: the first, and the one after the last."""
    begins = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=")
    for first, line in enumerate(lines):
        if begins.match(line) and _parsed("\n".join(lines[:first])) is not None:
            for end in range(first + 1, len(lines) + 1):
                whole = _parsed("\n".join(lines[:end]))
                if whole is not None:
                    return (first, end) if name in whole else None
    return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def format_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(format_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
