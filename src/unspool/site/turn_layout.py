"""Turns as HTML: the prompt, the items of its answer in boxes and folds, subagents in place, and what it took."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from unspool import human
from unspool.doc import Fold, Node
from unspool.figures import calls_of
from unspool.model import Agent, Image, Notice, Prompt, Thinking, ToolCall, Turn
from unspool.model.tool_input import paths_of
from unspool.prices import Cost
from unspool.render.blocks import problem_fold, prompt_nodes, prompt_notes
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.elements import HtmlOptions, time_tag
from unspool.render.html.nodes import nodes_html
from unspool.render.notices import run_summary
from unspool.render.transcript import earlier_nodes, opening_name
from unspool.render.turns import AgentItem, TurnItem, copied_summary, earlier_summary, turn_items
from unspool.site.address import agent_anchor
from unspool.site.long_notices import begin_long_notice
from unspool.site.session_view import SessionView, format_cost
from unspool.site.summaries import model_name


class _Piece(NamedTuple):
    """Markup, and how it stands: rows in a box with their neighbours, quiet pieces folded with theirs."""

    html: str
    place: Literal["alone", "row", "quiet"] = "alone"
    name: str = ""
    bare: bool = False
    """Whether a quiet piece is a line by itself, which needs no folding away."""
    looked: ToolCall | None = None
    """The call that it is the row of, where that only looked around and found something."""


class TurnRenderer:
    """Renders turns of one chapter, in order: how its anchors begin, whose prompts they are, how deep it is."""

    def __init__(self, view: SessionView, prefix: str = "", agent: Agent | None = None, depth: int = 0) -> None:
        self._view, self._prefix, self._agent, self._depth = view, prefix, agent, depth
        self._context = msgspec.structs.replace(view.context, depth=depth)
        self._options = HtmlOptions()
        self._day = ""
        self._told: set[str] = set()
        """Messages whose tokens stand somewhere."""

    def turn(self, turn: Turn) -> str:
        self._options = self._view.html_options(turn.started)
        name = f"Prompt {turn.number}" if turn.prompt else opening_name(turn)
        if self._prefix.startswith(("branch-", "part-")):  # several of them may stand on one page
            name = f"{name}, {self._prefix.replace('-', ' ').rstrip('.')}"
        head = ""
        if turn.prompt is not None:
            head = self._prompt(0 if self._agent else turn.number, turn.prompt)
        elif turn.blocks:
            head = html.opening_head(3 if self._agent else 2, opening_name(turn), self._clock(turn.started))
        inside = head + self._items(turn) + turn_footer(turn, self._view.costs.of(turn))
        return html.turn(f"{self._prefix}turn-{turn.number}", "" if self._agent else name, inside)

    def _prompt(self, number: int, prompt: Prompt) -> str:
        anchor = self._view.addresses.anchor(prompt)
        link = elements.link_around(f"#{anchor}", self._clock(prompt.time)) if prompt.time else ""
        return html.prompt(anchor, number, prompt_notes(prompt), link, nodes_html(prompt_nodes(prompt), self._options))

    def _clock(self, time: datetime | None) -> str:
        """The time of day; with the day where that is new."""
        day = f"{time:%j %Y}" if time else ""
        new, self._day = day != self._day, day
        return time_tag(time, "" if new else "clock")

    def _items(self, turn: Turn) -> str:
        pieces = (piece for item in turn_items(turn, self._context) for piece in self._pieces(item))
        parts: list[str] = []
        for alone, group in groupby(pieces, key=lambda piece: piece.place == "alone"):
            run = list(group)
            inside = "".join(piece.html for piece in run) if alone else "".join(_rows(run))
            parts.append(elements.div("calls", inside) if any(piece.place == "row" for piece in run) else inside)
        return "".join(parts)

    def _pieces(self, item: TurnItem) -> Iterator[_Piece]:
        if item.together:
            yield _Piece(html.group_head(item.together), "row")
        piece = self._piece(item, self._view.addresses.anchor(item.block))
        words = self._message_tokens(getattr(item.block, "message", "")) if piece.place != "quiet" else ""
        yield piece._replace(html=html.with_tokens(piece.html, words)) if words else piece
        for agent in item.agents:
            yield _Piece(self._agent_row(agent), "row")
        if isinstance(item.block, ToolCall) and (cards := self._outcome_cards(item.block.call_id)):
            yield _Piece(cards)

    def _message_tokens(self, message: str) -> str:
        """What a message took, at the first of its blocks."""
        took = self._view.costs.of_message(message)
        if took is None or message in self._told:
            return ""
        self._told.add(message)
        least = "≥" if took.floor else ""
        window = f"{human.tokens(took.context)} window" if took.context else ""
        return human.joined(window, f"{least}{human.tokens(took.output)} out", format_cost(took.cost))

    def _piece(self, item: TurnItem, anchor: str) -> _Piece:
        first = item.nodes[0]
        match item.place:
            case "answer":
                return _Piece(html.answer(anchor, self._speaker(item, anchor), nodes_html(item.nodes, self._options)))
            case "divider":
                return _Piece(self._divider(item, anchor))
            case "card" if isinstance(item.block, Image):
                return _Piece(html.block_part(anchor, "image", nodes_html(item.nodes, self._options)))
            case "card" if item.is_todo_list and isinstance(first, Fold):
                return _Piece(html.todo_box(anchor, first, nodes_html(first.children, self._options)))
            case "quiet" if isinstance(item.block, Thinking) and isinstance(first, Fold):
                line = html.block_line(anchor, "thinking", f"Thinking · {first.outcome}")
                return _Piece(line, "quiet", item.name, bare=True)
        nodes = begin_long_notice(item, anchor, self._view) if item.place == "quiet" else item.nodes
        call = item.block if isinstance(item.block, ToolCall) else None
        made = nodes_html(_anchored(nodes, anchor, opened=call is not None and call.end == "failed"), self._options)
        if item.place == "card" and not isinstance(item.block, Thinking):
            return _Piece(made)
        looked = call is not None and call.role in _LOOKS and call.end == "ok" and not item.agents
        place = "row" if item.place == "card" else item.place
        return _Piece(made, place, item.name, looked=call if looked else None)

    def _speaker(self, item: TurnItem, anchor: str) -> str:
        """Who speaks, where that is new."""
        if not item.model:
            return ""
        time = item.block.time
        link = elements.link_around(f"#{anchor}", time_tag(time, "clock")) if time else ""
        return html.answer_head(self._view.speaker, model_name(item.model), link)

    def _divider(self, item: TurnItem, anchor: str) -> str:
        """A line across the conversation, and below it what more is known."""
        notice = item.block
        first, *rest = item.nodes
        bad = False
        if isinstance(first, Fold):
            bad, line = True, first.summary
            more = isinstance(notice, Notice) and (notice.facts or len(notice.text) > 80)
            if more and first.children:
                rest = [Fold("notice", "What the log says of it", "", "quiet", children=first.children)]
        else:
            line = human.joined(getattr(first, "text", ""), *getattr(first, "notes", ()))
        return html.block_part(anchor, "notice", html.divider(line, bad=bad) + nodes_html(rest, self._options))

    def _outcome_cards(self, call_id: str) -> str:
        """Cards of the commits, pushes and pull requests that a call made."""
        if not call_id:
            return ""
        cards = [
            elements.commit_card(commit.hash, commit.message, commit.branch, self._options)
            for commit in self._view.commits.get(call_id, ())
        ]
        for push in self._view.pushes.get(call_id, ()):
            name = f"Pull request #{push.number}" if push.kind == "pull-request" else "Pushed"
            cards.append(
                html.push_card(elements.link(push.url, elements.content(name)), push.branch or push.repository)
            )
        return "".join(cards)

    def _agent_row(self, item: AgentItem) -> str:
        agent, view = item.agent, self._view
        single, href = view.options.single_page, view.agent_href(agent)
        title, summary = agent_title(agent), agent_summary(agent, view)
        if item.place == "here":
            inside = render_agent(agent, view, self._depth + 1)
            return html.agent_row(agent_anchor(agent), title, summary, "" if single else href, inside)
        if single and item.place == "later":
            view.late.append(agent)
        # Its anchor is where its conversation is, which on a single page is elsewhere on the page.
        anchor = "" if single or item.place == "again" else agent_anchor(agent)
        return html.agent_link(anchor, href, title, summary)


def _anchored(nodes: tuple[Node, ...], anchor: str, *, opened: bool = False) -> tuple[Node, ...]:
    """The nodes with the anchor on the first, if that is a fold; `opened`: it stands open, for something went wrong."""
    first, *rest = nodes
    if not isinstance(first, Fold):
        return nodes
    return (msgspec.structs.replace(first, anchor=anchor, open=first.open or opened), *rest)


_LOOKS = {"read": "read", "search": "searched", "web": "looked up"}
_MANY_LOOKS = 3


def _looks_joined(run: list[_Piece]) -> Iterator[_Piece]:
    """The pieces, with many that only looked around, one after the other, in one row."""
    for looked, group in groupby(run, key=lambda piece: piece.looked is not None):
        pieces = list(group)
        if not looked or len(pieces) < _MANY_LOOKS:
            yield from pieces
            continue
        calls = [piece.looked for piece in pieces if piece.looked is not None]
        answers = [call.result.time for call in calls if call.result is not None and call.result.time is not None]
        took = human.elapsed(calls[0].time, answers[-1]) if answers else ""
        outcome = human.joined(human.count(len(calls), "call"), took)
        yield _Piece(html.looked_row(looked_words(calls), outcome, "".join(piece.html for piece in pieces)), "row")


def looked_words(calls: Sequence[ToolCall]) -> str:
    """Read 4 files, searched twice, looked up 1 page."""
    counts = Counter(_LOOKS[call.role] for call in calls)
    files = len({path for call in calls if call.role == "read" for path in paths_of(call)}) or counts["read"]
    times = {1: "once", 2: "twice"}.get(counts["searched"], f"{counts['searched']} times")
    said = (
        f"read {human.count(files, 'file')}" if counts["read"] else "",
        f"searched {times}" if counts["searched"] else "",
        f"looked up {human.count(counts['looked up'], 'page')}" if counts["looked up"] else "",
    )
    return ", ".join(filter(None, said))


def _rows(run: list[_Piece]) -> Iterator[str]:
    """Rows of a box, with the quiet pieces between them folded."""
    for place, group in groupby(_looks_joined(run), key=lambda piece: piece.place):
        pieces = list(group)
        inside = "".join(piece.html for piece in pieces)
        if place == "row":
            yield inside
        elif all(piece.bare for piece in pieces):
            yield elements.div("hush", inside)
        else:
            yield html.folded_notices(run_summary(piece.name for piece in pieces), inside)


def copied_runs(steps: Iterable[Turn | int]) -> Iterator[tuple[list[Turn], list[Turn | int]]]:
    """Steps of a conversation in runs: those that were copied from another session together, and all that is own."""
    for copied, group in groupby(steps, key=lambda step: not isinstance(step, int) and step.copied):
        run = list(group)
        yield [step for step in run if not isinstance(step, int)] if copied else [], run


def fold_copied(turns: list[Turn], view: SessionView, made: str) -> str:
    """The markup of turns that were copied, behind one line that says from where."""
    history = view.session.history
    href = view.session_href(history.session) if history is not None else ""
    link = elements.link_around(href, "Open it there") if href else ""
    return html.copied_turns(copied_summary(turns, history), link, made)


def fold_earlier(view: SessionView) -> Iterator[str]:
    """The markup of the conversation before that other logs keep, each part behind one line."""
    for number, earlier in enumerate(view.session.earlier, 1):
        href = view.session_href(earlier.id) if earlier.id != view.session.id else ""
        link = elements.link_around(href, "Open it there") if href else ""
        made = nodes_html(earlier_nodes(earlier, view.context.view, number), view.html_options(earlier.started))
        yield html.copied_turns(earlier_summary(earlier), link, made)


def agent_title(agent: Agent) -> str:
    """What a subagent is called: its name, its kind, what it was to do."""
    what = " ".join(agent.description.split())[:200]
    return human.joined(agent.name, ": ".join(word for word in (agent.kind, what) if word)) or agent.id


def agent_summary(agent: Agent, view: SessionView) -> str:
    """How it ended and what it took."""
    return human.joined(
        agent.status if agent.status != "completed" else "",
        "in the background" if agent.background else "",
        human.count(sum(1 for _ in calls_of(agent.session)), "call"),
        human.elapsed(agent.session.started, agent.session.ended),
        format_cost(view.costs.all_of(agent.session)),
    )


def render_agent(agent: Agent, view: SessionView, depth: int = 0) -> str:
    """All of a subagent's conversation, for a place inside a page."""
    return agent_turns(agent, agent.session.turns, view, depth) + agent_leftovers(agent, view, depth)


