"""Which calls, reasoning and pictures of a conversation a treatment takes: oldest turns first."""

from collections.abc import Iterable

from unspool.clone.conversation import Conversation, call_ids
from unspool.clone.treatment import Mode, Treatment
from unspool.formats.writing import Cut, Cuts, Writer
from unspool.model import Event, Image, Notice, Result, Thinking, ToolCall

Turns = list[list[Event]]


def treated(conversation: Conversation, treatment: Treatment, writer: Writer) -> Cuts:
    """The cuts that a treatment asks for; those that a sound copy needs anyway are `soundness.mended`."""
    turns = conversation.turns()
    cuts = Cuts(calls=_calls(turns, treatment, _leaned_on(conversation.lines, writer)), limits=treatment.limits)
    cuts.thinking = {event.id for turn in _oldest(turns, treatment.thinking) for event in turn if _has(event, Thinking)}
    if treatment.drop_images:
        cuts.images = {event.id for event in _all_lines(conversation) if _pictured(event)}
    if cuts.calls:
        cuts.news = {event.id for event in conversation.lines if is_news(event)}
    return cuts


def _calls(turns: Turns, treatment: Treatment, stay: set[str]) -> dict[str, Cut]:
    using = [turn for turn in turns if any(_has(event, ToolCall) for event in turn)]
    cuts: dict[str, Cut] = {}
    if treatment.keep_tool_turns is not None:
        split = max(0, len(using) - treatment.keep_tool_turns)
        kept = using[split:]
        _mark(cuts, kept[: len(kept) * treatment.truncate // 100], "truncate")
        _mark(cuts, using[:split], treatment.mode)
    _mark(cuts, _oldest(turns, treatment.strip_tools), treatment.mode)
    return {call: cut for call, cut in cuts.items() if call not in stay}


def _mark(cuts: dict[str, Cut], turns: Turns, mode: Mode) -> None:
    for turn in turns:
        for event in turn:
            for call in call_ids(event):
                cuts[call] = mode


def _oldest(turns: Turns, percent: int) -> Turns:
    """The oldest so many percent of the turns, with what stands before the first prompt."""
    count = (len(turns) - 1) * percent // 100
    return turns[: count + 1] if count or percent >= 100 else []


def _leaned_on(lines: Iterable[Event], writer: Writer) -> set[str]:
    return {
        block.call_id
        for event in lines
        for block in event.blocks
        if isinstance(block, Result) and writer.leans(block.parts)
    }


def _has(event: Event, kind: type) -> bool:
    return any(isinstance(block, kind) for block in event.blocks)


def _pictured(event: Event) -> bool:
    if event.prompt is not None and event.prompt.images:
        return True
    return any(
        isinstance(block, Image) or (isinstance(block, Result | Notice) and bool(block.images))
        for block in event.blocks
    )


def _all_lines(conversation: Conversation) -> list[Event]:
    return [*conversation.lines, *(event for strand in conversation.strands.values() for event in strand)]


def is_news(event: Event) -> bool:
    """Whether a line tells that something in the background has ended, and perhaps what it found."""
    return any(isinstance(block, Notice) and block.kind == "task-notification" for block in event.blocks)
