"""A copy decided and counted before a byte of it is written."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property

import msgspec

from unspool.agents import writer_of
from unspool.agents.writing import CopiedLine, CopyIdentity, Cut, Cuts, LineLink
from unspool.copies.api_constraints import add_required_cuts
from unspool.copies.conversation import CopyLines, is_loose
from unspool.copies.material import CopyMaterial, EditedLine, LineTally, clone_title, tally_lines
from unspool.copies.original import OriginalLog
from unspool.copies.treatment import Treatment, treatment_cuts
from unspool.errors import Unsound
from unspool.model import Event


class CopyOptions(msgspec.Struct, frozen=True):
    """How a copy is named and what comes with it."""

    session: str
    title: str
    snapshots: bool = False
    side: bool = True
    paths: tuple[tuple[str, str], ...] = ()
    goes_elsewhere: bool = False
    """Whether it goes to another place or person than those it was written at and by."""


class SessionCopy:
    """The lines of a copy. `edits` holds those that changed, None for those that went."""

    def __init__(self, material: CopyMaterial, conversation: CopyLines, cuts: Cuts, making: CopyOptions) -> None:
        self._material, self.making = material, making
        self.original, self.writer = material.log, material.writer
        self.edits: dict[str, EditedLine] = {}
        self._cut = frozenset({*cuts.calls, *(call for _, call in cuts.gone)})
        self.segments = self._segments(conversation, cuts)
        self._forgot = conversation.forgot
        self.strands = self._strands(conversation, cuts)
        self.agents = _inline(self.original) if making.side else []

    def _segments(self, conversation: CopyLines, cuts: Cuts) -> list[list[Event]]:
        self._preserved = {event.id for event in conversation.preserved}
        kept = [segment for one in conversation.segments if (segment := self._kept(one, cuts))]
        return [*kept[:-1], _ended(kept[-1])] if kept else []

    def _kept(self, events: Sequence[Event], cuts: Cuts) -> list[Event]:
        return [event for event in events if self._edit(event, cuts)]

    def _edit(self, event: Event, cuts: Cuts) -> bool:
        """Make the line anew where it changes; whether something is left of it."""
        edited = self._material.edited(event, cuts)
        if edited is None:
            return True
        self.edits[event.id] = edited
        return edited.raw is not None

    def _strands(self, conversation: CopyLines, cuts: Cuts) -> dict[str, list[Event]]:
        """Lines beside the path, by the line that they hang from; where that one is gone, by the nearest before it."""
        found: dict[str, list[Event]] = {}
        there = {event.id for event in self.lines}
        for segment in conversation.segments:
            at = next((event.id for event in segment if event.id in there), "")
            for event in segment:
                at = event.id if event.id in there else at
                hung = conversation.strands.get(event.id)
                if at and hung and event.id not in cuts.lines and (kept := self._kept(hung, cuts)):
                    found.setdefault(at, []).extend(kept)
        return found

    @property
    def lines(self) -> list[Event]:
        """The lines of the conversation, as they were before."""
        return [event for segment in self.segments for event in segment]

    @property
    def window(self) -> list[Event]:
        """What the agent will load of it."""
        if not self.segments:
            return []
        earlier = (event for segment in self.segments[:-1] for event in segment)
        return [*(event for event in earlier if event.id in self._preserved), *self.segments[-1]]

    def raw(self, event: Event) -> bytes:
        """A line after its edit, under its old ids."""
        edited = self.edits.get(event.id)
        return edited.raw if edited is not None and edited.raw is not None else self.original.raw(event)

    def tally(self) -> LineTally:
        """What it holds, but for its size."""
        edits = self.edits
        now = [edits[event.id].event or event if event.id in edits else event for event in self.lines]
        weigh = self._material.tokens
        tokens = sum(edits[event.id].tokens if event.id in edits else weigh(event) for event in self.window)
        return tally_lines(now, tokens, 0)

    def leave_history(self) -> None:
        """Do without the agent's file history: where its files cannot go along, lines that name them say untrue."""
        self.making = msgspec.structs.replace(self.making, snapshots=False)
        self.__dict__.pop("identity", None)

    @cached_property
    def identity(self) -> CopyIdentity:
        """Who it is, with the new id of every line."""
        chain = self.original.draft.chain
        beside = (event for strand in self.strands.values() for event in strand)
        same = self.making.session == self.original.session
        lines = [event.id for event in (*self.lines, *beside, *self.agents)]
        ids = {line: line for line in lines} if same else new_line_ids(lines)
        before, after = _beside(chain, ids), _beside(chain[::-1], ids)
        return CopyIdentity(
            self.making.session,
            self.original.session,
            ids,
            before,
            after,
            "" if same else datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            self.making.snapshots,
            self.making.paths,
            {line: place for place, line in enumerate(ids.values())},
            self._cut,
            self.original.path,
        )

    def chunks(self) -> Iterator[bytes]:
        """The copy, line by line."""
        return self.writer.sequenced(self._lines(), self.identity)

    def _lines(self) -> Iterator[CopiedLine]:
        beside = self._beside()
        yield from beside.pop("", ())
        closing = _closing(self.lines)
        before: str | None = None
        for segment in self.segments:
            parent: str | None = None
            before = None if self._forgot else before
            for event in segment:
                link = LineLink(self.identity.ids[event.id], parent, event.id in closing, before)
                yield _copied(event, self.writer.renewed(self.raw(event), self.identity, link))
                before = parent = self.identity.ids[event.id]
                for strand in self.strands.get(event.id, ()):
                    yield _copied(strand, self._hung(strand, parent))
                yield from beside.pop(event.id, ())
        for event in self.agents:
            yield _copied(event, self._hung(event, self.identity.ids.get(event.parent or "")))
        for lines in beside.values():
            yield from lines
        end = len(self.original.data)
        for line in self.writer.closing(self.identity, self.making.title) if self.making.title else ():
            yield CopiedLine(line, spoken=False, at=end)

    def _hung(self, event: Event, parent: str | None) -> bytes:
        """A line beside the path."""
        return self.writer.renewed(self.raw(event), self.identity, LineLink(self.identity.ids[event.id], parent))

    def _beside(self) -> dict[str, list[CopiedLine]]:
        """Lines beside the conversation, by the line of it that they stood behind."""
        found: dict[str, list[CopiedLine]] = {}
        there = {event.id for event in self.lines}
        chain = iter([event for event in self.original.draft.chain if event.id in there])
        at, ahead = "", next(chain, None)
        for event in self.original.beside:
            while ahead is not None and ahead.place.offset < event.place.offset:
                at, ahead = ahead.id, next(chain, None)
            made = self.writer.beside(self.original.raw(event), self.identity)
            if made is not None:
                found.setdefault(at, []).append(_copied(event, made))
        return found


