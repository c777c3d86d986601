"""The beginning of a long log, so that its first pages are there at once while the rest is read."""

import re

import msgspec

from unspool.app.reading import outline
from unspool.app.reading.told import Reading
from unspool.formats import Found, by_id
from unspool.library.inputs import opened
from unspool.library.read import Reader, log_file
from unspool.model import Session, Transcript
from unspool.prices import PriceTable
from unspool.site.address import INDEX
from unspool.site.options import SiteOptions
from unspool.turns.assemble import assemble

_BEGINNING = 512 * 1024
_FIRST = re.compile(r"page-0\d\d\.html")
"""Pages that the beginning may hold."""


def is_long(found: Found) -> bool:
    """Whether reading all of a log would be felt, and its beginning can be read by itself."""
    return found.size >= outline.LONG and not found.origin and found.path.endswith(".jsonl")


def beginning(found: Found, prices: PriceTable, path: str, options: SiteOptions) -> Reading | None:
    """What the beginning of a log tells, where that is enough for a page: the index, or turns that end in it."""
    if path != INDEX and not _FIRST.fullmatch(path):
        return None
    early = Reading(found, _session(found), prices, part=True)
    leaves = early.addresses(options).live.leaves
    whole = [leaf.path for leaf in leaves[:-1]]  # the last one may go on
    return early if whole and path in (INDEX, *whole) else None


def _session(found: Found) -> Session:
    format_, reader = by_id(found.format), Reader()
    parser = format_.parser(found)
    with opened(found.path, _BEGINNING) as stream:
        entries = list(reader.entries(stream))
    ended = [entry for entry in entries if entry.place.offset < reader.cursor.offset]
    events = [parser.event(entry) for entry in ended]
    log = log_file(found.path, found.size)
    main = Transcript(events, parser.facts, log, reader.blank)
    session = assemble(main, [], format_.dialect(found, parser.facts), found.session_id)
    return msgspec.structs.replace(session, project=format_.project(parser.facts, found.folder))