def agent_turns(agent: Agent, turns: Iterable[Turn], view: SessionView, depth: int = 0) -> str:
    """Turns of a subagent. Those that also stand in place are rendered once for both, from the first one on."""
    renderer = TurnRenderer(view, view.addresses.agents[agent.id].prefix, agent, depth)
    twice = view.context.participants.fits(agent, view.context.view.agent_limit)
    rendered = view.rendered_turns if twice else {}
    for turn in agent.session.turns if twice else turns:
        if id(turn) not in rendered:
            rendered[id(turn)] = renderer.turn(turn)
    return "".join(rendered[id(turn)] for turn in turns)


def agent_leftovers(agent: Agent, view: SessionView, depth: int = 0) -> str:
    """What a subagent left behind and what of its log could not be read."""
    parts: list[str] = []
    for branch in agent.session.branches:
        prefix = f"{view.addresses.agents[agent.id].prefix}branch-{branch.number}."
        inside = "".join(map(TurnRenderer(view, prefix, agent, depth).turn, branch.turns))
        summary = f"Abandoned after prompt {branch.after} · {human.count(len(branch.turns), 'prompt')}"
        parts.append(elements.card(summary, inside))
    problems = (problem_fold(problem, view.context.view) for problem in agent.session.problems)
    return "".join(parts) + nodes_html(problems, HtmlOptions())


def turn_footer(turn: Turn, cost: Cost) -> str:
    """Time, tokens and money of a turn."""
    used = turn.usage
    if turn.prompt is None and not used.total:
        return ""
    least = "at least " if used.floor else ""
    unpriced = ", ".join(name for name, _ in cost.unpriced)
    exact = f"without {unpriced}, which has no known price" if unpriced else f"${cost.amount:f}" if cost.amount else ""
    tokens = ((used.input, "", "in"), (used.output, least, "out"), (used.cache_read, "", "cached"))
    return html.turn_foot(
        (
            (human.elapsed(turn.started, turn.ended), ""),
            *(
                (f"{before}{human.tokens(number)} {name}", f"{number:,} tokens")
                for number, before, name in (*tokens, (used.cache_write, "", "to cache"))
                if number
            ),
            (format_cost(cost), exact),
            (f"{human.tokens(turn.context)} in the window" if turn.context else "", f"{turn.context:,} tokens"),
        )
    )
