"""The pages of a session: its index, the conversation cut into pages, branches and subagents on pages of their own.

Pure functions of the session, its figures, the options and the frame: a site on disk and a served app are the same.
"""

from collections.abc import Iterator

from unspool.figures import Figures
from unspool.model import Session
from unspool.site.address import INDEX, Addresses, Chapter, Leaf
from unspool.site.chapters import body, everything, named
from unspool.site.frame import Crumb, Frame, Page
from unspool.site.index import index_body
from unspool.site.options import SiteOptions
from unspool.site.rail import rail
from unspool.site.scene import Scene
from unspool.site.search import inline, records
from unspool.site.sheet import Sheet
from unspool.site.turns import Narrator


def session_pages(
    session: Session, counted: Figures, options: SiteOptions, frame: Frame, addresses: Addresses | None = None
) -> Iterator[Page]:
    """Every page of a session, one at a time; paths are relative to the session's folder. The index comes last.

    `addresses` are the session's under these options, where somebody has them already.
    """
    scene = Scene(session, counted, options, frame, addresses)
    for chapter in () if options.single_page else _chapters(scene):
        for leaf in chapter.leaves:
            yield _told(chapter, leaf, scene)
    yield _index(scene)


def session_page(scene: Scene, path: str) -> Page | None:
    """The page of that name alone, the same as among all; None where the session has none so called."""
    if path == INDEX:
        return _index(scene)
    for chapter in _chapters(scene):
        for leaf in chapter.leaves:
            if leaf.path == path:
                return _told(chapter, leaf, scene)
    return None


def _chapters(scene: Scene) -> Iterator[Chapter]:
    """The chapters that have pages of their own."""
    for chapter in scene.addresses.chapters():
        if chapter.agent is None or "agents" not in scene.options.hide:
            yield chapter


def _index(scene: Scene) -> Page:
    first = index_body(scene)
    if scene.options.single_page:
        first += "".join(everything(scene))
    ways = rail(scene.addresses.live, INDEX)
    return Page(INDEX, _sheet(scene).page(scene.name, first, rail=ways, found=_findable(scene)))


def _told(chapter: Chapter, leaf: Leaf, scene: Scene) -> Page:
    """A page of turns; its narrator begins with it, so that it is the same whoever asks for it first."""
    here, inside = named(chapter, leaf), body(chapter, leaf, scene, Narrator(scene, chapter.prefix))
    ways, up = rail(chapter, leaf.path), Crumb(scene.name, INDEX)
    return Page(leaf.path, _sheet(scene).page(f"{here} · {scene.name}", inside, rail=ways, up=up, here=here))


def _sheet(scene: Scene) -> Sheet:
    return Sheet(scene.options, scene.frame, scene.session.id)


def _findable(scene: Scene) -> str:
    """What a page that has no files beside it can search in: all of its session."""
    if not scene.options.self_contained:
        return ""
    return inline(records(scene.session, scene.addresses, scene.options.hide))
