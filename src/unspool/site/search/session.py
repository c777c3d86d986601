"""The search files of one session: its records for the browser, its words for the archive's index.

Records are numbered by rank (prompts before answers before tools), so that a number tells the kind once the counts
are known, and what is looked at first lies together. `records.js` holds the first part of them with what describes
the session, `records-1.js` and on the rest; `records.words` is read only when an archive's index is put together.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from unspool.site.search import lexicon, script
from unspool.site.search.lexicon import About
from unspool.site.search.record import KINDS, Record

SCRIPT: Final = "records.js"
PART: Final = 48_000
"""Characters of text in one file: what a browser has to load to show one found record."""

_RANK: Final = {kind: at for at, kind in enumerate(KINDS)}


class _Part(NamedTuple):
    start: int
    records: list[Record]


def session_files(found: Iterable[Record]) -> Iterator[tuple[str, bytes]]:
    """The name and content of each search file of a session; its title is the record of that kind."""
    ranked = sorted(found, key=lambda record: _RANK[record.kind])
    parts = tuple(_parts(ranked))
    about = _about(ranked, parts)
    for number, part in enumerate(parts):
        value = _value(part, about) if number == 0 else {"records": _rows(part, about)}
        yield f"records-{number}.js" if number else SCRIPT, script.packed(str(number), value)
    yield lexicon.NAME, lexicon.packed(about, ranked)


def inline(found: Iterable[Record]) -> str:
    """All records of a session as JSON for a script element of a page that has no files beside it."""
    ranked = sorted(found, key=lambda record: _RANK[record.kind])
    whole = _Part(0, ranked)
    return script.data(_value(whole, _about(ranked, (whole,)))).decode()


def _about(ranked: list[Record], parts: tuple[_Part, ...]) -> About:
    title = next((record for record in ranked if record.kind == "title"), Record("title", "", 0, ""))
    counts = Counter(record.kind for record in ranked)
    return About(title.text, title.time, tuple(counts[kind] for kind in KINDS), tuple(part.start for part in parts))


def _value(part: _Part, about: About) -> dict[str, object]:
    return {"kinds": KINDS, "about": about, "records": _rows(part, about)}


def _parts(ranked: list[Record]) -> Iterator[_Part]:
    """The records cut by size; at least one part."""
    start, size = 0, 0
    for number, record in enumerate(ranked):
        size += len(record.text)
        if size > PART and number > start:
            yield _Part(start, ranked[start:number])
            start, size = number, len(record.text)
    yield _Part(start, ranked[start:])


def _rows(part: _Part, about: About) -> list[tuple[str, int, str]]:
    """Link, seconds since the session's start, text."""
    return [(one.link, one.time - about.started if one.time else 0, one.text) for one in part.records]
