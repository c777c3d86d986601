"""Turns as markup: what was asked, what followed, what it took. A subagent's turns are told the same way."""

from collections.abc import Iterable
from datetime import datetime

from unspool import human
from unspool.export.html import Paint, bits, fragment, when
from unspool.export.html import told as html
from unspool.model import Agent, Prompt, Turn
from unspool.prices import Cost
from unspool.site.bill import money
from unspool.site.flow import flow
from unspool.site.scene import Scene
from unspool.transcript.prompts import prompt_nodes, prompt_notes
from unspool.transcript.remains import problem_fold
from unspool.transcript.view import View

_FULL = View(full=True)


class Narrator:
    """Tells turns of one chapter: how its anchors begin, whose prompts they are, how deep it is."""

    def __init__(self, scene: Scene, prefix: str = "", agent: Agent | None = None, depth: int = 0) -> None:
        self._scene, self._prefix, self._agent, self._depth = scene, prefix, agent, depth
        self._day = ""

    def turn(self, turn: Turn) -> str:
        """One turn, whole."""
        scene, level = self._scene, 3 if self._agent else 2
        paint = scene.paint(turn.started)
        name = f"Prompt {turn.number}" if turn.prompt else "Before the first prompt"
        if self._prefix.startswith(("branch-", "part-")):  # several of them may be told on one page
            name = f"{name}, {self._prefix.replace('-', ' ').rstrip('.')}"
        asked = self._prompt(turn, turn.prompt, paint, level) if turn.prompt else self._opening(turn, level)
        inside = f"{asked}{flow(turn.blocks, scene, paint, self._tell)}{foot(turn, scene.bill.of(turn))}"
        return html.turn(f"{self._prefix}turn-{turn.number}", "" if self._agent else name, inside)

    def _opening(self, turn: Turn, level: int) -> str:
        return html.opening(level, self._when(turn.started)) if turn.blocks else ""

    def _prompt(self, turn: Turn, prompt: Prompt, paint: Paint, level: int) -> str:
        anchor = self._scene.addresses.anchor(prompt)
        who, number = ("Asked", 0) if self._agent else ("You", turn.number)
        link = bits.around(f"#{anchor}", self._when(prompt.time)) if prompt.time else ""
        head = html.asker(level, who, number, prompt_notes(prompt), link)
        return html.prompt(anchor, head, fragment(prompt_nodes(prompt), paint))

    def _when(self, time: datetime | None) -> str:
        """The clock; with the day where that is new."""
        day = f"{time:%j %Y}" if time else ""
        new, self._day = day != self._day, day
        return when(time, "" if new else "clock")

    def _tell(self, agent: Agent) -> str | None:
        if self._scene.in_place(agent, self._depth):
            return told(agent, self._scene, self._depth + 1)
        self._scene.postpone(agent)
        return None


def told(agent: Agent, scene: Scene, depth: int = 0) -> str:
    """All of a subagent's conversation, for a place inside a page."""
    return agent_turns(agent, agent.session.turns, scene, depth) + asides(agent, scene, depth)


def agent_turns(agent: Agent, turns: Iterable[Turn], scene: Scene, depth: int = 0) -> str:
    """Turns of a subagent. Those that are told in place are made once for both places, from the first one on."""
    narrator = Narrator(scene, scene.addresses.agents[agent.id].prefix, agent, depth)
    both = scene.in_place(agent, 0)
    kept = scene.told if both else {}
    for turn in agent.session.turns if both else turns:
        if id(turn) not in kept:
            kept[id(turn)] = narrator.turn(turn)
    return "".join(kept[id(turn)] for turn in turns)


def asides(agent: Agent, scene: Scene, depth: int = 0) -> str:
    """What a subagent left behind and what of its log could not be read."""
    parts: list[str] = []
    for branch in agent.session.branches:
        prefix = f"{scene.addresses.agents[agent.id].prefix}branch-{branch.number}."
        narrator = Narrator(scene, prefix, agent, depth)
        inside = "".join(map(narrator.turn, branch.turns))
        summary = f"Abandoned after turn {branch.after} · {human.count(len(branch.turns), 'turn')}"
        parts.append(bits.card(summary, inside))
    return "".join(parts) + fragment((problem_fold(problem, _FULL) for problem in agent.session.problems), Paint())


def foot(turn: Turn, cost: Cost) -> str:
    """Time, tokens and money of a turn."""
    used = turn.usage
    if turn.prompt is None and not used.total:
        return ""
    return html.foot(
        (
            (human.elapsed(turn.started, turn.ended), ""),
            _tokens(used.input, "in"),
            _tokens(used.output, "out", "at least " if used.floor else ""),
            _tokens(used.cache_read, "cached"),
            _tokens(used.cache_write, "to cache"),
            (money(cost), _unpriced(cost)),
            (f"{human.tokens(turn.context)} in the window" if turn.context else "", f"{turn.context:,} tokens"),
        )
    )


def _tokens(number: int, name: str, least: str = "") -> tuple[str, str]:
    return (f"{least}{human.tokens(number)} {name}", f"{number:,} tokens") if number else ("", "")


def _unpriced(cost: Cost) -> str:
    """Which models have no price."""
    names = ", ".join(name for name, _ in cost.unpriced)
    return f"without {names}, which has no known price" if names else f"${cost.amount:f}" if cost.amount else ""
