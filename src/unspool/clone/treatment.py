"""How much of a session a copy leaves out, by name or by figure."""

from typing import Literal

import msgspec

from unspool.errors import UsageProblem
from unspool.formats.writing import Limits

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

    @property
    def limits(self) -> Limits:
        return Limits(self.truncate_lines, self.truncate_chars)

    @property
    def strips(self) -> bool:
        """Whether tools may go."""
        return self.keep_tool_turns is not None or self.strip_tools > 0

    @property
    def thinking(self) -> int:
        """Percent of the turns, from the oldest, that lose their reasoning."""
        if self.strip_thinking is not None:
            return self.strip_thinking
        return 100 if self.strips else 0


PRESETS: dict[str, Treatment] = {
    "none": Treatment(),
    "default": Treatment(keep_tool_turns=20, truncate=50, drop_snapshots=True),
    "aggressive": Treatment(keep_tool_turns=10, truncate=50, drop_snapshots=True),
    "heavy": Treatment(keep_tool_turns=10, truncate=80, drop_snapshots=True),
    "extreme": Treatment(keep_tool_turns=0, truncate=0, drop_snapshots=True),
}


def preset(name: str, own: dict[str, Treatment] | None = None) -> Treatment:
    """The treatment of that name, the user's own before ours."""
    known = {**PRESETS, **(own or {})}
    if name not in known:
        raise UsageProblem(f"There is no preset “{name}”. There are: {', '.join(known)}.")
    return known[name]
