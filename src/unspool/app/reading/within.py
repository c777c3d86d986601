"""Words in one session: which of its blocks hold them, in the order they are read.

A page shows a part of a long session, so that a browser's own search finds a part of what there is.
"""

from collections.abc import Iterator

import msgspec

from unspool.figures import all_turns
from unspool.model import Image, Json, Notice, Prompt, Session, Text, Thinking, ToolCall, Unknown
from unspool.site.address import Addresses, Item

MOST = 2_000
"""Places that are named; more are only counted."""
LONGEST = 400
"""Characters that are looked for."""


class Within(msgspec.Struct, frozen=True):
    """Where words were found: `links` are pages and anchors, of the first blocks; `count` is of all of them."""

    words: str
    count: int
    links: tuple[str, ...]


def within(session: Session, addresses: Addresses, words: str) -> Within:
    """The blocks that hold words as they were typed, whatever their case; none where nothing was typed."""
    sought = " ".join(words[:LONGEST].split()).casefold()
    links: list[str] = []
    count = 0
    for item in _items(session, addresses) if sought else ():
        if any(_holds(text, sought) for text in texts(item)):
            count += 1
            if len(links) < MOST:
                links.append(addresses.link(item))
    return Within(sought, count, tuple(links))


def _holds(text: str, sought: str) -> bool:
    """Words that follow one another may stand on two lines."""
    folded = text.casefold()
    return sought in folded or (" " in sought and sought in " ".join(folded.split()))


def _items(session: Session, addresses: Addresses) -> Iterator[Item]:
    """Prompts and blocks: the conversation, its branches, each subagent."""
    agents = (chapter.agent.session for chapter in addresses.agents.values() if chapter.agent is not None)
    for member in (session, *agents):
        for turn in all_turns(member):
            yield from (turn.prompt,) if turn.prompt is not None else ()
            yield from turn.blocks


def texts(item: Item) -> Iterator[str]:
    """What a block says, piece by piece."""
    match item:
        case Prompt():
            yield from (f"{item.command} {item.arguments}", item.text, item.plan.text if item.plan else "")
        case Text() | Thinking() | Notice():
            yield item.text
        case ToolCall():
            yield item.name
            yield from _strings(item.input)
            answers = (answer for answer in (*item.earlier, item.result) if answer is not None)
            yield from (text for answer in answers for text in (answer.text, answer.feedback))
        case Image() | Unknown():
            return


def _strings(value: Json) -> Iterator[str]:
    """Every string inside a value, however deep; names of fields are none of them."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting.extend(reversed(fields.values()))
            case list() as parts:
                waiting.extend(reversed(parts))
