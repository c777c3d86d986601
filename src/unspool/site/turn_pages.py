"""The pages of a session: its turns, spread over as many pages as they need."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from unspool import human
from unspool.figures import Figures
from unspool.model import Agent, Prompt, Session, Turn
from unspool.prices import Cost
from unspool.render.blocks import problem_fold, prompt_nodes, prompt_notes
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.elements import HtmlOptions, time_tag
from unspool.render.html.nodes import nodes_html
from unspool.render.view import View
from unspool.site import page_template
from unspool.site import session_navigation as ways
from unspool.site.address import INDEX, Addresses, Chapter, Leaf, agent_anchor
from unspool.site.block_layout import agent_summary, agent_title, layout_blocks
from unspool.site.build.disk import encode_html, write_if_changed
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, HtmlPage, PageTemplate
from unspool.site.search_files import inline_records, session_files
from unspool.site.search_records import session_records
from unspool.site.session_index import index_body
from unspool.site.session_navigation import prompt_rail
from unspool.site.session_view import SessionView, format_cost

_FULL = View(full=True)


class TurnRenderer:
    """Tells turns of one chapter: how its anchors begin, whose prompts they are, how deep it is."""

    def __init__(self, scene: SessionView, prefix: str = "", agent: Agent | None = None, depth: int = 0) -> None:
        self._scene, self._prefix, self._agent, self._depth = scene, prefix, agent, depth
        self._day = ""

    def turn(self, turn: Turn) -> str:
        scene, level = self._scene, 3 if self._agent else 2
        paint = scene.paint(turn.started)
        name = f"Prompt {turn.number}" if turn.prompt else "Before the first prompt"
        if self._prefix.startswith(("branch-", "part-")):  # several of them may be told on one page
            name = f"{name}, {self._prefix.replace('-', ' ').rstrip('.')}"
        asked = self._prompt(turn, turn.prompt, paint, level) if turn.prompt else self._opening(turn, level)
        inside = (
            f"{asked}{layout_blocks(turn.blocks, scene, paint, self._tell)}{turn_footer(turn, scene.bill.of(turn))}"
        )
        return html.turn(f"{self._prefix}turn-{turn.number}", "" if self._agent else name, inside)

    def _opening(self, turn: Turn, level: int) -> str:
        return html.opening_head(level, self._when(turn.started)) if turn.blocks else ""

    def _prompt(self, turn: Turn, prompt: Prompt, paint: HtmlOptions, level: int) -> str:
        anchor = self._scene.addresses.anchor(prompt)
        who, number = ("Asked", 0) if self._agent else ("You", turn.number)
        link = elements.link_around(f"#{anchor}", self._when(prompt.time)) if prompt.time else ""
        head = html.prompt_head(level, who, number, prompt_notes(prompt), link)
        return html.prompt(anchor, head, nodes_html(prompt_nodes(prompt), paint))

    def _when(self, time: datetime | None) -> str:
        """The clock; with the day where that is new."""
        day = f"{time:%j %Y}" if time else ""
        new, self._day = day != self._day, day
        return time_tag(time, "" if new else "clock")

    def _tell(self, agent: Agent) -> str | None:
        if self._scene.in_place(agent, self._depth):
            return render_agent(agent, self._scene, self._depth + 1)
        self._scene.postpone(agent)
        return None


def render_agent(agent: Agent, scene: SessionView, depth: int = 0) -> str:
    """All of a subagent's conversation, for a place inside a page."""
    return agent_turns(agent, agent.session.turns, scene, depth) + agent_leftovers(agent, scene, depth)


def agent_turns(agent: Agent, turns: Iterable[Turn], scene: SessionView, depth: int = 0) -> str:
    """Turns of a subagent. Those that are told in place are made once for both places, from the first one on."""
    narrator = TurnRenderer(scene, scene.addresses.agents[agent.id].prefix, agent, depth)
    both = scene.in_place(agent, 0)
    kept = scene.told if both else {}
    for turn in agent.session.turns if both else turns:
        if id(turn) not in kept:
            kept[id(turn)] = narrator.turn(turn)
    return "".join(kept[id(turn)] for turn in turns)


def agent_leftovers(agent: Agent, scene: SessionView, depth: int = 0) -> str:
    """What a subagent left behind and what of its log could not be read."""
    parts: list[str] = []
    for branch in agent.session.branches:
        prefix = f"{scene.addresses.agents[agent.id].prefix}branch-{branch.number}."
        narrator = TurnRenderer(scene, prefix, agent, depth)
        inside = "".join(map(narrator.turn, branch.turns))
        summary = f"Abandoned after turn {branch.after} · {human.count(len(branch.turns), 'turn')}"
        parts.append(elements.card(summary, inside))
    return "".join(parts) + nodes_html(
        (problem_fold(problem, _FULL) for problem in agent.session.problems), HtmlOptions()
    )


def turn_footer(turn: Turn, cost: Cost) -> str:
    """Time, tokens and money of a turn."""
    used = turn.usage
    if turn.prompt is None and not used.total:
        return ""
    return html.turn_foot(
        (
            (human.elapsed(turn.started, turn.ended), ""),
            _tokens(used.input, "in"),
            _tokens(used.output, "out", "at least " if used.floor else ""),
            _tokens(used.cache_read, "cached"),
            _tokens(used.cache_write, "to cache"),
            (format_cost(cost), _unpriced(cost)),
            (f"{human.tokens(turn.context)} in the window" if turn.context else "", f"{turn.context:,} tokens"),
        )
    )


