"""Answers that the choices leave out: those of tools, and the last words of subagents, which are answers as well."""

from collections.abc import Iterable, Iterator

from unspool.clone.zones import is_news
from unspool.formats import FoundAgent
from unspool.formats.writing import Cut, Writer
from unspool.model import Event, Result, ToolCall
from unspool.share.choices import Choices


def hidden(
    events: Iterable[Event], writer: Writer, choices: Choices, agents: Iterable[FoundAgent] = ()
) -> dict[str, Cut]:
    """The calls of which nothing is told of what they answered; `agents` are the session's subagents."""
    blocks = [block for event in events for block in event.blocks if isinstance(block, ToolCall | Result)]
    leant = {block.call_id for block in blocks if isinstance(block, Result) and writer.leans(block.parts)}
    if not choices.tools:
        return {block.call_id: "hide" for block in blocks if block.call_id not in leant}
    if choices.subagents:
        return {}
    ids = {agent.id for agent in agents}
    return {block.call_id: "hide" for block in blocks if isinstance(block, ToolCall) and _asks(block, ids)}


def _asks(call: ToolCall, agents: set[str]) -> bool:
    """Whether a call starts a subagent, or asks by its name what it found."""
    given = call.input.values() if isinstance(call.input, dict) else ()
    return call.role == "agent" or any(isinstance(one, str) and one in agents for one in given)


def news(events: Iterable[Event], choices: Choices) -> Iterator[str]:
    """The lines that tell what something in the background found, where that is left out."""
    if not (choices.tools and choices.subagents):
        yield from (event.id for event in events if is_news(event))
