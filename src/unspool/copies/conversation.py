"""The lines of a log that a copy is made of, in the order it has them.

A copy is one strand: what the agent would load, before it the history that compactions closed, each line following
the one before. Lines of one message stand together and the results of its calls right behind, whatever order they
were written in. Branches that were left, and lines that only told of progress, are not in it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import copy
from typing import Self

from unspool.model import Event, Notice, Result, ToolCall, Unknown
from unspool.reading.draft import SessionDraft

Bridge = Callable[[Event], int | None]
"""The line of the log that one follows whose parent lies in a subagent's log."""


class CopyLines:
    """What is copied of a draft, up to the line `leaf` (its position in the chain), else to where it stands."""

    def __init__(self, draft: SessionDraft, bridge: Bridge, leaf: int | None = None) -> None:
        self._draft = draft
        tip = draft.leaf if leaf is None else leaf
        parts = _segments(draft, tip, bridge) if tip is not None else []
        self.segments = [_gathered([draft.chain[index] for index in part]) for part in parts]
        """Runs of lines, each but the first begun by a compaction."""
        self.forgot = False
        """Whether all before the last compaction is what that let stay."""
        self.preserved = self._preserved()
        """Earlier lines that the agent loads all the same."""
        self.strands = self._strands({draft.tree.at[event.id] for event in self.lines})
        """Lines beside the path, by the id of the line on it that they hang from."""

    def forgotten(self) -> Self:
        """The same without what compactions have closed, but for what the last of them let stay."""
        made = copy(self)
        made.segments = [part for part in (self.preserved, *self.segments[-1:]) if part]
        made.forgot = len(made.segments) > 1
        return made

    def without(self, gone: Callable[[Event], bool]) -> Self:
        """The same without some lines; what hangs from one of them hangs from the line before it."""
        made = copy(self)
        made.preserved = [event for event in self.preserved if not gone(event)]
        kept = [[event for event in segment if not gone(event)] for segment in self.segments]
        made.segments = [segment for segment in kept if segment]
        made.strands = defaultdict(list)
        for before, segment in zip(self.segments, kept, strict=True):
            there = {event.id for event in segment}
            at = segment[0].id if segment else ""
            for event in before:
                at = event.id if event.id in there else at
                made.strands[at] += [one for one in self.strands.get(event.id, ()) if not gone(one)]
        return made

    @property
    def lines(self) -> list[Event]:
        return [event for segment in self.segments for event in segment]

    @property
    def window(self) -> list[Event]:
        """What the agent would load: all since the last compaction, and what that let stay."""
        return [*self.preserved, *self.segments[-1]] if self.segments else []

    def turns(self) -> list[list[Event]]:
        return split_turns(self.lines)

    def _preserved(self) -> list[Event]:
        """The lines before the last compaction that it let stay; those that no path led over are put on one."""
        opening = self.segments[-1][0] if self.segments else None
        if opening is None or not opening.boundary:
            return []
        chain, inside = self._draft.chain, {event.id for event in self.segments[-1]}
        stayed = self._draft.live.preserved(self._draft.tree.at[opening.id], partly=True)
        kept = [chain[index] for index in stayed if chain[index].id not in inside]
        there = {event.id for event in self.lines}
        strays = [event for event in kept if event.id not in there]
        if strays:
            earlier = self.segments[:-1] or [[]]
            earlier[-1] = _gathered([*earlier[-1], *strays])
            self.segments = [*earlier, self.segments[-1]]
        return [event for event in kept if not is_loose(event)]

    def _strands(self, path: set[int]) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = defaultdict(list)
        home: dict[int, int | None] = {}
        for index, event in enumerate(self._draft.chain):
            if index in path or event.turn or is_loose(event):
                continue
            anchor = self._anchor(index, path, home)
            if anchor is not None:
                found[self._draft.chain[anchor].id].append(event)
        return dict(found)

    def _anchor(self, index: int, path: set[int], home: dict[int, int | None]) -> int | None:
        """The nearest line of the path above one, unless something said stands between them."""
        walked: list[int] = []
        at: int | None = index
        while at is not None and at not in path and at not in home:
            home[at] = None
            walked.append(at)
            at = None if self._draft.chain[at].turn else self._above(at, path)
        found = at if at is None or at in path else home[at]
        for step in walked:
            home[step] = found
        return found

    def _above(self, index: int, path: set[int]) -> int | None:
        """The line that one follows; for one that nobody understands also the one it stands behind, or the first."""
        tree = self._draft.tree
        if tree.strict[index] is not None or not has_block(self._draft.chain[index], Unknown):
            return tree.strict[index]
        return tree.joined[index] if tree.joined[index] is not None else min(path, default=None)


def split_turns(lines: Iterable[Event]) -> list[list[Event]]:
    """Lines cut at every prompt; what stands before the first is the first piece, which may be empty."""
    cut: list[list[Event]] = [[]]
    for event in lines:
        if event.prompt is not None:
            cut.append([])
        cut[-1].append(event)
    return cut


def has_block(event: Event, kind: type) -> bool:
    return any(isinstance(block, kind) for block in event.blocks)


def is_loose(event: Event) -> bool:
    """Whether a line has no place in a copy: it only told of progress, or has no id that the agent could go by."""
    notices = (block for block in event.blocks if isinstance(block, Notice))
    return event.id.startswith("line-") or any(block.kind == "progress" for block in notices)


def call_ids(event: Event) -> list[str]:
    return [block.call_id for block in event.blocks if isinstance(block, ToolCall)]


def result_ids(event: Event) -> list[str]:
    return [block.call_id for block in event.blocks if isinstance(block, Result)]


def _segments(draft: SessionDraft, leaf: int, bridge: Bridge) -> list[list[int]]:
    """The path to a line, through every compaction and every gap, cut at compactions."""
    segments: list[list[int]] = []
    tail: list[int] = []
    seen: set[int] = set()
    at: int | None = leaf
    while at is not None:
        part = [index for index in draft.live.loaded(at) if index not in seen]
        if not part:
            break
        seen.update(part)
        tail = part + tail
        root = draft.chain[part[0]]
        if root.boundary:
            segments.insert(0, tail)
            tail = []
            at = draft.tree.joined[part[0]]
        elif root.parent is not None:
            bridged = bridge(root)
            at = bridged if bridged is not None else draft.tree.joined[part[0]]
        else:
            at = None
    return [tail, *segments] if tail else segments


def _gathered(events: Iterable[Event]) -> list[Event]:
    """The lines of each message together where its first stands, and behind them the results of its calls."""
    lines = [event for event in events if not is_loose(event)]
    messages: dict[str, list[Event]] = defaultdict(list)
    calls: dict[str, list[str]] = defaultdict(list)
    answers: dict[str, list[Event]] = defaultdict(list)
    for event in lines:
        if event.part is not None:
            messages[event.part.message].append(event)
            calls[event.part.message] += call_ids(event)
        for call in result_ids(event):
            answers[call].append(event)
    called = {call for made in calls.values() for call in made}
    placed: dict[int, Event] = {}
    for event in lines:
        if event.part is not None:
            message = event.part.message
            given = (answer for call in calls.pop(message, ()) for answer in answers[call])
            placed.update((id(one), one) for one in (*messages.pop(message, ()), *given) if id(one) not in placed)
        elif not ((answered := result_ids(event)) and called.issuperset(answered)):  # else it comes with its calls
            placed.setdefault(id(event), event)
    return list(placed.values())