def _copied(event: Event, raw: bytes) -> CopiedLine:
    return CopiedLine(raw, event.turn, event.place.offset)


def new_line_ids(lines: Sequence[str]) -> dict[str, str]:
    """A new id for each line: UUIDs of chance, made all at once."""
    drawn = os.urandom(16 * len(lines)).hex()
    ids: dict[str, str] = {}
    for number, line in enumerate(lines):
        one = drawn[32 * number : 32 * number + 32]
        variant = "89ab"[int(one[16], 16) & 3]
        ids[line] = f"{one[:8]}-{one[8:12]}-4{one[13:16]}-{variant}{one[17:20]}-{one[20:]}"
    return ids


def _ended(lines: list[Event]) -> list[Event]:
    """The lines up to the last that a person or the model said, where something injected stands behind it."""
    last = next((event for event in reversed(lines) if event.turn), None)
    if last is None or not last.meta:
        return lines
    said = [index for index, event in enumerate(lines) if event.turn and not event.meta]
    return lines[: said[-1] + 1] if said else lines


def _closing(lines: list[Event]) -> set[str]:
    """The last words and what stands behind them: all are of the time of the copy, as some versions go on from the
    latest line."""
    said = max((index for index, event in enumerate(lines) if event.turn), default=len(lines))
    return {event.id for event in lines[said:]}


