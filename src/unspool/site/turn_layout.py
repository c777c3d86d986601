"""Turns as HTML: the prompt, the items of its answer in boxes and folds, subagents in place, and what it took."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Literal

import msgspec

from unspool import human
from unspool.doc import Fold
from unspool.figures import calls_of
from unspool.model import Agent, Notice, Prompt, Thinking, ToolCall, Turn
from unspool.model.tool_input import paths_of
from unspool.prices import Cost
from unspool.render.blocks import problem_fold, prompt_nodes, prompt_notes
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.elements import HtmlOptions, time_tag
from unspool.render.html.nodes import fold_html, nodes_html
from unspool.render.notices import run_summary
from unspool.render.transcript import earlier_nodes, opening_name
from unspool.render.turns import AgentItem, TurnItem, copied_summary, earlier_summary, turn_items
from unspool.site.address import agent_anchor
from unspool.site.long_notices import begin_long_notice
from unspool.site.session_view import SessionView, format_cost
from unspool.site.summaries import model_name


class _Piece(msgspec.Struct, frozen=True):
    """Markup, and how it stands: rows in a box with their neighbours, quiet pieces folded with theirs."""

    html: str
    place: Literal["alone", "row", "quiet"] = "alone"
    name: str = ""
    """What a quiet piece is counted as."""
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
        self._day: date | None = None
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
        inside = (head, *self._items(turn), turn_footer(turn, self._view.costs.of(turn)))
        return html.turn(f"{self._prefix}turn-{turn.number}", "" if self._agent else name, inside)

    def _prompt(self, number: int, prompt: Prompt) -> str:
        anchor = self._view.addresses.anchor(prompt)
        link = elements.link_around(f"#{anchor}", self._clock(prompt.time)) if prompt.time else ""
        return html.prompt(anchor, number, prompt_notes(prompt), link, nodes_html(prompt_nodes(prompt), self._options))

    def _clock(self, time: datetime | None) -> str:
        """The time of day; with the day where that is new."""
        day = time.date() if time else None
        new, self._day = day != self._day, day
        return time_tag(time, "" if new else "clock")

    def _items(self, turn: Turn) -> list[str]:
        pieces: list[_Piece] = []
        for item in turn_items(turn, self._context):
            if item.together:
                pieces.append(_Piece(html.group_head(item.together), "row"))
            pieces.append(self._piece(item))
            if item.agents:
                pieces += [_Piece(self._agent_row(agent), "row") for agent in item.agents]
            if isinstance(item.block, ToolCall) and (cards := self._outcome_cards(item.block.call_id)):
                pieces.append(_Piece(cards))
        return _laid_out(pieces)

    def _message_tokens(self, message: str) -> str:
        """What a message took, at the first of its blocks."""
        if not message or message in self._told or (took := self._view.costs.of_message(message)) is None:
            return ""
        self._told.add(message)
        least = "≥" if took.floor else ""
        window = f"{human.tokens(took.context)} window" if took.context else ""
        return human.joined(window, f"{least}{human.tokens(took.output)} out", format_cost(took.cost))

    def _piece(self, item: TurnItem) -> _Piece:
        block, place, options = item.block, item.place, self._options
        anchor = self._view.addresses.anchor(block)
        if place == "quiet":
            return self._quiet_piece(item, anchor)
        if place == "divider":
            return _Piece(self._divider(item, anchor))
        first = item.nodes[0]
        took = self._message_tokens(getattr(block, "message", ""))
        if place == "answer":
            inside = nodes_html(item.nodes, options)
            return _Piece(html.answer(anchor, self._speaker(item, anchor), inside, took))
        if not isinstance(first, Fold):
            made = nodes_html(item.nodes, options)
            return _Piece(html.block_part(anchor, "image", made)) if place == "card" else _Piece(made, "row")
        if item.is_todo_list and place == "card":
            return _Piece(html.todo_box(anchor, first, nodes_html(first.children, options), took))
        end = block.end if isinstance(block, ToolCall) else None
        made = fold_html(first, options, anchor, opened=end == "failed", took=took)
        if len(item.nodes) > 1:
            made += nodes_html(item.nodes[1:], options)
        if place == "card" and not isinstance(block, Thinking):
            return _Piece(made)
        if isinstance(block, ToolCall) and end == "ok" and block.role in _LOOKS and not item.agents:
            return _Piece(made, "row", looked=block)
        return _Piece(made, "row")

    def _quiet_piece(self, item: TurnItem, anchor: str) -> _Piece:
        """What few read: a line, or what opens to all of it or to its beginning."""
        first, *rest = item.nodes
        if not isinstance(first, Fold):
            return _Piece(nodes_html(item.nodes, self._options), "quiet", item.name)
        if isinstance(item.block, Thinking):
            line = html.block_line(anchor, "thinking", f"Thinking · {first.outcome}")
            return _Piece(line, "quiet", item.name, bare=True)
        made = fold_html(begin_long_notice(first, item, anchor, self._view), self._options, anchor)
        return _Piece(made + nodes_html(rest, self._options) if rest else made, "quiet", item.name)

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


_LOOKS = {"read": "read", "search": "searched", "web": "looked up"}
_MANY_LOOKS = 3


def _laid_out(pieces: list[_Piece]) -> list[str]:
    """The pieces one after the other: rows that follow one another in a box, with the quiet pieces between them."""
    made: list[str] = []
    box: list[str] = []
    has_rows = False
    for place, group in groupby(pieces, _PLACE):
        if place == "row":
            has_rows = True
            box += _rows(group)
        elif place == "quiet":
            box.append(_folded(list(group)))
        else:
            made += html.calls_box(box) if has_rows else box
            box, has_rows = [], False
            made += map(_HTML, group)
    made += html.calls_box(box) if has_rows else box
    return made


_HTML, _PLACE = attrgetter("html"), attrgetter("place")


def _rows(pieces: Iterable[_Piece]) -> Iterator[str]:
    """The rows, with many that only looked around, one after the other, in one."""
    looks: list[_Piece] = []
    for piece in pieces:
        if piece.looked is not None:
            looks.append(piece)
            continue
        if looks:
            yield _looks_joined(looks)
            looks = []
        yield piece.html
    if looks:
        yield _looks_joined(looks)


def _looks_joined(pieces: list[_Piece]) -> str:
    inside = "".join(map(_HTML, pieces))
    if len(pieces) < _MANY_LOOKS:
        return inside
    calls = [piece.looked for piece in pieces if piece.looked is not None]
    answers = [call.result.time for call in calls if call.result is not None and call.result.time is not None]
    took = human.elapsed(calls[0].time, answers[-1]) if answers else ""
    return html.looked_row(looked_words(calls), human.joined(human.count(len(calls), "call"), took), inside)


def _folded(pieces: list[_Piece]) -> str:
    """Quiet pieces behind one line; lines that are all by themselves stay as they are."""
    inside = "".join(map(_HTML, pieces))
    if all(piece.bare for piece in pieces):
        return elements.div("hush", inside)
    return html.folded_notices(run_summary([piece.name for piece in pieces]), inside)


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
