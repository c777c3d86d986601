"""A session and those around it in its chain: what planned it, what it planned, and what went on from there."""

from collections.abc import Iterable

from unspool.errors import Ambiguous, NotFound
from unspool.formats import Found
from unspool.library import Library
from unspool.model import Session

_LONGEST = 40


def chained(library: Library, name: str | Found) -> list[str | Found]:
    """The session that is meant, and every session that its chain leads to, backwards and forwards."""
    first = library.resolve(name) if isinstance(name, str) else name
    found: list[str | Found] = [first]
    seen = {first.session_id} if isinstance(first, Found) else set()
    waiting = [library.open(first)]
    while waiting and len(found) < _LONGEST:
        for other in _around(library, waiting.pop(0)):
            if other.session_id not in seen and len(found) < _LONGEST:
                seen.add(other.session_id)
                found.append(other)
                waiting.append(library.open(other))
    return found


def _around(library: Library, session: Session) -> Iterable[Found]:
    """The sessions that one continues, or that continue it; a chain that forks is followed along all its ways."""
    for link in session.links:
        if link.relation in ("source", "follow-up"):
            try:
                yield library.find(link.session)
            except (NotFound, Ambiguous):
                continue
