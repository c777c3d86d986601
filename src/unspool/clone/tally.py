"""What a conversation holds, counted: before a copy is made of it, and after."""

from collections.abc import Iterable, Iterator

import msgspec

from unspool.figures.pieces import Piece, of_block, of_prompt
from unspool.model import Event, Image, Result, Thinking, ToolCall


class Tally(msgspec.Struct, frozen=True):
    """Counts of what is in the lines; tokens are estimated, of what the agent loads."""

    lines: int = 0
    turns: int = 0
    calls: int = 0
    thinking: int = 0
    images: int = 0
    tokens: int = 0
    bytes: int = 0


def pieces(events: Iterable[Event]) -> Iterator[Piece]:
    """What lines put into the model's window."""
    for event in events:
        if event.prompt is not None:
            yield from of_prompt(event.prompt)
        for block in event.blocks:
            if isinstance(block, ToolCall | Result) or event.part is not None or event.prompt is None:
                yield from of_block(block)


def weight(event: Event) -> int:
    """Tokens of a line, estimated."""
    return sum(piece.tokens for piece in pieces((event,)))


def tally(lines: list[Event], tokens: int, size: int) -> Tally:
    """The counts of some lines."""
    blocks = [block for event in lines for block in event.blocks]
    prompted = sum(len(event.prompt.images) for event in lines if event.prompt is not None)
    answered = sum(len(block.images) for block in blocks if isinstance(block, Result))
    return Tally(
        lines=len(lines),
        turns=sum(event.prompt is not None for event in lines),
        calls=sum(isinstance(block, ToolCall) for block in blocks),
        thinking=sum(isinstance(block, Thinking) for block in blocks),
        images=prompted + answered + sum(isinstance(block, Image) for block in blocks),
        tokens=tokens,
        bytes=size,
    )
