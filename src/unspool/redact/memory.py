"""What was found in texts before: lines of a log say the same again and again."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from unspool.redact.match import Match

_MOST = 32_000_000
"""Characters that are remembered at once."""
_WORTH = 20_000
"""Characters of a text that is too long to be remembered."""
_TELLING = re.compile(r"(?i)pass|pwd|secret|token|key|credential|auth|cookie|(?:account|organization)_?uuid")
VALUES = frozenset({"value", "Value"})
"""Keys of texts that another text of the object names."""
_LONG = 60
"""A key longer than this names no secret."""
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
)
_LENGTHS = frozenset({36, 24})


@lru_cache(10_000)
def telling(key: str) -> bool:
    """Whether a key says what its text is, as `password` does."""
    return bool(_TELLING.search(key)) and len(key) <= _LONG


def telling_of(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that tell what their texts are, or whose texts are told by another."""
    return tuple(key for key in keys if key in VALUES or telling(key))


class Memory(dict[str, list[Match]]):
    """Texts and what was found in them, as many as fit; with `ids`, ids are known to hold nothing."""

    def __init__(self, *, ids: bool = False) -> None:
        super().__init__()
        self._ids = ids
        self._size = 0
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def is_id(self, text: str) -> bool:
        """Whether a text is nothing but the id of a line or a time, which no rule of ours would find anything in."""
        return self._ids and len(text) in _LENGTHS and _ID.fullmatch(text) is not None

    def shape(self, keys: tuple[str, ...]) -> tuple[str, ...] | None:
        """The keys of an object that tell what their texts are; None where a key may hold something itself."""
        known = self._shapes.get(keys)
        if known is None and all(self.get(key) == [] for key in keys):
            known = self._shapes[keys] = telling_of(keys)
        return known

    def remember(self, found: Mapping[str, list[Match]]) -> None:
        """Keep these too, for as long as there is room; then begin anew."""
        for text, matches in found.items():
            if len(text) < _WORTH:
                self._size += len(text)
                self[text] = matches
        if self._size > _MOST:
            self.clear()
            self._shapes.clear()
            self._size = 0
