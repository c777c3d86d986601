"""What copies of a log are made from: worked out once, however many treatments are weighed against each other."""

from collections.abc import Hashable
from typing import NamedTuple

from unspool.clone.bridge import Bridge
from unspool.clone.conversation import Conversation
from unspool.clone.original import Original
from unspool.clone.soundness import touched, vanishes
from unspool.clone.tally import Tally, tally, weight
from unspool.errors import Unsound
from unspool.formats.writing import Cuts
from unspool.model import Event, Result, ToolCall


class Edited(NamedTuple):
    """A line after its edit; all None where nothing is left of it."""

    raw: bytes | None = None
    event: Event | None = None
    tokens: int = 0


_GONE = Edited()


class Material:
    """A log's conversation up to a line, its weight, and its lines as edited so far."""

    def __init__(self, log: Original, leaf: int | None = None) -> None:
        self.log = log
        self.writer = writer = log.format.writer()
        self.conversation = Conversation(log.draft, Bridge(log), lambda event: writer.preserved(log.raw(event)), leaf)
        if not self.conversation.lines:
            raise Unsound(f"{log.path} holds no conversation that could be resumed.")
        self._read = log.reader()
        self._weights: dict[str, int] = {}
        self._edits: dict[Hashable, Edited | None] = {}
        loaded = sum(map(self.tokens, self.conversation.window))
        self.before: Tally = tally(self.conversation.lines, loaded, len(log.data))

    def tokens(self, event: Event) -> int:
        """What a line weighs as it is, estimated."""
        known = self._weights.get(event.id)
        if known is None:
            known = self._weights[event.id] = weight(event)
        return known

    def is_local_record(self, event: Event) -> bool:
        """Whether a line is of use only where it was written."""
        return not event.turn and self.writer.is_local_record(self.log.raw(event))

    def edited(self, event: Event, cuts: Cuts) -> Edited | None:
        """A line after the cuts; None where it stays as it is."""
        if not touched(event, cuts):
            return None
        if vanishes(event, cuts):
            return _GONE
        if event.meta:  # may go with a call that stands in another line
            return self._edit(event, cuts)
        key = _key(event, cuts)
        if key not in self._edits:
            self._edits[key] = self._edit(event, cuts)
        return self._edits[key]

    def _edit(self, event: Event, cuts: Cuts) -> Edited | None:
        raw = self.log.raw(event)
        after = self.writer.edited(raw, event.id, cuts)
        if after is None:
            return _GONE
        if after is raw:
            return None
        made = self._read(after)
        return Edited(after, made, weight(made))


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
