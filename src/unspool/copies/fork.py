"""Forks, moves and repairs: copies up to a point, to another folder, or of a damaged log."""

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

from unspool import human
from unspool.agents import writer_of
from unspool.agents.writing import RepairedLog
from unspool.copies import material
from unspool.copies.conversation import has_block
from unspool.copies.copy_plan import CopyPlan, CopyRequest, plan_copy
from unspool.copies.material import CopyMaterial
from unspool.copies.original import Bridge, OriginalLog, own_home
from unspool.copies.treatment import PRESETS
from unspool.errors import NotFound, UsageProblem
from unspool.model import Event, Notice, Session, Unknown

_DIGITS = 8
"""From so many digits on a number is an id's beginning: there are not so many turns."""
_ANCHOR = re.compile(r"#?msg-(\d{1,15})(?:-\d+)?")
"""How search and pages name what was logged at a moment, in milliseconds."""


class Fork:
    """What of a session a fork has: `leaf` is where its path ends, `without` are the lines it leaves out."""

    def __init__(self, log: OriginalLog, session: Session, branch: int = 0) -> None:
        self.leaf = _tip(log, session, branch)
        self.material = CopyMaterial(log, self.leaf)
        self._lines = self.material.conversation.lines
        self._turn_of = _turn_numbers(log, session, self._lines)
        own = {turn.number for turn in session.turns if turn.prompt is not None} if not branch else set[int]()
        self._turns = own | {number for number in self._turn_of.values() if number}  # some are of no line
        self.without: set[str] = set()

    def until(self, point: str) -> None:
        """Leave out what comes after a turn, by its number, or after a line or message, by its id or anchor."""
        if point.isdecimal() and len(point) < _DIGITS:
            last = int(point)
            self._check_turn(last, last)
            self.without |= {line for line, number in self._turn_of.items() if number > last}
        else:
            self.without |= {event.id for event in self._lines[self._line_end(point) :]}

    def leave_out(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Leave out whole turns: from one number to another, both included. A compaction in one of them stays: what
        comes behind it goes on from there."""
        stay = {event.id for event in self._lines if _compacts(event)}
        for first, last in ranges:
            self._check_turn(first, last)
            self.without |= {line for line, number in self._turn_of.items() if first <= number <= last} - stay

    def leave_unknown_out(self) -> None:
        """Leave out lines of which nobody knows what of the conversation they tell."""
        chain = self.material.log.draft.chain
        self.without |= {event.id for event in chain if not event.turn and has_block(event, Unknown)}

    def _check_turn(self, first: int, last: int) -> None:
        if not any(first <= number <= last for number in self._turns):
            there = human.count(len(self._turns), "turn")
            raise NotFound(f"There is no turn {first} on this branch, which has {there}{_span(self._turns)}.")

    def _line_end(self, point: str) -> int:
        """Behind the line, and all of its message with the results that answer it."""
        lines = self._lines
        anchor = _ANCHOR.fullmatch(point)
        moment = int(anchor[1]) if anchor else None
        at = next((index for index, event in enumerate(lines) if _is(event, point, moment)), None)
        if at is None:
            told = "was logged at" if anchor else "is a line or message whose id begins with"
            raise NotFound(f"Nothing on this branch {told} “{point}”.")
        part = lines[at].part
        message = part.message if part is not None else ""
        while message and at + 1 < len(lines) and _goes_on(lines[at + 1], message):
            at += 1
        return at + 1


def _is(event: Event, point: str, moment: int | None) -> bool:
    if moment is not None:
        return event.time is not None and round(event.time.timestamp() * 1000) == moment
    return event.id.startswith(point) or (event.part is not None and event.part.message == point)


def _span(turns: set[int]) -> str:
    return f" ({min(turns)} to {max(turns)})" if len(turns) > 1 else ""


def _turn_numbers(log: OriginalLog, session: Session, lines: Sequence[Event]) -> dict[str, int]:
    """The turn of every line, by its id; a message and the results that answer it are never parted.

    A prompt that was queued and has no line of its own begins a turn all the same.
    """
    prompts = (turn.prompt for turn in session.turns if turn.prompt is not None)
    unsent = [prompt.place.offset for prompt in prompts if not prompt.id]
    numbers = log.draft.turn_numbers(unsent)
    found: dict[str, int] = {}
    number, message = 0, ""
    for event in lines:
        if not (message and _goes_on(event, message)):
            number = numbers[log.draft.tree.at[event.id]].number
            message = event.part.message if event.part is not None else ""
        found[event.id] = number
    return found


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


Paths = tuple[tuple[str, str], ...]


class Move:
    """Where a session goes: the working folder, the agent's folder (its own where none is named), and what else is
    renamed on the way."""

    def __init__(self, to: Path, home: Path | None = None, renamed: Paths = ()) -> None:
        self.cwd = os.path.realpath(to.expanduser())
        self._home = home
        self._renamed = renamed

    def home(self, log: OriginalLog) -> Path:
        """The folder of its agent that a session goes to."""
        return self._home or own_home(log.agent)

    def paths(self, log: OriginalLog) -> Paths:
        """What is renamed in a session, the longest first."""
        writer, found = writer_of(log.agent), log.found
        old = log.facts.cwd
        if not old:
            raise UsageProblem(f"{log.path} names no working folder that could be rewritten.")
        pairs = dict(writer.moves(old, self.cwd, (found.root, str(self.home(log))))) | dict(self._renamed)
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
    done = writer_of(log.agent).mended(io.BytesIO(log.data + log.unfinished), Bridge(log).parents)
    return OriginalLog(b"".join(done.lines), log.found, log.path) if done.deeds else log, done
