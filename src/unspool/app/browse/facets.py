"""Ways to narrow a list: links beside it, each with how many sessions it leads to."""

from collections.abc import Iterator
from typing import NamedTuple

from unspool.app.browse.listing import Page
from unspool.app.browse.scene import Scene
from unspool.app.browse.wanted import ANY, KINDS, Wanted

_PROJECTS = 12


class Way(NamedTuple):
    """A link to a narrower, or another, list."""

    text: str
    href: str
    number: int | None = None
    here: bool = False
    about: str = ""


class Group(NamedTuple):
    """Ways of one sort."""

    name: str
    ways: tuple[Way, ...]


def groups(scene: Scene, wanted: Wanted, page: Page) -> tuple[Group, ...]:
    """Projects, kinds, tags and saved filters, those that have any."""
    every = (
        Group("By project", tuple(_projects(scene, wanted))),
        Group("By kind", tuple(_kinds(wanted, page))),
        Group("Marked", tuple(_marked(scene, wanted))),
    )
    return tuple(group for group in every if group.ways)


def _projects(scene: Scene, wanted: Wanted) -> Iterator[Way]:
    shown = [one for one in scene.shelf.listed() if one.path not in scene.said.hidden]
    chosen = set(scene.shelf.paths(wanted.project)) if wanted.project else set[str]()
    listed = [one for at, one in enumerate(shown) if at < _PROJECTS or one.path in chosen]
    yield Way("All", _to(wanted, project=""), sum(one.sessions for one in shown), not wanted.project)
    for one in listed:
        yield Way(
            scene.shelf.label(one.path), _to(wanted, project=one.slug), one.sessions, one.path in chosen, one.path
        )
    if len(listed) < len(scene.shelf.projects):
        yield Way("All projects …", "/projects", len(scene.shelf.projects))


def _kinds(wanted: Wanted, page: Page) -> Iterator[Way]:
    if len(page.kinds) < 2 and not wanted.kind:
        return
    for kind in KINDS:
        if kind in page.kinds:
            here = wanted.kind == kind
            yield Way(kind, _to(wanted, kind="" if here else kind), page.kinds[kind], here)
    if {"empty", "stub"} & set(page.kinds):
        here = wanted.kind == ANY
        yield Way("all kinds", _to(wanted, kind="" if here else ANY), sum(page.kinds.values()), here)


def _marked(scene: Scene, wanted: Wanted) -> Iterator[Way]:
    starred = sum(mark.starred for mark in scene.said.marks.values())
    if starred or wanted.starred:
        yield Way("★ starred", _to(wanted, starred="" if wanted.starred else "1"), starred, bool(wanted.starred))
    for tag, number in scene.said.tags.items():
        here = wanted.tag.casefold() == tag.casefold()
        yield Way(f"#{tag}", _to(wanted, tag="" if here else tag), number, here)


def _to(wanted: Wanted, **changes: str) -> str:
    query = wanted.address(**changes)
    return f"/sessions?{query}" if query else "/sessions"
