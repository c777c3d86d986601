"""From the bytes of an agent's logs to events. One package an agent; FORMATS lists them."""

from unspool.formats.claude_code import ClaudeCodeFormat
from unspool.formats.format import Format
from unspool.formats.found import Companion, Found, FoundAgent

FORMATS: tuple[Format, ...] = (ClaudeCodeFormat(),)


def by_id(name: str) -> Format:
    """The format with that id."""
    return next(format_ for format_ in FORMATS if format_.id == name)


def is_known(name: str) -> bool:
    """Whether there is a format with that id: an archive may hold files of an agent that only a newer version knows."""
    return any(format_.id == name for format_ in FORMATS)


__all__ = ["FORMATS", "Companion", "Format", "Found", "FoundAgent", "by_id", "is_known"]
