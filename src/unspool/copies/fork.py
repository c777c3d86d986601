"""Forks, moves and repairs: copies up to a point, to another folder, or of a damaged log."""

import io
import os
from collections.abc import Sequence
from pathlib import Path

from unspool.agents import writer_of
from unspool.agents.writing import RepairedLog
from unspool.copies import material
from unspool.copies.copy_plan import CopyPlan, CopyRequest, plan_copy
from unspool.copies.material import CopyMaterial
from unspool.copies.original import Bridge, OriginalLog
from unspool.copies.treatment import PRESETS
from unspool.errors import NotFound, UsageProblem
from unspool.model import Event, Notice, Session

_DIGITS = 8
"""From so many digits on a number is an id's beginning."""


class Fork:
    """What of a session a fork has: `leaf` is where its path ends, `without` are the lines it leaves out."""

    def __init__(self, log: OriginalLog, session: Session, branch: int = 0) -> None:
        self.leaf = _tip(log, session, branch)
        self.material = CopyMaterial(log, self.leaf)
        self._conversation = self.material.conversation
        self._numbers = _numbers(session)
        self.without: set[str] = set()

    def until(self, point: str) -> None:
        """Leave out what comes after a turn, by its number, or after a line or message, by its id."""
        lines = self._conversation.lines
        numbers = {number for number, _ in self._cut()} | set(self._numbers.values())  # some are of no line
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


def _tip(log: OriginalLog, session: Session, branch: int) -> int | None:
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


Paths = tuple[tuple[str, str], ...]


class Move:
    """Where a session goes: the working folder, the agent's folder, and what else is renamed on the way."""

    def __init__(self, to: Path, home: Path, renamed: Paths = ()) -> None:
        self.cwd = os.path.realpath(to.expanduser())
        self.home = home
        self._renamed = renamed

    def paths(self, log: OriginalLog) -> Paths:
        """What is renamed in a session, the longest first."""
        writer, found = writer_of(log.format), log.found
        old = log.facts.cwd
        if not old:
            raise UsageProblem(f"{log.path} names no working folder that could be rewritten.")
        pairs = dict(writer.moves(old, self.cwd, (found.root, str(self.home)))) | dict(self._renamed)
        return tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair)))

    def drawn(self, log: OriginalLog, title: str = "", command: str = "move") -> CopyPlan:
        """The session as it will be there."""
        options: dict[str, object] = {"to": self.cwd, "renamed": [list(pair) for pair in self._renamed]}
        title = title or material.marked_title(log, "moved" if command == "move" else "imported")
        wish = CopyRequest(command, title, paths=self.paths(log), options=options)
        return plan_copy(log, PRESETS["none"], wish)


def parse_renames(pairs: tuple[str, ...]) -> Paths:
    made = []
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not (old and sign and new):
            raise UsageProblem(f"“{pair}” renames nothing; /old/path=/new/path does.")
        made.append((old.rstrip("/"), new.rstrip("/")))
    return tuple(made)


def repair_original(log: OriginalLog) -> tuple[OriginalLog, RepairedLog]:
    """The log as it can be resumed, and what was done to it."""
    done = writer_of(log.format).mended(io.BytesIO(log.data + log.unfinished), Bridge(log).parents)
    return OriginalLog(b"".join(done.lines), log.found, log.path) if done.deeds else log, done
