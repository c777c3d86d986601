"""What every page that lists sessions knows: the desk, what was said, the settings, the time."""

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import apsw
from starlette.requests import Request

from unspool.app.browse.chains import chains
from unspool.app.browse.listing import Listed, Listing, Page
from unspool.app.browse.rows import Day, Maker
from unspool.app.browse.shelf import Shelf
from unspool.app.browse.wanted import Wanted
from unspool.app.config.store import current
from unspool.app.desk import Desk
from unspool.app.marks import Said
from unspool.app.marks.desk import marks_of
from unspool.errors import UnspoolError

if TYPE_CHECKING:
    from datetime import tzinfo


class Scene:
    """One request for a list; it lives while the index is open."""

    def __init__(self, request: Request, db: apsw.Connection) -> None:
        self.request, self.db, self.now = request, db, time.time()
        self.zone: tzinfo | None = current().zone
        self.notes: list[str] = []
        """What the page should say went wrong, though it can be shown."""

    @property
    def desk(self) -> Desk:
        desk: Desk = self.request.app.state.desk
        return desk

    @property
    def read_only(self) -> bool:
        return bool(self.request.app.state.read_only)

    @property
    def here(self) -> str:
        """The address asked for, to come back to."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @cached_property
    def said(self) -> Said:
        """What was said about sessions; a damaged file of marks does not keep anyone from reading."""
        try:
            return marks_of(self.desk).said()
        except UnspoolError as problem:
            self.notes.append(f"Stars, tags and names cannot be read: {problem}")
            return Said()

    @cached_property
    def shelf(self) -> Shelf:
        return Shelf.of(self.db)

    @cached_property
    def listing(self) -> Listing:
        return Listing(self.db, self.said, self.shelf, self.zone)

    def page(self, wanted: Wanted) -> Page:
        """A page of sessions."""
        return self.listing.page(wanted)

    def days(self, listed: Sequence[Listed], by_day: bool = True, style: str = "day") -> tuple[Day, ...]:
        """Sessions as rows; `style` is how moments are shown where they are not put by day."""
        maker = Maker(self.said, self.shelf, self.zone, self.now, chains(self.db, listed, self.said))
        return maker.by_day(listed) if by_day else maker.together(listed, style)
