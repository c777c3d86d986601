"""How much of each kind there is in a session that can be left out whole."""

from collections import Counter
from typing import NamedTuple

from unspool.app.sharing.decide import KINDS
from unspool.figures import family
from unspool.model import Image, Notice, Session, Thinking, ToolCall, Turn
from unspool.share.choices import Choices


class Part(NamedTuple):
    """A kind of block that can be left out whole."""

    name: str
    label: str
    there: int
    out: bool


def parts(session: Session, choices: Choices) -> list[Part]:
    """Each of them that the session has, and whether it is left out."""
    found = [Part(name, KINDS[name], there, not getattr(choices, name)) for name, there in counts(session).items()]
    return [part for part in found if part.there or part.out]


def counts(session: Session) -> dict[str, int]:
    """By the name of the choice; of the live conversation and of subagents."""
    found: Counter[str] = Counter()
    for member in family(session):
        for turn in member.turns:
            found.update(_turn(turn))
    return {
        "thinking": found["thinking"],
        "tools": found["tools"],
        "images": found["images"],
        "subagents": sum(1 for _ in family(session)) - 1,
    }


def _turn(turn: Turn) -> Counter[str]:
    found: Counter[str] = Counter(images=len(turn.prompt.images) if turn.prompt is not None else 0)
    for block in turn.blocks:
        if isinstance(block, Thinking):
            found["thinking"] += 1
        elif isinstance(block, Image):
            found["images"] += 1
        elif isinstance(block, Notice):
            found["images"] += len(block.images)
        elif isinstance(block, ToolCall) and block.result is not None:
            found["tools"] += 1
            found["images"] += len(block.result.images)
    return found
