"""Filters to choose from: the row of links above results, and what a filter that is being typed could become."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from unspool.app.find.asked import Asked
from unspool.app.find.shown import folder_name
from unspool.export.html.escape import visible
from unspool.index.filters import holding
from unspool.index.query import NAMES
from unspool.index.schema import KINDS, ROLES

_SINCE = (("today", "today"), ("7d", "last 7 days"), ("30d", "last 30 days"), ("1y", "last year"))
_FIXED = {
    "kind": KINDS,
    "role": tuple(ROLES),
    "is": ("error", "subagent", "ghost"),
    "since": ("today", "yesterday", "7d", "30d", "1y"),
    "until": ("today", "7d", "30d"),
    "cost": (">1", ">10", "<0.1"),
}
_KNOWN = {
    "project": "SELECT project FROM session WHERE project LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "branch": "SELECT branch FROM session WHERE branch LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "tool": "SELECT name.text FROM tally JOIN name ON name.id = tally.tool WHERE name.text LIKE ? ESCAPE '\\' "
    "GROUP BY 1 ORDER BY sum(tally.calls) DESC",
    "model": "SELECT model FROM terms WHERE model LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY 1",
}
_LISTED = 30
_OFFERED = 8


class Choice(NamedTuple):
    """One value of a filter."""

    text: str
    href: str
    chosen: bool
    about: str = ""


class Row(NamedTuple):
    """A filter with its values; `folded` where there are many."""

    name: str
    choices: tuple[Choice, ...]
    folded: bool = False
    chosen: str = ""

    @property
    def label(self) -> str:
        """What the page calls it."""
        return "only" if self.name == "is" else self.name


def rows(db: apsw.Connection, asked: Asked) -> Iterator[Row]:
    """The filters that the page offers; the values of some are those there are."""
    yield _row(asked, "kind", [(kind, kind) for kind in KINDS])
    yield _row(asked, "role", [(role, role) for role in ROLES])
    yield _row(asked, "since", _SINCE)
    yield _row(asked, "is", [("error", "failed"), ("subagent", "in subagents")])
    for name in ("project", "tool"):
        known = _values(db, name, "", _LISTED)
        if known:
            yield _row(asked, name, [(value, folder_name(value)) for value in known], folded=True)


def _row(asked: Asked, name: str, values: Sequence[tuple[str, str]], *, folded: bool = False) -> Row:
    now = asked.values(name)
    any_ = Choice("any", asked.having(name, "").href, not now)
    others = [Choice(said, asked.having(name, value).href, value in now, visible(value)) for value, said in values]
    return Row(name, (any_, *others), folded, folder_name(now[0]) if now else "")


def completions(db: apsw.Connection, text: str) -> tuple[str, ...]:
    """Whole questions that the last word of this one could lead to, where it begins a filter."""
    head, last = _last(text)
    minus, body = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = body.partition(":")
    if not colon:
        begun = [f"{one}:" for one in NAMES if len(body) > 1 and one.startswith(body.lower())]
        return tuple(f"{head}{minus}{one}" for one in begun)
    name = name.lower()
    fits = [one for one in _FIXED.get(name, ()) if one.startswith(value.lower()) and one != value.lower()]
    known = _values(db, name, value.strip('"'), _OFFERED) if name in _KNOWN else fits
    return tuple(f"{head}{minus}{name}:{_quoted(one)} " for one in known if one != value and '"' not in one)


def _last(text: str) -> tuple[str, str]:
    """The text before its last word, and that; a quoted value is one word."""
    cut = max(text.rfind(" "), text.rfind("("))
    if text.count('"') % 2:
        cut = text.rfind(" ", 0, text.rfind('"'))
    return text[: cut + 1], text[cut + 1 :]


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char.isspace() or char in "()" for char in value) else value


def _values(db: apsw.Connection, name: str, part: str, most: int) -> list[str]:
    found: list[Any] = db.execute(f"{_KNOWN[name]} LIMIT ?", (holding(part), most)).fetchall()
    return [value for (value,) in found if value]
