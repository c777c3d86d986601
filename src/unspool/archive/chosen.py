"""Which files of an archive are meant: those of one session, wherever they came from."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from unspool.archive.archive import Archive, Kept
from unspool.archive.chain import Origin
from unspool.errors import Ambiguous, NotFound

Belongs = Callable[[str], str]
"""The session that a path belongs to; empty where it is no single session's."""
_SHOWN = 20


class Chosen(NamedTuple):
    """A file of a session."""

    origin: int
    place: Origin
    kept: Kept


def sessions(archive: Archive, belongs: Belongs) -> dict[str, list[Chosen]]:
    """The files of every session, by its id."""
    found: dict[str, list[Chosen]] = {}
    for origin, place in archive.origins().items():
        for path, kept in archive.kept(origin).items():
            if session := belongs(path):
                found.setdefault(session, []).append(Chosen(origin, place, kept))
    return found


def chosen(archive: Archive, name: str, belongs: Belongs) -> tuple[str, list[Chosen]]:
    """The session of that id, or the only one whose id begins so, and its files."""
    found = sessions(archive, belongs)
    session = one_of(found, name)
    return session, found[session]


def one_of(known: Collection[str], name: str) -> str:
    """The id of that name, or the only one that begins so."""
    fits = [name] if name in known else sorted(session for session in known if name and session.startswith(name))
    if not fits:
        raise NotFound(f"The archive holds no session {name!r}.")
    if len(fits) > 1:
        more = [f"and {len(fits) - _SHOWN} more"] if len(fits) > _SHOWN else []
        raise Ambiguous(f"{len(fits)} sessions begin with {name!r}:", (*fits[:_SHOWN], *more))
    return fits[0]
