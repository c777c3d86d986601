"""One session's pages on disk: in a folder of its own, or as one file."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.figures import Figures
from unspool.model import Session
from unspool.site import look
from unspool.site.address import INDEX, Addresses
from unspool.site.build.disk import encoded, replace
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.site.pages import session_pages
from unspool.site.search import records, session_files


def session_folder(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame
) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file of a session's folder; its first page comes last."""
    addresses = Addresses(session, options)
    if not options.self_contained or frame.search:
        yield from search_files(session, options, addresses)
    for page in session_pages(session, counted, options, frame, addresses):
        yield page.path, encoded(page.html)


def search_files(session: Session, options: SiteOptions, addresses: Addresses) -> Iterator[tuple[str, bytes]]:
    """What the search of a session's pages loads."""
    if options.self_contained:  # found from other pages too, so linked by page
        addresses = Addresses(session, msgspec.structs.replace(options, self_contained=False))
    return session_files(records(session, addresses, options.hide))


def write_folder(session: Session, counted: Figures, options: SiteOptions, folder: Path) -> Path:
    """Put the pages into a folder, which may hold other things; gives the first page."""
    for name, data in () if options.self_contained else look.assets():
        replace(folder / name, data)
    for name, data in session_folder(session, counted, options, Frame()):
        replace(folder / name, data)
    return folder / INDEX


def write_file(session: Session, counted: Figures, options: SiteOptions, file: Path) -> Path:
    """Write the session as one file, which needs nothing beside it."""
    (page,) = session_pages(session, counted, options, Frame())
    replace(file, encoded(page.html))
    return file
