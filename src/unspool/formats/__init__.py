"""From the bytes of an agent's logs to events. One package an agent; FORMATS lists them."""

from unspool.formats.claude_code import ClaudeCodeFormat
from unspool.formats.format import Format
from unspool.formats.found import Companion, Found, FoundAgent

FORMATS: tuple[Format, ...] = (ClaudeCodeFormat(),)


def by_id(name: str) -> Format:
    """The format with that id."""
    return next(format_ for format_ in FORMATS if format_.id == name)


__all__ = ["FORMATS", "Companion", "Format", "Found", "FoundAgent", "by_id"]
