"""What copies of a log are made from: lines with their tokens and edits, tallies, titles."""

import re
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from unspool.agents import writer_of
from unspool.agents.writing import Cuts
from unspool.copies.api_constraints import is_touched, vanishes
from unspool.copies.conversation import CopyLines
from unspool.copies.original import Bridge, OriginalLog
from unspool.errors import Unsound
from unspool.figures.tokens import WindowPiece, block_pieces, prompt_pieces
from unspool.model import Event, Image, Prompt, Result, Thinking, ToolCall


class LineTally(msgspec.Struct, frozen=True):
    """Counts of what is in the lines; tokens are estimated, of what the agent loads."""

    lines: int = 0
    turns: int = 0
    calls: int = 0
    thinking: int = 0
    images: int = 0
    tokens: int = 0
    bytes: int = 0


def window_pieces(events: Iterable[Event]) -> Iterator[WindowPiece]:
    """What lines put into the model's window."""
    for event in events:
        if event.prompt is not None:
            yield from prompt_pieces(event.prompt)
        for block in event.blocks:
            if isinstance(block, ToolCall | Result) or event.part is not None or event.prompt is None:
                yield from block_pieces(block)


def line_tokens(event: Event) -> int:
    """Tokens of a line, estimated."""
    return sum(piece.tokens for piece in window_pieces((event,)))


def tally_lines(lines: list[Event], tokens: int, size: int) -> LineTally:
    """The counts of some lines."""
    blocks = [block for event in lines for block in event.blocks]
    prompted = sum(len(event.prompt.images) for event in lines if event.prompt is not None)
    answered = sum(len(block.images) for block in blocks if isinstance(block, Result))
    return LineTally(
        lines=len(lines),
        turns=sum(event.prompt is not None for event in lines),
        calls=sum(isinstance(block, ToolCall) for block in blocks),
        thinking=sum(isinstance(block, Thinking) for block in blocks),
        images=prompted + answered + sum(isinstance(block, Image) for block in blocks),
        tokens=tokens,
        bytes=size,
    )


class EditedLine(NamedTuple):
    """A line after its edit; all None where nothing is left of it."""

    raw: bytes | None = None
    event: Event | None = None
    tokens: int = 0


_GONE = EditedLine()


class CopyMaterial:
    """A log's conversation up to a line, its weight, and its lines as edited so far."""

    def __init__(self, log: OriginalLog, leaf: int | None = None) -> None:
        self.log = log
        self.writer = writer_of(log.agent)
        self.conversation = CopyLines(log.draft, Bridge(log), leaf)
        if not self.conversation.lines:
            raise Unsound(f"{log.path} holds no conversation that could be resumed.")
        self._read = log.reader()
        self._weights: dict[str, int] = {}
        self._edits: dict[Hashable, EditedLine | None] = {}
        loaded = sum(map(self.tokens, self.conversation.window))
        self.before: LineTally = tally_lines(self.conversation.lines, loaded, len(log.data))

    def tokens(self, event: Event) -> int:
        """What a line weighs as it is, estimated."""
        known = self._weights.get(event.id)
        if known is None:
            known = self._weights[event.id] = line_tokens(event)
        return known

    def is_local_record(self, event: Event) -> bool:
        """Whether a line is of use only where it was written."""
        return not event.turn and self.writer.is_local_record(self.log.raw(event))

    def edited(self, event: Event, cuts: Cuts) -> EditedLine | None:
        """A line after the cuts; None where it stays as it is."""
        if not is_touched(event, cuts):
            return None
        if vanishes(event, cuts):
            return _GONE
        if event.meta:  # may go with a call that stands in another line
            return self._edit(event, cuts)
        key = _key(event, cuts)
        if key not in self._edits:
            self._edits[key] = self._edit(event, cuts)
        return self._edits[key]

    def _edit(self, event: Event, cuts: Cuts) -> EditedLine | None:
        raw = self.log.raw(event)
        after = self.writer.edited(raw, event.id, cuts)
        if after is None:
            return _GONE
        if after is raw:
            return None
        made = self._read(after)
        return EditedLine(after, made, line_tokens(made))


def _key(event: Event, cuts: Cuts) -> Hashable:
    """All that the edit of a line depends on."""
    line = event.id
    calls = tuple(
        (cuts.calls.get(block.call_id), (line, block.call_id) in cuts.gone)
        for block in event.blocks
        if isinstance(block, ToolCall | Result)
    )
    marks = (cuts.thinking, cuts.images, cuts.news, cuts.untold, cuts.blank, cuts.twice)
    return line, calls, tuple(line in lines for lines in marks), cuts.texts.get(line), cuts.limits


_LONGEST, _LONG = 50, 100
_BEFORE = re.compile(r"^Clone: (.*?)(?:\.\.\.)? \([A-Z][a-z]{2} \d{1,2} \d{1,2}:\d{2}[ap]m\)$", re.DOTALL)
_FORK = re.compile(r"(?: \((?:fork|mended|moved|imported)\))+$")


def base_title(log: OriginalLog) -> str:
    """The title of the session, without what earlier copies added to it."""
    facts = log.facts
    given = facts.custom_title or facts.generated_title or facts.agent_name
    if not given:
        said = (prompt_title(event.prompt) for event in log.draft.chain if event.prompt is not None)
        given = next((text for text in said if text.strip()), "") or "Session"
    plain = " ".join(given.split())
    earlier = _BEFORE.match(plain)
    return _FORK.sub("", earlier[1] if earlier else plain)


def prompt_title(prompt: Prompt) -> str:
    """What a session is called by its first prompt: of a plan that was accepted, the plan's own title."""
    plan = prompt.plan.title if prompt.plan is not None else ""
    return plan or prompt.text or prompt.command


def clone_title(log: OriginalLog, now: datetime) -> str:
    """Clone: fix the tide tables (Mar 1 9:05am)."""
    name = base_title(log)
    short = name if len(name) <= _LONGEST else f"{name[:_LONGEST].rstrip()}..."
    clock = f"{now:%b} {now.day} {now.hour % 12 or 12}:{now:%M}{'am' if now.hour < 12 else 'pm'}"
    return f"Clone: {short} ({clock})"


def marked_title(log: OriginalLog, mark: str) -> str:
    """The title with what was done in brackets behind it."""
    name = base_title(log)
    short = name if len(name) <= _LONG else f"{name[:_LONG].rstrip()}..."
    return f"{short} ({mark})"
