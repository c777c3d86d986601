"""Answers for an agent: quoted text made inert and redacted, within a budget of tokens; short references."""

import re
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from unspool.figures.tokens import estimate_tokens
from unspool.render.sanitize import strip_controls

if TYPE_CHECKING:
    from unspool.redact.finder import Finder

QUOTE = "| "
"""All that follows it on a line is from a log."""
LEAST, USUAL, MOST = 300, 2_000, 8_000
"""Tokens that an answer may be asked to keep to."""
_FOOT = 60
"""Tokens that are kept free for the line that says what was left out."""
_REST = 40
"""Tokens of a line that says where the rest of a text is."""
_HIDDEN = re.compile("[\xad\u061c\u180e\u200b-\u200f\u2060-\u2065\ufe00-\ufe0e\ufeff\U000e0000-\U000e0fff]")
"""Characters that nobody sees, and a model reads."""
_LARGEST = 8_000_000
"""Characters of one text that are looked through for what must not leave; what follows is left out."""
_AHEAD = 20_000
"""Characters that are looked through for a line: a secret that begins in it ends before."""
_LEFT_OUT = "\n[the rest is larger than can be looked through for secrets]"


def fit_text(text: str, tokens: int) -> str:
    """The beginning of a text that takes no more than so many tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    low, high = 0, min(len(text), max(0, tokens) * 16)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]


class Quoter:
    """Makes text of logs such that it may leave: nothing active, nothing hidden, nothing that must not leave."""

    def __init__(self, finder: "Finder | None") -> None:
        from unspool.redact.replacements import ReplacementNames

        self._finder, self._names, self._lock = finder, ReplacementNames(), threading.Lock()
        self.text: Callable[[str], str] = lru_cache(maxsize=32)(self._cleaned)
        """The text, made so; its lines stay lines."""

    def line(self, text: str, most: int = 120) -> str:
        """The text on one line of so many characters; it is looked through far beyond that before it is cut."""
        flat = " ".join(self.text(text[:_AHEAD]).split())
        return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"

    def lines(self, text: str, start: int = 0) -> list[str]:
        """Its lines from a character on."""
        return self.text(text)[start:].splitlines()

    def _cleaned(self, text: str) -> str:
        from unspool.redact.rebuild import redact_text

        whole = text if len(text) <= _LARGEST else text[:_LARGEST]
        plain = "\n".join(strip_controls(_HIDDEN.sub("", whole)).splitlines())
        if self._finder is not None:
            with self._lock:  # what it remembers is not for several at once
                plain = redact_text(plain, self._finder, self._names)[0]
        return plain if whole is text else plain + _LEFT_OUT


class BudgetedAnswer:
    """Lines of an answer that never takes more than its budget."""

    def __init__(self, budget: int, freshness: str) -> None:
        self._lines: list[str] = []
        self._end = freshness
        self._left = budget - _FOOT - estimate_tokens(freshness)

    def add(self, told: str, quoted: str = "") -> bool:
        """Put a line, with what is quoted after a bar; False where there is no room, and nothing is put. The first is
        cut instead, so that every answer leads on."""
        line = f"{told} {QUOTE}{quoted}" if told and quoted else f"{QUOTE}{quoted}" if quoted else told
        return self._put(fit_text(line, self._left - 2) if not self._lines else line)

    def _put(self, line: str) -> bool:
        cost = estimate_tokens(f"{line}\n")
        if cost > self._left:
            return False
        self._left -= cost
        self._lines.append(line)
        return True

    def add_quoted(self, lines: Iterable[str], most: int | None = None) -> int | None:
        """Put lines of a text, each after a bar, as long as there is room; where `most` tells how many tokens they may
        take, also so that a line has room that says where the rest is. The number of characters that were put, or None
        for all."""
        least = max(_REST, self._left - most) if most is not None else 0
        done = 0
        for line in lines:
            room = self._left - least
            piece = fit_text(line, room - estimate_tokens(f"{QUOTE}\n") - 1)
            if len(piece) < len(line):
                if len(piece) < 20 and done:
                    return done
                self._put(f"{QUOTE}{piece}")
                return done + len(piece)
            self._put(f"{QUOTE}{line}")
            done += len(line) + 1
        return None

    @property
    def has_room(self) -> bool:
        """Whether something can be told of a text, and where its rest is."""
        return self._left > 2 * _REST

    @property
    def is_empty(self) -> bool:
        return not self._lines

    def text(self, cut: str = "") -> str:
        """The whole answer; `cut` says how the rest is had."""
        ends = [f"cut: {cut}"] if cut else []
        return "\n".join((*self._lines, *ends, self._end))


class SessionReference(NamedTuple):
    """What a reference means: a session by any name, turns of it, a block of one turn."""

    name: str
    first: int | None = None
    last: int | None = None
    """None where it ends with the session."""
    block: int | None = None


_PARTS = re.compile(r"(?P<name>.+?)(?:\.(?P<first>\d{1,7})(?:(?P<to>-)(?P<last>\d{1,7})?|\.(?P<block>\d{1,7}))?)?")


SUBAGENT = "#agent-"
"""Stands between the id of a session and that of a subagent of its."""


def subagent_key(session: str, subagent: str) -> str:
    """What the conversation of a subagent is referred to by; the session itself where there is none."""
    return f"{session}{SUBAGENT}{subagent}" if subagent else session


class References:
    """Short names of sessions, S1, S2, ..., as long as the server runs."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, key: str, *places: int) -> str:
        """S7, S7.12 for a prompt, S7.12.3 for a block of what followed it."""
        with self._lock:
            if key not in self._numbers:
                self._keys.append(key)
                self._numbers[key] = len(self._keys)
            return ".".join((f"S{self._numbers[key]}", *map(str, places)))

    def parse(self, text: str) -> SessionReference:
        """What a caller means; a session that is called by its id, its title or `latest` keeps that name."""
        text = text.strip().removeprefix("unspool://session/")
        found = _PARTS.fullmatch(text)
        if found is None:
            return SessionReference(text)
        name = found["name"]
        short = re.fullmatch(r"[Ss](\d{1,7})", name)
        if short and 1 <= int(short[1]) <= len(self._keys):
            name = self._keys[int(short[1]) - 1]
        if found["first"] is None:
            return SessionReference(name)
        first = int(found["first"])
        last = (int(found["last"]) if found["last"] else None) if found["to"] else first
        return SessionReference(name, first, last, int(found["block"]) if found["block"] else None)


class ReferencesOf(NamedTuple):
    """References to places of one session, or of one subagent."""

    references: References
    key: str

    def place(self, *places: int) -> str:
        return self.references.of(self.key, *places)

    def subagent(self, name: str) -> str:
        """A subagent of it; those of a subagent are found from the session too."""
        return self.references.of(subagent_key(self.key.partition(SUBAGENT)[0], name))
