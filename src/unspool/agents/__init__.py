"""From the bytes of an agent's logs to events: one folder an agent, listed in FORMATS. Imports reading,
for the tree of a conversation, and what stands below it."""

from unspool.agents.base import AgentFormat, Companion, FoundAgent, FoundLog
from unspool.agents.claude_code import ClaudeCodeFormat

FORMATS: tuple[AgentFormat, ...] = (ClaudeCodeFormat(),)


def by_id(name: str) -> AgentFormat:
    """The format with that id."""
    return next(format_ for format_ in FORMATS if format_.id == name)


def is_known(name: str) -> bool:
    """Whether there is a format with that id: an archive may hold files of an agent that only a newer version knows."""
    return any(format_.id == name for format_ in FORMATS)


__all__ = ["FORMATS", "AgentFormat", "ClaudeCodeFormat", "Companion", "FoundAgent", "FoundLog", "by_id", "is_known"]
