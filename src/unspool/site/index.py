"""The first page of a session: what it is in figures, what happened when, what it left behind."""

from collections.abc import Iterable, Iterator

from unspool import human
from unspool.doc import Heading, Node
from unspool.export.html import content, fragment
from unspool.export.html.paint import Paint
from unspool.model import Agent, FileChange
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
        happened = (
            f'<details class="card"><summary>Timeline</summary><div>{happened}</div></details>' if happened else ""
        )
    elif happened:
        happened = f'{pager_links(scene.addresses.live)}<h2 class="label">Timeline</h2>{happened}'
    return head(scene) + happened + "".join(_rest(scene))


def _rest(scene: Scene) -> Iterator[str]:
    yield _loose(scene)
    yield _files(scene.counted.files)
    yield _models(scene)
    yield from _remains(scene)


def _loose(scene: Scene) -> str:
    """Subagents that the timeline cannot show, because no call in the log accounts for them."""
    if not scene.untied or scene.options.single_page:
        return ""
    rows = "".join(_agent(agent, scene) for agent in scene.untied)
    return _card("Subagents that no call accounts for", f'<ul class="events">{rows}</ul>', opened=True)


def _agent(agent: Agent, scene: Scene) -> str:
    href = scene.addresses.agents[agent.id].first
    words = f'<a href="{href}">{content(title(agent))}</a> <span class="quiet">{content(gist(agent, scene))}</span>'
    return f'<li class="agents"><span class="kind">subagent</span><span>{words}</span></li>'


def _files(files: Iterable[FileChange]) -> str:
    changed = sorted((file for file in files if file.writes), key=lambda file: file.path)
    if not changed:
        return ""
    rows = "".join(
        f'<tr><td class="mono">{content(file.path)}</td><td class="end">{"yes" if file.created else ""}</td>'
        f'<td class="end">+{file.added:,}</td><td class="end">−{file.removed:,}</td></tr>'
        for file in changed
    )
    heads = '<tr><th>File</th><th>New</th><th class="end">Lines in</th><th class="end">Lines out</th></tr>'
    table = f'<div class="table"><table><thead>{heads}</thead><tbody>{rows}</tbody></table></div>'
    return _card(f"{human.count(len(changed), 'file')} changed", table)


def _models(scene: Scene) -> str:
    """Tokens by model."""
    used = [call for call in scene.counted.models if call.usage.total]
    if not used:
        return ""
    rows = "".join(
        f"<tr><td>{content(call.model)}</td>"
        + "".join(
            f'<td class="end num" title="{number:,}">{human.tokens(number)}</td>'
            for number in (call.usage.input, call.usage.output, call.usage.cache_read, call.usage.cache_write)
        )
        + "</tr>"
        for call in used
    )
    names = "".join(f'<th class="end">{name}</th>' for name in ("In", "Out", "From cache", "To cache"))
    table = (
        f'<div class="table"><table><thead><tr><th>Model</th>{names}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
    return _card("Tokens by model", table)


def _remains(scene: Scene) -> Iterator[str]:
    """The todo list as it ended, the lines that could not be read, where all other lines went."""
    raw = sum(len(problem.raw) for problem in scene.session.problems)
    section: list[Node] = []
    for node in (*tail(scene.session, _FULL if raw <= _RAW else View()), None):
        if (node is None or isinstance(node, Heading)) and section:
            first, *rest = section
            if isinstance(first, Heading) and not (first.kind == "todos" and "todos" in scene.options.hide):
                name = human.joined(first.text, *first.notes)
                yield _card(name, fragment(rest, Paint()), opened=first.kind != "lines", anchor=first.kind)
            section = []
        if node is not None:
            section.append(node)


def _card(name: str, inside: str, opened: bool = False, anchor: str = "") -> str:
    mark = f' id="{anchor}"' if anchor else ""
    is_open = " open" if opened else ""
    return f'<details class="card"{mark}{is_open}><summary>{content(name)}</summary><div>{inside}</div></details>'
