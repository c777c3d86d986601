"""A conversation up to a point, without some of its turns, or along a branch that was left."""

from collections.abc import Sequence

from unspool.clone.material import Material
from unspool.clone.original import Original
from unspool.errors import NotFound
from unspool.model import Event, Notice, Session

_DIGITS = 8
"""From so many digits on a number is an id's beginning."""


class Fork:
    """What of a session a fork has: `leaf` is where its path ends, `without` are the lines it leaves out."""

    def __init__(self, log: Original, session: Session, branch: int = 0) -> None:
        self.leaf = _tip(log, session, branch)
        self.material = Material(log, self.leaf)
        self._conversation = self.material.conversation
        self._numbers = _numbers(session)
        self.without: set[str] = set()

    def until(self, point: str) -> None:
        """Leave out what comes after a turn, by its number, or after a line or message, by its id."""
        lines = self._conversation.lines
        numbers = {number for number, _ in self._cut()}
        is_turn = point.isdecimal() and len(point) < _DIGITS and int(point) in numbers
        keep = self._turn_end(int(point)) if is_turn else self._line_end(point)
        self.without |= {event.id for event in lines[keep:]}

    def leave_out(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Leave out whole turns: from one number to another, both included. A compaction in one of them stays: what
        comes behind it goes on from there."""
        cut = self._cut()
        for first, last in ranges:
            if not any(first <= number <= last for number, _ in cut):
                raise NotFound(f"There is no turn {first} on this branch; it has turns 1 to {cut[-1][0]}.")
            turns = [lines for number, lines in cut if first <= number <= last]
            self.without |= {event.id for lines in turns for event in lines if not _compacts(event)}

    def _cut(self) -> list[tuple[int, list[Event]]]:
        """The turns with their numbers; 0 is what stands before the first."""
        number, cut = 0, []
        for lines in self._conversation.turns():
            prompt = lines[0].prompt if lines else None
            number = self._numbers.get(prompt.id, number) if prompt is not None else number
            cut.append((number, lines))
        return cut

    def _turn_end(self, wanted: int) -> int:
        end = 0
        for number, lines in self._cut():
            if number > wanted:
                break
            end += len(lines)
        return end

    def _line_end(self, point: str) -> int:
        """Behind the line, and all of its message with the results that answer it."""
        lines = self._conversation.lines
        at = next((index for index, event in enumerate(lines) if _is(event, point)), None)
        if at is None:
            turns = f"it has turns 1 to {self._cut()[-1][0]}" if point.isdecimal() else "nor has it such a turn"
            raise NotFound(f"No line or message of this branch has an id that begins with “{point}”; {turns}.")
        part = lines[at].part
        message = part.message if part is not None else ""
        while message and at + 1 < len(lines) and _goes_on(lines[at + 1], message):
            at += 1
        return at + 1


def _is(event: Event, point: str) -> bool:
    return event.id.startswith(point) or (event.part is not None and event.part.message == point)


def _compacts(event: Event) -> bool:
    """Whether a line is a compaction, or the summary that it left."""
    return event.boundary or any(isinstance(block, Notice) and block.kind == "summary" for block in event.blocks)


def _goes_on(event: Event, message: str) -> bool:
    """Whether a line is more of a message, or only answers it."""
    if event.part is not None:
        return event.part.message == message
    return event.prompt is None and event.kind == "result"


def _tip(log: Original, session: Session, branch: int) -> int | None:
    """Where a branch ends."""
    if not branch:
        return log.draft.leaf
    of = log.draft.branches.of
    if branch not in {one.number for one in session.branches}:
        known = ", ".join(str(one.number) for one in session.branches) or "none"
        raise NotFound(f"There is no branch {branch}; branches that were left: {known}.")
    return max(index for index, event in enumerate(log.draft.chain) if of[index] == branch and event.turn)


def _numbers(session: Session) -> dict[str, int]:
    """The number of the turn that each prompt begins, on every branch."""
    turns = [*session.turns, *(turn for branch in session.branches for turn in branch.turns)]
    return {turn.prompt.id: turn.number for turn in turns if turn.prompt is not None}
