"""Where a page lies: what is above it, and how it addresses the site's shared files and other sessions.

Page functions are pure functions of what they show and of a frame, so a folder on disk and a served app can both
use them: only the frame differs.
"""

from typing import NamedTuple

import msgspec

from unspool.prices import PriceTable
from unspool.site.look import Dress


class Crumb(NamedTuple):
    """One step of the way from the site's top to the page."""

    text: str
    href: str
    """Relative to the site's root."""


class Preview(NamedTuple):
    """What a page that is shown to others says of itself: to programs that show a link, and at its foot."""

    description: str
    picture: str = ""
    """Address of a picture; empty where there is none."""
    address: str = ""
    """Where the session's first page will be found."""
    note: str = ""
    data: str = ""
    """JSON that comes with the first page."""


class Page(NamedTuple):
    """A page to be written or served."""

    path: str
    """Relative to the folder that the page's maker speaks of: the session's, or the site's root."""
    html: str


class Frame(msgspec.Struct, frozen=True):
    """Where a page lies in its site."""

    root: str = ""
    """What leads from the page's folder to the site's root: empty, or `../` for each folder."""
    crumbs: tuple[Crumb, ...] = ()
    """The pages above, the topmost first; the page itself is not among them."""
    sessions: dict[str, str] = {}
    """Addresses of other sessions of this site, relative to the root, by id."""
    search: str = ""
    """Folder of the search index, relative to the root; empty where there is none."""
    prices: PriceTable | None = None
    """What tokens cost; the built-in list where none is given."""
    ways: tuple[Crumb, ...] = ()
    """Links to other parts, at the top of the page; their addresses are relative to the root."""
    dress: Dress | None = None
    """What the page wears; the site's own styles and scripts where none is given."""
    inset: str = ""
    """Markup that stands below the head of a session's first page."""
    preview: Preview | None = None
    """What the pages say of themselves, where they are made for others."""
