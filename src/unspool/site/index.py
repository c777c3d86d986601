"""The first page of a session: what it is in figures, what happened when, what it left behind."""

from collections.abc import Iterable, Iterator

from unspool import human
from unspool.doc import Heading, Node
from unspool.export.html import Paint, bits, fragment, listed
from unspool.model import Agent, FileChange, Usage
from unspool.site.rail import pager_links
from unspool.site.scene import Scene
from unspool.site.statistics import head
from unspool.site.subagents import gist, title
from unspool.site.timeline import timeline
from unspool.transcript.remains import tail
from unspool.transcript.view import View

_FULL = View(full=True)
_RAW = 200_000
"""Bytes of unreadable lines that are shown whole; beyond them each is cut."""


def index_body(scene: Scene) -> str:
    """All of an index page."""
    happened = timeline(scene)
    if scene.options.single_page:
        happened = bits.card("Timeline", happened) if happened else ""
    elif happened:
        happened = f"{pager_links(scene.addresses.live)}{bits.label('Timeline')}{happened}"
    return head(scene) + scene.frame.inset + happened + "".join(_rest(scene))


def _rest(scene: Scene) -> Iterator[str]:
    yield _loose(scene)
    yield _files(scene.counted.files)
    yield _models(scene)
    yield from _remains(scene)


def _loose(scene: Scene) -> str:
    """Subagents that the timeline cannot show, because no call in the log accounts for them."""
    if not scene.untied or scene.options.single_page:
        return ""
    rows = listed.events(_agent(agent, scene) for agent in scene.untied)
    return bits.card("Subagents that no call accounts for", rows, opened=True)


def _agent(agent: Agent, scene: Scene) -> str:
    href = scene.addresses.agents[agent.id].first
    return listed.agent(f"{bits.lead(href, title(agent))} {bits.quiet(gist(agent, scene))}")


def _files(files: Iterable[FileChange]) -> str:
    changed = sorted((file for file in files if file.writes), key=lambda file: file.path)
    if not changed:
        return ""
    table = listed.files((file.path, file.created, file.added, file.removed) for file in changed)
    return bits.card(f"{human.count(len(changed), 'file')} changed", table)


def _models(scene: Scene) -> str:
    """Tokens by model."""
    used = [call for call in scene.counted.models if call.usage.total]
    if not used:
        return ""
    return bits.card("Tokens by model", listed.models((call.model, _tokens(call.usage)) for call in used))


def _tokens(used: Usage) -> list[tuple[str, int]]:
    numbers = (used.input, used.output, used.cache_read, used.cache_write)
    return [(human.tokens(number), number) for number in numbers]


def _remains(scene: Scene) -> Iterator[str]:
    """The todo list as it ended, the lines that could not be read, where all other lines went."""
    raw = sum(len(problem.raw) for problem in scene.session.problems)
    section: list[Node] = []
    for node in (*tail(scene.session, _FULL if raw <= _RAW else View()), None):
        if (node is None or isinstance(node, Heading)) and section:
            first, *rest = section
            if isinstance(first, Heading) and not (first.kind == "todos" and "todos" in scene.options.hide):
                name = human.joined(first.text, *first.notes)
                yield bits.card(name, fragment(rest, Paint()), opened=first.kind != "lines", anchor=first.kind)
            section = []
        if node is not None:
            section.append(node)
