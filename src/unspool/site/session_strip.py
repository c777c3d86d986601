"""The strip of a session: its whole run in one line of colours, each piece a link to where it is told."""

from collections.abc import Iterator
from datetime import datetime
from operator import itemgetter
from typing import Literal, NamedTuple

from unspool import human
from unspool.model import Block, Notice, Prompt, Text, Thinking, ToolCall, Turn
from unspool.render.view import is_shown
from unspool.site.session_view import SessionView
from unspool.site.summaries import prompt_line

Happening = Literal["you", "thinking", "looking", "running", "changing", "subagent", "failed", "answer", "compacted"]

HAPPENINGS: tuple[Happening, ...] = (
    "you", "thinking", "looking", "running", "changing", "subagent", "failed", "answer", "compacted",
)  # fmt: skip
_ROLES: dict[str, Happening] = {
    "read": "looking", "search": "looking", "web": "looking", "write": "changing", "edit": "changing",
    "shell": "running", "agent": "subagent", "plan": "answer", "question": "answer",
}  # fmt: skip
_STANDING: frozenset[Happening] = frozenset({"you", "failed", "compacted"})
"""What is not joined with what happened around it."""
_PIECES = 140
_LONGEST = 600.0
"""Seconds of a piece that count: whoever waits for longer is away."""


class StripPiece(NamedTuple):
    """A stretch of a run: what mostly happened, for how long, in words, and where it is told."""

    kind: Happening
    seconds: float
    says: str
    href: str


class _Step(NamedTuple):
    kind: Happening
    seconds: float
    item: Prompt | Block
    name: str


def strip_pieces(view: SessionView) -> list[StripPiece]:
    """The run of the live conversation, with waiting between turns left out; few enough to be told apart."""
    steps = [step for turn in view.session.turns for step in _steps(turn, view.options.hide)]
    least = sum([step.seconds for step in steps]) / _PIECES
    joins = len(steps) > _PIECES
    pieces: list[StripPiece] = []
    group: list[_Step] = []
    took = 0.0
    for step in steps:
        if group:
            apart = step.kind in _STANDING or group[0].kind in _STANDING
            full = took >= least if joins else group[-1].kind != step.kind
            if apart or full:
                pieces.append(_piece(group, view))
                group, took = [], 0.0
        group.append(step)
        took += step.seconds
    return [*pieces, *([_piece(group, view)] if group else [])]


def _steps(turn: Turn, hidden: frozenset[str]) -> Iterator[_Step]:
    """What happened in a turn, each until the next began or its answer came."""
    steps: list[_Step] = []
    following = turn.ended
    for block in reversed(turn.blocks):
        kind = _happening(block)
        if kind is None or (hidden and not is_shown(block, hidden)):
            continue
        name: str = kind
        until = following
        if isinstance(block, ToolCall):
            name = block.name
            until = (block.result and block.result.time) or following
        steps.append(_Step(kind, _seconds(block.time, until), block, name))
        following = block.time or following
    if (prompt := turn.prompt) is not None:
        name = f"Prompt {turn.number}: {prompt_line(prompt, 80)}"
        steps.append(_Step("you", _seconds(prompt.time, following), prompt, name))
    return reversed(steps)


def _happening(block: Block) -> Happening | None:
    match block:
        case ToolCall():
            return "failed" if block.end == "failed" else _ROLES.get(block.role, "running")
        case Thinking():
            return "thinking"
        case Text():
            return "answer"
        case Notice(kind="compaction"):
            return "compacted"
        case _:
            return None


def _seconds(begun: datetime | None, until: datetime | None) -> float:
    if begun is None or until is None:
        return 0.0
    took = (until - begun).total_seconds()
    return 0.0 if took <= 0.0 else _LONGEST if took >= _LONGEST else took


def _piece(group: list[_Step], view: SessionView) -> StripPiece:
    first = group[0]
    weights: dict[Happening, int] = {}
    names: dict[str, int] = {}
    took = 0.0
    for step in group:
        weights[step.kind] = weights.get(step.kind, 0) + int(step.seconds * 1000) + 1
        names[step.name] = names.get(step.name, 0) + 1
        took += step.seconds
    kind = max(weights, key=weights.__getitem__)
    if first.kind == "you":
        says = first.name
    else:
        most = sorted(names.items(), key=itemgetter(1), reverse=True)[:4]
        what = ", ".join([f"{name} ×{number}" if number > 1 else name for name, number in most])
        says = f"{'Failed: ' if kind == 'failed' else ''}{what}"
    lasted = human.duration(took) if took >= 1 and first.kind != "you" else ""
    return StripPiece(kind, took, human.joined(says, lasted), view.addresses.link(first.item))
