"""Which turns a reader follows, and where the other ways of the conversation leave them."""

from collections import defaultdict

from unspool.doc import Fields, Fold
from unspool.errors import NotFound
from unspool.human import count
from unspool.model import Branch, Session, Turn
from unspool.tools.words import first_line

Leaving = dict[int, list[Fold]]
"""Mentions by the number of the turn they follow."""


def follow(session: Session, number: int) -> tuple[tuple[Turn, ...], Leaving]:
    """The turns from the beginning to the end of a branch, and the mentions of all others that leave them."""
    line = _line(session, number)
    ends = [branch.after for branch in line] + [None]
    ways = [session.turns, *(branch.turns for branch in line)]
    numbers = [0, *(branch.number for branch in line)]
    shown: list[Turn] = []
    leaving: Leaving = defaultdict(list)
    for way, end, own in zip(ways, ends, numbers, strict=True):
        shown.extend(turn for turn in way if end is None or turn.number <= end)
        for branch in session.branches:
            if branch.parent == own and branch not in line and (end is None or branch.after <= end):
                twigs = tuple(twig for twig in session.branches if twig.parent == branch.number)
                leaving[branch.after].append(_mention(f"Branch {branch.number} leaves here", branch.turns, twigs))
        if end is not None:
            rest = tuple(turn for turn in way if turn.number > end)
            name = f"branch {own}" if own else "live conversation"
            leaving[end].append(_mention(f"The {name} goes on from here", rest))
    return tuple(shown), leaving


def _line(session: Session, number: int) -> list[Branch]:
    """The branch and those it grew from, the oldest first; empty for the live conversation."""
    known = {branch.number: branch for branch in session.branches}
    if number and number not in known:
        has = f"it has {', '.join(map(str, sorted(known)))}" if known else "it has none"
        raise NotFound(f"The session has no branch {number}: {has}.")
    line: list[Branch] = []
    while number in known:
        line.insert(0, known.pop(number))  # popped, so that a circle of parents ends
        number = line[0].parent
    return line


def _mention(what: str, turns: tuple[Turn, ...], twigs: tuple[Branch, ...] = ()) -> Fold:
    items = (
        *((f"turn {turn.number}", first_line(turn.prompt.text) if turn.prompt else "") for turn in turns),
        *((f"branch {twig.number}", f"leaves it after turn {twig.after}") for twig in twigs),
    )
    return Fold("branch", what, count(len(turns), "turn"), "quiet", children=(Fields(items),) if items else ())
