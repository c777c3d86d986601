"""Tokens, counted once a request, and the kinds of what fills a model's window."""

from datetime import datetime

import msgspec


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens and server tools of one or more messages, each counted once."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that lives an hour; the rest lives five minutes."""
    web_searches: int = 0
    web_fetches: int = 0
    reasoning: int = 0
    """The part of `output` that was thought, where the log tells it apart."""
    floor: bool = False
    """True where the log never held a final figure, so that `output` is a lower bound."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_1h + other.cache_write_1h,
            self.web_searches + other.web_searches,
            self.web_fetches + other.web_fetches,
            self.reasoning + other.reasoning,
            self.floor or other.floor,
        )

    @property
    def context(self) -> int:
        """Tokens the request sent: what was in the window."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.context + self.output


class Call(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One request to a model, as it is billed: the key survives every copy of the line."""

    key: str
    model: str
    usage: Usage
    time: datetime | None = None
    speed: str = ""
    tier: str = ""
    geo: str = ""


KINDS = (
    "instructions",
    "prompts",
    "answers",
    "thinking",
    "tool input",
    "files",
    "tool output",
    "images",
    "summaries",
    "other",
)
"""What a piece of a window may be. Instructions: what the agent itself tells the model. Files: read by a tool or named
by a person. Summaries: what a compaction left."""

SYSTEM_PROMPT, TOOL_DEFINITIONS = "system prompt", "tool definitions"
"""Kinds that only a request kept whole tells of; else they are part of what is unaccounted for."""

CAUSES = ("expired", "model switched", "compacted", "other")
"""Why the cache did not hold: too long a pause, another model, another beginning, or what the log does not tell."""
