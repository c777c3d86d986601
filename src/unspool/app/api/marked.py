"""What was said about sessions in the app, as the API tells it."""

import msgspec
from starlette.requests import Request

from unspool.app.marks import Said
from unspool.app.marks.desk import marks_of
from unspool.errors import UnspoolError

__all__ = ["Marked", "Said", "marked", "said_of"]


class Marked(msgspec.Struct, frozen=True):
    """What a person said about a session."""

    starred: bool
    title: str
    """The name that it was given, which pages show instead of its own; empty where it has its own."""
    note: str
    tags: tuple[str, ...]


def said_of(request: Request) -> Said:
    """All that was said; nothing where that cannot be read, which pages tell."""
    try:
        return marks_of(request.app.state.desk).said()
    except UnspoolError:
        return Said()


def marked(said: Said, session: str) -> Marked | None:
    """What was said about a session; None where nothing was."""
    mark = said.of(session)
    return Marked(*mark) if any(mark) else None