def _inline(original: OriginalLog) -> list[Event]:
    """The lines of subagents that were written into the log itself, in its order."""
    lines = [event for events in original.draft.inline.values() for event in events if not is_loose(event)]
    return sorted(lines, key=lambda event: event.place.offset)


def _beside(chain: Sequence[Event], ids: dict[str, str]) -> dict[str, str]:
    """For every line that is not copied, the new id of the last one copied before it."""
    found: dict[str, str] = {}
    last = ""
    for event in chain:
        if event.id in ids:
            last = ids[event.id]
        else:
            found[event.id] = last
    return found


class CopyRequest(msgspec.Struct, frozen=True):
    """What is asked of a copy beside its treatment."""

    command: str = "clone"
    title: str = ""
    leaf: int | None = None
    """The line, by its position, that it ends with; None: where the session stands."""
    without: frozenset[str] = frozenset()
    """Lines that are left out."""
    texts: dict[str, str] = {}
    """Words that replace those of a line."""
    calls: dict[str, Cut] = {}
    """What becomes of single calls, by their ids, whatever the treatment says."""
    untold: frozenset[str] = frozenset()
    """Lines with news of background tasks that do not tell what those found."""
    shown: bool = False
    """For reading: under the ids of the original, reasoning kept though the model's provider would not take it."""
    in_place: bool = False
    """For the original's own file: under its ids, and under its title unless another is given."""
    paths: tuple[tuple[str, str], ...] = ()
    options: dict[str, object] = {}


class CopyPlan(msgspec.Struct, frozen=True):
    """A copy that is decided and counted, and not written yet."""

    copy: SessionCopy
    material: CopyMaterial
    lines: list[Event]
    """The conversation before."""
    cuts: Cuts
    before: LineTally
    after: LineTally
    wish: CopyRequest


def plan_copy(log: OriginalLog | CopyMaterial, treatment: Treatment, wish: CopyRequest) -> CopyPlan:
    """The copy of a session under a treatment; quicker where the same material was drawn from before."""
    material = log if isinstance(log, CopyMaterial) else CopyMaterial(log, wish.leaf)
    conversation = material.conversation.forgotten() if treatment.drop_compacted else material.conversation
    making = _making(material.log, treatment, wish)
    if making.goes_elsewhere:
        conversation = conversation.without(material.is_local_record)
    cuts = treatment_cuts(conversation, treatment, material.writer)
    cuts.lines |= wish.without
    cuts.calls |= wish.calls
    cuts.untold |= wish.untold
    cuts.texts = {line: text for line, text in wish.texts.items() if line not in cuts.lines}
    add_required_cuts(conversation, cuts, material.writer, altered=bool(wish.paths), shown=wish.shown)
    copy = SessionCopy(material, conversation, cuts, making)
    if not any(event.turn for event in copy.window):
        raise Unsound(f"Nothing would be left of {material.log.path}.")
    return CopyPlan(copy, material, conversation.lines, cuts, material.before, copy.tally(), wish)


def _making(log: OriginalLog, treatment: Treatment, wish: CopyRequest) -> CopyOptions:
    return CopyOptions(
        session=log.session if wish.shown or wish.in_place else writer_of(log.agent).new_session(),
        title=wish.title or ("" if wish.in_place else clone_title(log, datetime.now().astimezone())),
        snapshots=not treatment.drop_snapshots,
        side=not treatment.drop_side,
        paths=wish.paths,
        goes_elsewhere=wish.shown or bool(wish.paths) or not log.at_home,
    )
