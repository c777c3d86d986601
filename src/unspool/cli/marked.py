"""What was said about sessions in the app, for commands that list or tell of them."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Mark(NamedTuple):
    """What a person said about a session."""

    starred: bool = False
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The star and the tags, in a line."""
        return " ".join([*(["★"] if self.starred else []), *(f"#{tag}" for tag in self.tags)])


Of = Callable[[str], Mark]
"""What was said about a session, by its id."""


def marks() -> Of:
    """Tells what was said about a session; nothing of any where no marks are kept, or they cannot be read."""
    from unspool.archive.place import folder

    place = folder()
    if not (place / "marks.db").exists():
        return lambda _: Mark()
    from unspool.app.marks.store import Marks
    from unspool.errors import UnspoolError

    try:
        said = Marks(place, _key(place)).said()
    except UnspoolError as problem:
        from unspool.cli.chosen import warn

        warn(f"stars, tags and names cannot be read: {problem}")
        return lambda _: Mark()
    return lambda session: Mark(*said.of(session))


def _key(place: "Path") -> str | None:
    """The key of the archive beside, where it is known without asking."""
    from unspool.archive.key import encrypted, key
    from unspool.archive.place import ARCHIVE

    return key(os.environ, None, None) if encrypted(place / ARCHIVE) else None
