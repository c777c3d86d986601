"""What was found in texts before: lines of a log say the same again and again."""

import re
from collections.abc import Mapping
from functools import lru_cache

from unspool.redact.match import Match

_MOST = 32_000_000
"""Characters that are remembered at once."""
_WORTH = 20_000
"""Characters of a text that is too long to be remembered."""
_TELLING = re.compile(r"(?i)pass|pwd|secret|token|key|credential|auth|cookie")
_LONG = 60
"""A key longer than this names no secret."""


@lru_cache(10_000)
def telling(key: str) -> bool:
    """Whether a key says what its text is, as `password` does."""
    return bool(_TELLING.search(key)) and len(key) <= _LONG


class Memory(dict[str, list[Match]]):
    """Texts and what was found in them, as many as fit."""

    def __init__(self) -> None:
        super().__init__()
        self._size = 0
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def shape(self, keys: tuple[str, ...]) -> tuple[str, ...] | None:
        """The keys of an object that tell what their texts are; None where a key may hold something itself."""
        known = self._shapes.get(keys)
        if known is None and all(self.get(key) == [] for key in keys):
            known = self._shapes[keys] = tuple(filter(telling, keys))
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
