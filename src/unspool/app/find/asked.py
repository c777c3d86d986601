"""What is asked of the search: words with filters, as the address of the page says it."""

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from unspool.app.config.store import current
from unspool.index.query import Filter, Query, parse
from unspool.index.search import Wanted

LONGEST = 1000
"""Characters of a question."""
FILTERS = ("kind", "project", "role", "tool", "is", "since", "until", "model", "branch", "cost", "session", "file")
"""Filters that an address may hold beside the words, in the order in which they are told."""
SESSIONS, HITS = 10, 3
MOST = 500
"""Sessions that one page may show."""
_MOST_HITS, _MOST_FILTERS = 200, 20
_CONTEXT = 220


class Asked(NamedTuple):
    """A question as it stands in an address."""

    text: str = ""
    filters: tuple[Filter, ...] = ()
    exact: bool = False
    """Whether the text is looked for as it stands."""
    sessions: int = SESSIONS
    hits: int = HITS
    cut: bool = False

    @property
    def nothing(self) -> bool:
        """True where there is nothing to look for."""
        return not self.text.strip() and not self.filters

    @property
    def query(self) -> Query:
        """The question taken apart; a text that is looked for as it stands is no part of it."""
        query = parse("" if self.exact else self.text, self.filters, current().zone)
        note = (f"Only the first {LONGEST:,} characters were asked for.",) if self.cut else ()
        return query._replace(notes=(*query.notes, *note))

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.sessions, self.hits, _CONTEXT)

    def values(self, name: str) -> tuple[str, ...]:
        """What is asked for by one filter of the address."""
        return tuple(one.value for one in self.filters if one.name == name)

    def having(self, name: str, value: str) -> "Asked":
        """The same question with this value of a filter and no other; with none of it where there is no value."""
        others = tuple(one for one in self.filters if one.name != name)
        return self._replace(filters=(*others, Filter(name, value)) if value else others, sessions=SESSIONS, hits=HITS)

    def without(self, gone: Filter) -> "Asked":
        """The same question with one filter less."""
        return self._replace(filters=tuple(one for one in self.filters if one != gone))

    @property
    def href(self) -> str:
        """The address of its page."""
        pairs = [("q", self.text)] + [(one.name, one.value) for one in self.filters]
        pairs += [("exact", "1")] if self.exact else []
        pairs += [("n", str(self.sessions))] if self.sessions != SESSIONS else []
        pairs += [("hits", str(self.hits))] if self.hits != HITS else []
        return "/search?" + urlencode(pairs, errors="replace")


def asked(given: QueryParams) -> Asked:
    """The question that an address asks; whatever it says, there is one."""
    text = given.get("q", "")
    filters = [
        Filter(name, value[:LONGEST])
        for name in FILTERS
        for value in dict.fromkeys(given.getlist(name))
        if value.strip()
    ]
    return Asked(
        text[:LONGEST],
        tuple(filters[:_MOST_FILTERS]),
        given.get("exact") == "1",
        _number(given.get("n", ""), SESSIONS, MOST),
        _number(given.get("hits", ""), HITS, _MOST_HITS),
        len(text) > LONGEST,
    )


def growing(text: str) -> str:
    """A text that is being typed: its last word may go on."""
    last = text.split()[-1:] or [""]
    whole = not text[-1:].isalnum() or text.count('"') % 2 or ":" in last[0] or last[0] in ("AND", "OR", "NOT")
    return text if whole else f"{text}*"


def _number(text: str, usual: int, most: int) -> int:
    return min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 9 else usual
