"""What a reader can see of nodes, and which words of a session must be among it."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.doc import Node
from unspool.model import Session, Text, Thinking, ToolCall, Turn
from unspool.tools.ansi import strip_ansi


def seen(document: Iterable[Node]) -> str:
    """Every string of the nodes, one after the other."""
    return "\n".join(piece for node in document for piece in _strings(msgspec.to_builtins(node)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        if "spans" in value:
            yield "".join(span["text"] for span in value["spans"])
        for item in (item for name, item in value.items() if name != "spans"):
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def bare(text: str) -> str:
    """The text without spaces and controls, which layout may change."""
    return "".join(strip_ansi(text).split())


def said(turns: Iterable[Turn]) -> Iterator[str]:
    """Every prompt, text, thought and answer of the turns."""
    for turn in turns:
        if turn.prompt:
            yield turn.prompt.words
        for block in turn.blocks:
            if isinstance(block, Text | Thinking):
                yield block.text
            elif isinstance(block, ToolCall) and block.result:
                yield from (block.result.text, block.result.feedback, *(old.text for old in block.earlier))


def said_by_all(session: Session) -> Iterator[str]:
    """The same of a session's live turns and of its subagents, to any depth."""
    yield from said(session.turns)
    for agent in session.agents:
        yield from said_by_all(agent.session)
