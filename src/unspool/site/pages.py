"""The pages of a session: its index, the conversation cut into pages, branches and subagents on pages of their own.

Pure functions of the session, its figures, the options and the frame: a site on disk and a served app are the same.
"""

from collections.abc import Iterator

from unspool.figures import Figures
from unspool.model import Session
from unspool.site.address import INDEX, Addresses, Chapter
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
    sheet = Sheet(options, frame, session.id)
    first = index_body(scene)
    if options.single_page:
        first += "".join(everything(scene))
    else:
        for chapter in scene.addresses.chapters():
            yield from _chapter(chapter, scene, sheet)
    ways = rail(scene.addresses.live, INDEX)
    yield Page(INDEX, sheet.page(scene.name, first, rail=ways, found=_findable(scene)))


def _chapter(chapter: Chapter, scene: Scene, sheet: Sheet) -> Iterator[Page]:
    """The pages of one chapter; each is made when it is asked for."""
    if chapter.agent is not None and "agents" in scene.options.hide:
        return
    narrator = Narrator(scene, chapter.prefix)
    up = Crumb(scene.name, INDEX)
    for leaf in chapter.leaves:
        here, inside = named(chapter, leaf), body(chapter, leaf, scene, narrator)
        ways = rail(chapter, leaf.path)
        yield Page(leaf.path, sheet.page(f"{here} · {scene.name}", inside, rail=ways, up=up, here=here))


def _findable(scene: Scene) -> str:
    """What a page that has no files beside it can search in: all of its session."""
    if not scene.options.self_contained:
        return ""
    return inline(records(scene.session, scene.addresses, scene.options.hide))
