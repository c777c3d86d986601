"""Decoded JSON as text, and text as JSON; neither direction fails in a way the other parts do not expect."""

import json
from typing import Final

import msgspec

from unspool.model import Json

_UNSAYABLE: Final = "(too deep or too large to show)"
_LONGEST = 2_000_000


def text(value: Json) -> str:
    """A string as it is; anything else as indented JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return _UNSAYABLE


def parsed(source: str) -> Json:
    """The JSON value a text holds; ValueError where it holds none."""
    try:
        return msgspec.json.decode(source)
    except RecursionError:
        raise ValueError(_UNSAYABLE) from None


def laid_out(source: str) -> str | None:
    """The same JSON object or array, indented and otherwise untouched; None where the text is neither."""
    if source.lstrip()[:1] not in {"{", "["} or len(source) > _LONGEST:
        return None
    try:
        return msgspec.json.format(source, indent=2)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
