"""JSON of calls and results: fields taken by name and type, values as text, text as values."""

import json
from typing import Final, TypeVar

import msgspec

from unspool import human
from unspool.doc import Fields, Node
from unspool.model import Json

_UNSAYABLE: Final = "(too deep or too large to show)"
_LONGEST = 2_000_000
_LARGEST = 2**63


def json_text(value: Json) -> str:
    """A string as it is; anything else as indented JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -_LARGEST < value < _LARGEST:
        return str(value)
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (TypeError, ValueError, OverflowError):  # half a character, say
        return _any_json_text(value)
    except RecursionError:
        return _UNSAYABLE


def _any_json_text(value: Json) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return _UNSAYABLE


def parse_json(source: str) -> Json:
    """The JSON value a text holds; ValueError where it holds none."""
    try:
        return msgspec.json.decode(source)
    except RecursionError:
        raise ValueError(_UNSAYABLE) from None


def indent_json(source: str) -> str | None:
    """The same JSON object or array, indented and otherwise untouched; None where the text is neither."""
    if source.lstrip()[:1] not in {"{", "["} or len(source) > _LONGEST:
        return None
    try:
        return msgspec.json.format(source, indent=2)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


_T = TypeVar("_T")


class ToolFields:
    """The fields of a JSON object. Null is the same as absent."""

    def __init__(self, value: Json) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"fields expected, not {type(value).__name__}")
        self._left = dict(value)

    @classmethod
    def maybe(cls, value: Json) -> "ToolFields":
        """The fields of an object; none where the value is no object."""
        return cls(value if isinstance(value, dict) else {})

    def __bool__(self) -> bool:
        return bool(self._left)

    def __contains__(self, key: str) -> bool:
        return self._left.get(key) is not None

    def take(self, key: str) -> Json:
        """A value of any type."""
        return self._left.pop(key, None)

    def see(self, key: str) -> Json:
        """A value of any type, not taken."""
        return self._left.get(key)

    def names(self) -> tuple[str, ...]:
        """The fields that nobody took."""
        return tuple(self._left)

    def text(self, key: str) -> str:
        """A string, empty where there is none."""
        value = self._left.pop(key, None)
        if value is None or isinstance(value, str):
            return value or ""
        raise TypeError(f"{key} is {type(value).__name__}")

    def need(self, key: str) -> str:
        """A string that must be there."""
        if self._left.get(key) is None:
            raise KeyError(key)
        return self.text(key)

    def first(self, *keys: str) -> str:
        """The first of these strings that says something; it alone is taken."""
        for key in keys:
            if self._left.get(key):
                return self.text(key)
        return ""

    def number(self, key: str) -> float | None:
        """A number of a size that can be reckoned with."""
        value = self._left.pop(key, None)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST < value < _LARGEST:
            raise TypeError(f"{key} is no number")
        return value

    def whole(self, key: str) -> int:
        """A number without its fraction; 0 where there is none."""
        return int(self.number(key) or 0)

    def count(self, key: str, noun: str) -> str:
        """A number of things in words; empty where there is none."""
        value = self.number(key)
        return "" if value is None else human.count(value, noun)

    def took(self, key: str) -> str:
        """How long something took that is told in milliseconds; empty where that is not told."""
        value = self.number(key)
        return "" if value is None else human.duration(value / 1000)

    def flag(self, key: str) -> bool:
        """True or false; false where there is neither."""
        return self._typed(key, bool) or False

    def items(self, key: str) -> list[Json]:
        """A list, empty where there is none."""
        return self._typed(key, list) or []

    def within(self, key: str) -> "ToolFields":
        """The fields of an object inside, none where there is none."""
        return ToolFields(self._typed(key, dict) or {})

    def _typed(self, key: str, kind: type[_T]) -> _T | None:
        value = self._left.pop(key, None)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{key} is {type(value).__name__}")
        return value

    def rest(self) -> tuple[Node, ...]:
        """What nobody took, as fields."""
        if not self._left:
            return ()
        return (Fields(tuple([(str(key), json_text(value)) for key, value in self._left.items()])),)
