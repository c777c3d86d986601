"""What sessions take at a hub: rows of PostgreSQL by table, contents by what they are."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bench.table import Row
from unspool.hub.store.database import Database

_TABLES = (
    "SELECT CASE WHEN relispartition THEN 'text_part' ELSE relname END, sum(pg_total_relation_size(oid))::bigint"
    " FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1"
)
"""All partitions as their table."""
_CONTENTS = (
    "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(stored), 0) FROM blob"
    " WHERE digest IN (SELECT digest FROM {})"
)
_SENT = "SELECT coalesce(sum(size), 0) FROM piece"
AIM = 0.2
_LARGE = 0.005
"""Tables that take less of all are not told of by themselves."""


class Contents(NamedTuple):
    """Contents of one kind."""

    objects: int
    size: int
    stored: int


class Taken(NamedTuple):
    """What a hub takes."""

    tables: Mapping[str, int]
    """Bytes with their indexes."""
    sent: int
    """Bytes of all files of all sessions, a piece counted wherever it is."""
    pieces: Contents
    pages: Contents
    texts: Contents


def taken(db: Database) -> Taken:
    """Of a hub on PostgreSQL, as it is now."""
    db.script("VACUUM ANALYZE")
    kinds = ("piece", "session_page", "session_text")
    contents = (Contents(*map(int, db.rows(_CONTENTS.format(table))[0])) for table in kinds)
    return Taken(dict(db.rows(_TABLES)), int(db.rows(_SENT)[0][0]), *contents)


def beside_texts(db: Database, size: int) -> str:
    """What the words of so many bytes of texts take, and the texts themselves, in a sentence."""
    found = taken(db)
    words, packed = found.tables["text_part"], found.texts.stored
    return f"parts of texts {words / size:.0%} of the texts in the database, {packed / size:.0%} in the object store"


def rows(before: Taken, after: Taken, sessions: int) -> Iterator[Row]:
    """A row for the database, one for contents, for so many sessions that were pushed in between."""
    grown = {name: size - before.tables.get(name, 0) for name, size in after.tables.items()}
    whole = sum(grown.values())
    parts = [f"{name} {size / sessions / 1000:.1f}" for name, size in sorted(grown.items(), key=lambda one: -one[1])
             if size > _LARGE * whole]  # fmt: skip
    told = f"{whole / sessions / 1000:.1f} kB a session, {whole / after.sent:.0%} of the logs ({', '.join(parts)})"
    aim = f"<= {AIM:.0%} of the logs"
    yield Row(f"hub: database, {sessions} sessions of {after.sent / sessions / 1000:.0f} kB", told, aim=aim,
              met=whole <= AIM * after.sent)  # fmt: skip
    pieces, pages, texts = after.pieces, after.pages, after.texts
    told = (
        f"logs {pieces.stored / after.sent:.1%} in {pieces.objects} objects; pages {pages.stored / after.sent:.1%}"
        f" in {pages.objects}; texts {texts.stored / after.sent:.1%} in {texts.objects}"
    )
    yield Row("hub: objects beside the bytes of the logs", told)
