"""A stretch of text that must not leave, and a memory of texts that were searched before."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["secret", "personal", "term"]
"""A secret opens something; personal data names somebody; a term is what the sharer chose."""


class SecretMatch(NamedTuple):
    """What was found in a text, and where."""

    rule: str
    """The id of the rule, such as `github-token`."""
    kind: Kind
    value: str
    """What stands there in plain, whatever its disguise; never shown or logged."""
    start: int
    end: int
    """The stretch of the text as given, disguise included, that must go."""


class SecretFinding(NamedTuple):
    """A match and the line of a log that holds it."""

    match: SecretMatch
    line: int
    path: str
    """Where in the line: message.content[0].text, toolUseResult.stdout, ..."""
    before: str
    after: str
    """Words around it, for a person to judge by; they hold no match themselves."""
    log: str = ""
    """Which log or other file of the session holds it, where there are several."""


def escape_surrogates(text: str) -> str:
    """The text, with halves of characters told as escapes: it can be written anywhere."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


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
def is_telling_key(key: str) -> bool:
    """Whether a key says what its text is, as `password` does."""
    return bool(_TELLING.search(key)) and len(key) <= _LONG


def telling_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that tell what their texts are, or whose texts are told by another."""
    return tuple(key for key in keys if key in VALUES or is_telling_key(key))


class MatchMemory(dict[str, list[SecretMatch]]):
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
            known = self._shapes[keys] = telling_keys(keys)
        return known

    def remember(self, found: Mapping[str, list[SecretMatch]]) -> None:
        """Keep these too, for as long as there is room; then begin anew."""
        for text, matches in found.items():
            if len(text) < _WORTH:
                self._size += len(text)
                self[text] = matches
        if self._size > _MOST:
            self.clear()
            self._shapes.clear()
            self._size = 0