def _tokens(number: int, name: str, least: str = "") -> tuple[str, str]:
    return (f"{least}{human.tokens(number)} {name}", f"{number:,} tokens") if number else ("", "")


def _unpriced(cost: Cost) -> str:
    """Which models have no price."""
    names = ", ".join(name for name, _ in cost.unpriced)
    return f"without {names}, which has no known price" if names else f"${cost.amount:f}" if cost.amount else ""


def chapter_title(chapter: Chapter, leaf: Leaf) -> str:
    """What a page of a chapter is called."""
    if chapter.agent is not None:
        return agent_title(chapter.agent)
    return f"Branch {chapter.branch.number}" if chapter.branch is not None else prompt_range(leaf)


def chapter_body(chapter: Chapter, leaf: Leaf, scene: SessionView, narrator: TurnRenderer) -> str:
    """A page of a chapter: its head, its turns, and the way to other pages above and below."""
    if chapter.agent is not None:
        return _agent(chapter, leaf, chapter.agent, scene)
    what, switch = prompt_range(leaf), ""
    if chapter.branch is not None:
        what = f"Branch {chapter.branch.number}: {what}"
        switch = ways.branch_switcher(scene, chapter.branch.parent, chapter.branch.after, chapter.branch.number)
    return with_pagers(
        elements.page_title(scene.name, what) + switch,
        chapter,
        leaf,
        "".join(render_turns(chapter, leaf, scene, narrator)),
    )


def _agent(chapter: Chapter, leaf: Leaf, agent: Agent, scene: SessionView) -> str:
    turns = agent_turns(agent, leaf.turns, scene) + (agent_leftovers(agent, scene) if leaf == chapter.leaves[0] else "")
    head, inside = html.agent_page(agent_anchor(agent), agent_title(agent), agent_summary(agent, scene), turns)
    return with_pagers(head, chapter, leaf, inside)


def with_pagers(head: str, chapter: Chapter, leaf: Leaf, turns: str) -> str:
    """A page of turns, with the way to the others above and below."""
    above, below = ways.pagers(chapter, leaf.path)
    return f"{head}{above}{turns}{below}"


def prompt_range(leaf: Leaf) -> str:
    """Which prompts a page holds."""
    numbers = [turn.number for turn in leaf.turns if turn.prompt is not None]
    if not numbers:
        return "Conversation"
    first, last = numbers[0], numbers[-1]
    return f"Prompts {first} to {last}" if last > first else f"Prompt {first}"


def render_turns(chapter: Chapter, leaf: Leaf, scene: SessionView, narrator: TurnRenderer) -> Iterator[str]:
    """The turns of a page, and where branches leave them, the ways to go on."""
    own = chapter.branch.number if chapter.branch is not None else 0
    first_page, last_page = leaf == chapter.leaves[0], leaf == chapter.leaves[-1]
    numbers = [turn.number for turn in leaf.turns]
    afters = sorted({branch.after for branch in scene.leaving[own]})
    if first_page:
        yield from (
            ways.branch_switcher(scene, own, after, own) for after in afters if not numbers or after < numbers[0]
        )
    for turn in leaf.turns:
        yield narrator.turn(turn)
        if turn.number in afters:
            yield ways.branch_switcher(scene, own, turn.number, own)
    if last_page and numbers:
        yield from (ways.branch_switcher(scene, own, after, own) for after in afters if after > numbers[-1])


def single_page_body(scene: SessionView) -> Iterator[str]:
    """All turns of a single page: the live conversation, branches, subagents that no call accounts for."""
    (leaf,) = scene.addresses.live.leaves
    yield elements.label("Conversation", "conversation")
    yield from render_turns(scene.addresses.live, leaf, scene, TurnRenderer(scene))
    for number, chapter in scene.addresses.branches.items():
        (leaf,) = chapter.leaves
        turns = "".join(render_turns(chapter, leaf, scene, TurnRenderer(scene, chapter.prefix)))
        summary = f"Branch {number} · {human.count(len(leaf.turns), 'turn')}"
        yield elements.card(summary, turns, anchor=f"branch-{number}")
    waiting = list(scene.untied) if "agents" not in scene.options.hide else []
    while waiting or scene.late:
        agent = waiting.pop(0) if waiting else scene.late.pop(0)
        yield html.agent_card(agent_anchor(agent), agent_title(agent), render_agent(agent, scene))


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
    for name, data in () if options.self_contained else page_template.site_assets():
        write_if_changed(folder / name, data)
    for name, data in session_folder(session, counted, options, Frame()):
        write_if_changed(folder / name, data)
    return folder / INDEX


def write_file(session: Session, counted: Figures, options: SiteOptions, file: Path) -> Path:
    """Write the session as one file, which needs nothing beside it."""
    (page,) = session_pages(session, counted, options, Frame())
    write_if_changed(file, encode_html(page.html))
    return file
