"""One line of a log: where it stands, what it holds, what is wrong with it."""

from typing import Any

import msgspec

Json = Any
"""Decoded JSON: str, int, float, bool, None, list or dict."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where something stands in its log: line number (from 1), byte offset and length of the raw bytes."""

    line: int
    offset: int
    size: int


class Entry(msgspec.Struct, frozen=True):
    """One line of a log: exact bytes, place, and decoded data, or why there is none."""

    place: Place
    raw: bytes
    data: dict[str, Json] | None = None
    problem: str = ""
    """Why `data` is missing or had to be mended; empty for a good line."""


class Problem(msgspec.Struct, frozen=True):
    """A line that could not be read, or (mended) only after a repair."""

    place: Place
    why: str
    raw: bytes
    mended: bool = False
    log: str = ""
