"""The pages above sessions, and the search over all of them, on disk."""

from pathlib import Path

from unspool.site.address import INDEX
from unspool.site.archive import Shelf, master_page, project_page
from unspool.site.build.disk import encoded, replace
from unspool.site.build.manifest import Manifest, Project
from unspool.site.build.projects import name
from unspool.site.card import Card
from unspool.site.frame import Crumb, Frame
from unspool.site.options import SiteOptions
from unspool.site.search import Listed, Writer
from unspool.site.search.archive import FOLDER as SEARCH

_TOP = Crumb("Sessions", INDEX)


def above(project: Project) -> tuple[Crumb, ...]:
    """The pages above a project's sessions."""
    return (_TOP, Crumb(name(project.path), f"{project.folder}/{INDEX}"))


def shelves(manifest: Manifest) -> list[Shelf]:
    """Every project that has sessions with pages."""
    cards: dict[str, list[tuple[str, Card]]] = {}
    places = {project.folder: project for project in manifest.projects.values()}
    for kept in manifest.sessions.values():
        if kept.card is not None:
            cards.setdefault(manifest.projects[kept.project].folder, []).append((kept.folder, kept.card))
    return [_shelf(places[folder], tuple(found)) for folder, found in cards.items()]


def _shelf(project: Project, cards: tuple[tuple[str, Card], ...]) -> Shelf:
    return Shelf(name(project.path), project.path, project.folder, cards)


def write_missing(site: Path, manifest: Manifest, options: SiteOptions) -> None:
    """Indexes that are not there yet, so that pages below them have somewhere to lead."""
    for project in manifest.projects.values():
        if not (site / project.folder / INDEX).exists():
            _write_project(site, _shelf(project, ()), options)
    if not (site / INDEX).exists():
        _write_master(site, [], options)
    if not (site / SEARCH).exists():
        Writer(site).write()


def write_indexes(site: Path, manifest: Manifest, options: SiteOptions) -> int:
    """All indexes, from what is in place; the number of files that were written."""
    found = shelves(manifest)
    written = sum(_write_project(site, shelf, options) for shelf in found) + _write_master(site, found, options)
    writer = Writer(site)
    for shelf in found:
        for folder, _ in shelf.cards:
            writer.add(Listed(f"{shelf.folder}/{folder}", shelf.name))
    return written + writer.write()


def _write_project(site: Path, shelf: Shelf, options: SiteOptions) -> bool:
    page = project_page(shelf, options, Frame("../", (_TOP,), search=SEARCH))
    return replace(site / shelf.folder / page.path, encoded(page.html))


def _write_master(site: Path, found: list[Shelf], options: SiteOptions) -> bool:
    page = master_page(found, options, Frame(search=SEARCH))
    return replace(site / page.path, encoded(page.html))
