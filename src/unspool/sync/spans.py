"""When the sessions of a source went on, from the first lines of their logs and when these were last written."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from unspool.errors import UnspoolError
from unspool.formats import Found, by_id
from unspool.library.inputs import opened
from unspool.library.read import Reader
from unspool.sync.ghosts import Span

_LINES = 80


def spans(logs: Iterable[Found]) -> list[Span]:
    """The project, beginning and end of each session that can be read."""
    return [span for log in logs if (span := _span(log)) is not None]


def _span(log: Found) -> Span | None:
    format_ = by_id(log.format)
    parser = format_.parser(None)
    try:
        with opened(log.path) as stream:
            for entry in islice(Reader().entries(stream), _LINES):
                parser.event(entry)
                if parser.facts.started is not None and parser.facts.cwd:
                    break
    except (UnspoolError, OSError):
        return None
    return Span(format_.project(parser.facts, log.folder), parser.facts.started, _ended(log))


def _ended(log: Found) -> datetime | None:
    try:
        return datetime.fromtimestamp(log.modified, UTC)
    except (OverflowError, ValueError, OSError):
        return None
