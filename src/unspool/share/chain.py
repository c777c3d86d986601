"""A session and those before it: planning, and what was planned."""

from unspool.errors import NotFound
from unspool.formats import Found
from unspool.library import Library
from unspool.model import Session

_LONGEST = 20


def chained(library: Library, name: str) -> list[str | Found]:
    """What a person's name for a session means, and the sessions it goes on from, the nearest first."""
    first = library.resolve(name)
    found: list[str | Found] = [first]
    seen = {first.session_id} if isinstance(first, Found) else set()
    session = library.open(first)
    while (earlier := _source(library, session)) is not None and earlier.session_id not in seen:
        found.append(earlier)
        seen.add(earlier.session_id)
        if len(found) > _LONGEST:
            break
        session = library.open(earlier)
    return found


def _source(library: Library, session: Session) -> Found | None:
    for link in session.links:
        if link.relation == "source":
            try:
                return library.find(link.session)
            except NotFound:
                return None
    return None
