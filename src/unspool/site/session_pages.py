"""All pages of a session, one page of it, and its folder or file on disk."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.figures import Figures
from unspool.model import Session
from unspool.site import assets
from unspool.site.address import INDEX, Addresses, Chapter, Leaf
from unspool.site.build.disk import encode_html, write_if_changed
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, HtmlPage, PageTemplate
from unspool.site.search_files import inline_records, session_files
from unspool.site.search_records import session_records
from unspool.site.session_index import index_body
from unspool.site.session_navigation import prompt_rail
from unspool.site.session_view import SessionView
from unspool.site.turn_pages import TurnRenderer, chapter_body, chapter_title, single_page_body


def session_pages(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame, addresses: Addresses | None = None
) -> Iterator[HtmlPage]:
    """Every page of a session, one at a time; paths are relative to the session's folder. The index comes last.

    `addresses` are the session's under these options, where somebody has them already.
    """
    scene = SessionView(session, counted, options, frame, addresses)
    for chapter in () if options.single_page else _chapters(scene):
        for leaf in chapter.leaves:
            yield _told(chapter, leaf, scene)
    yield _index(scene)


def session_page(scene: SessionView, path: str) -> HtmlPage | None:
    """The page of that name alone, the same as among all; None where the session has none so called."""
    if path == INDEX:
        return _index(scene)
    for chapter in _chapters(scene):
        for leaf in chapter.leaves:
            if leaf.path == path:
                return _told(chapter, leaf, scene)
    return None


def _chapters(scene: SessionView) -> Iterator[Chapter]:
    """The chapters that have pages of their own."""
    for chapter in scene.addresses.chapters():
        if chapter.agent is None or "agents" not in scene.options.hide:
            yield chapter


def _index(scene: SessionView) -> HtmlPage:
    first = index_body(scene)
    if scene.options.single_page:
        first += "".join(single_page_body(scene))
    ways = prompt_rail(scene.addresses.live, INDEX)
    return HtmlPage(INDEX, _sheet(scene).page(scene.name, first, rail=ways, found=_findable(scene)))


def _told(chapter: Chapter, leaf: Leaf, scene: SessionView) -> HtmlPage:
    """A page of turns; its narrator begins with it, so that it is the same whoever asks for it first."""
    here, inside = chapter_title(chapter, leaf), chapter_body(chapter, leaf, scene, TurnRenderer(scene, chapter.prefix))
    ways, up = prompt_rail(chapter, leaf.path), Crumb(scene.name, INDEX)
    return HtmlPage(leaf.path, _sheet(scene).page(f"{here} · {scene.name}", inside, rail=ways, up=up, here=here))


def _sheet(scene: SessionView) -> PageTemplate:
    return PageTemplate(scene.options, scene.frame, scene.session.id)


def _findable(scene: SessionView) -> str:
    """What a page that has no files beside it can search in: all of its session."""
    if not scene.options.self_contained:
        return ""
    return inline_records(session_records(scene.session, scene.addresses, scene.options.hide))


def session_folder(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame
) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file of a session's folder; its first page comes last."""
    addresses = Addresses(session, options)
    if not options.self_contained or frame.search:
        yield from search_files(session, options, addresses)
    for page in session_pages(session, counted, options, frame, addresses):
        yield page.path, encode_html(page.html)


def search_files(session: Session, options: SiteOptions, addresses: Addresses) -> Iterator[tuple[str, bytes]]:
    """What the search of a session's pages loads."""
    if options.self_contained:  # found from other pages too, so linked by page
        addresses = Addresses(session, msgspec.structs.replace(options, self_contained=False))
    return session_files(session_records(session, addresses, options.hide))


def write_folder(session: Session, counted: Figures, options: SiteOptions, folder: Path) -> Path:
    """Put the pages into a folder, which may hold other things; gives the first page."""
    for name, data in () if options.self_contained else assets.site_assets():
        write_if_changed(folder / name, data)
    for name, data in session_folder(session, counted, options, Frame()):
        write_if_changed(folder / name, data)
    return folder / INDEX


def write_file(session: Session, counted: Figures, options: SiteOptions, file: Path) -> Path:
    """Write the session as one file, which needs nothing beside it."""
    (page,) = session_pages(session, counted, options, Frame())
    write_if_changed(file, encode_html(page.html))
    return file
