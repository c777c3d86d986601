"""How much of a session a copy leaves out, by preset or figure, and the cuts that follow."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from unspool.agents.writing import Cut, Cuts, Limits, LogWriter
from unspool.copies.conversation import CopyLines, call_ids, has_block
from unspool.errors import UsageProblem
from unspool.model import Event, Image, Notice, Result, Thinking, ToolCall

Mode = Literal["remove", "truncate", "stub"]


class Treatment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What is left out. Turns are counted from the newest where tools are kept, from the oldest where stripped."""

    keep_tool_turns: int | None = None
    """Turns with tools that keep them, the newest; the others are stripped. None: all keep them."""
    truncate: int = 0
    """Of the turns that keep their tools, the oldest so many percent have them truncated."""
    strip_tools: int = 0
    """The oldest so many percent of all turns are stripped of tools."""
    strip_thinking: int | None = None
    """The oldest so many percent of all turns lose their reasoning. None: all of them, where tools are stripped."""
    mode: Mode = "remove"
    """What stripping does to a call and its result."""
    truncate_lines: int = Limits().lines
    truncate_chars: int = Limits().chars
    drop_images: bool = False
    drop_snapshots: bool = False
    drop_side: bool = False
    drop_compacted: bool = False
    drop_errors: bool = False
    """What the agent put into the model's mouth: errors of the service, limits."""

    @property
    def limits(self) -> Limits:
        return Limits(self.truncate_lines, self.truncate_chars)

    @property
    def strips(self) -> bool:
        return self.keep_tool_turns is not None or self.strip_tools > 0

    @property
    def thinking(self) -> int:
        """Percent of the turns, from the oldest, that lose their reasoning."""
        if self.strip_thinking is not None:
            return self.strip_thinking
        return 100 if self.strips else 0


PRESETS: dict[str, Treatment] = {
    "none": Treatment(),
    "default": Treatment(keep_tool_turns=20, truncate=50, drop_snapshots=True, drop_errors=True),
    "aggressive": Treatment(keep_tool_turns=10, truncate=50, drop_snapshots=True, drop_errors=True),
    "heavy": Treatment(keep_tool_turns=10, truncate=80, drop_snapshots=True, drop_errors=True),
    "extreme": Treatment(keep_tool_turns=0, truncate=0, drop_snapshots=True, drop_errors=True),
}


def preset(name: str, own: dict[str, Treatment] | None = None) -> Treatment:
    """The treatment of that name, the user's own before ours; hyphens and underscores are the same."""
    known = {one.replace("_", "-"): figures for one, figures in {**PRESETS, **(own or {})}.items()}
    wanted = name.replace("_", "-")
    if wanted not in known:
        raise UsageProblem(f"There is no preset “{name}”. There are: {', '.join(known)}.")
    return known[wanted]


Turns = list[list[Event]]


def treatment_cuts(conversation: CopyLines, treatment: Treatment, writer: LogWriter) -> Cuts:
    """The cuts that a treatment asks for; `add_required_cuts` adds those that a sound copy needs anyway."""
    turns = conversation.turns()
    cuts = Cuts(calls=_calls(turns, treatment, _leaned_on(conversation.lines, writer)), limits=treatment.limits)
    thoughtless = (event for turn in _oldest(turns, treatment.thinking) for event in turn)
    cuts.thinking = {event.id for event in thoughtless if has_block(event, Thinking)}
    if treatment.drop_images:
        lines = (*conversation.lines, *(event for strand in conversation.strands.values() for event in strand))
        cuts.images = {event.id for event in lines if _pictured(event)}
    if treatment.drop_errors:
        cuts.lines = {event.id for event in conversation.lines if event.part is not None and has_block(event, Notice)}
    if cuts.calls:
        cuts.news = {event.id for event in conversation.lines if is_news(event)}
    return cuts


def _calls(turns: Turns, treatment: Treatment, stay: set[str]) -> dict[str, Cut]:
    using = [turn for turn in turns if any(has_block(event, ToolCall) for event in turn)]
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


def _leaned_on(lines: Iterable[Event], writer: LogWriter) -> set[str]:
    return {
        block.call_id
        for event in lines
        for block in event.blocks
        if isinstance(block, Result) and writer.leans(block.parts)
    }


def _pictured(event: Event) -> bool:
    if event.prompt is not None and event.prompt.images:
        return True
    return any(
        isinstance(block, Image) or (isinstance(block, Result | Notice) and bool(block.images))
        for block in event.blocks
    )


def is_news(event: Event) -> bool:
    """Whether a line tells that something in the background has ended, and perhaps what it found."""
    return any(isinstance(block, Notice) and block.kind == "task-notification" for block in event.blocks)
