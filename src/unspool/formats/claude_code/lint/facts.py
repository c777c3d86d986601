"""What the validator knows of a line: small, so that a log of any size fits, whatever its lines hold."""

import msgspec

from unspool.formats.claude_code.lint.blocks import Flaw, Piece, content
from unspool.formats.claude_code.lint.shape import NOTHING, Block, Detail, Message, Shape

CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of lines that have a place in the conversation's tree."""
SPOKEN = frozenset({"user", "assistant"})

_DETAIL = msgspec.json.Decoder(Detail)
_OPENING = 60
_STUB = b'"[left out: '
"""How a result begins that a copy of ours tells in one line."""


class Line(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A line of the conversation's tree, or beside it."""

    number: int
    id: str
    parent: str
    shape: Shape
    """Without its message and the tool's record, which are as large as the line."""
    role: str
    message: str
    """The id of the message it is a part of; its own where it has none."""
    model: str
    pieces: tuple[Piece, ...]
    flaws: tuple[Flaw, ...]
    digest: int
    mentions: tuple[str, ...] = ()
    """Ids of the common shape that a line beside the conversation holds, where a copy is looked at."""
    opening: str = ""
    """How a message begins that is one text."""
    start: int = 0
    """Where the line begins, in bytes."""

    @property
    def in_chain(self) -> bool:
        return bool(self.id) and self.shape.type in CHAIN

    @property
    def spoken(self) -> bool:
        return self.shape.type in SPOKEN

    @property
    def is_boundary(self) -> bool:
        return self.shape.subtype == "compact_boundary" and self.shape.type == "system"

    @property
    def is_main(self) -> bool:
        """Whether a session may go on from it: neither a subagent's nor a team's nor the agent's own remark."""
        return not (self.shape.is_sidechain or self.shape.team_name or self.shape.is_meta)

    @property
    def calls(self) -> list[str]:
        return [piece.id for piece in self.pieces if piece.kind == "tool_use"]

    @property
    def answers(self) -> list[str]:
        return [piece.id for piece in self.pieces if piece.kind == "tool_result"]


def line_of(number: int, shape: Shape, digest: int, mentions: tuple[str, ...], start: int) -> Line:
    """The facts of a decoded line; nothing of it keeps the line's bytes in memory."""
    message = shape.message
    pieces, flaws = content(message) if shape.type in SPOKEN else ((), ())
    if shape.type == "user" and message is not None:
        flaws += _record(shape, message.content)
    shape.message = None
    shape.tool_use_result = NOTHING
    said = message or Message()
    opening = said.content[:_OPENING] if isinstance(said.content, str) else ""
    return Line(
        number, shape.uuid or "", shape.parent_uuid or "", shape,
        said.role or "", said.id or shape.uuid or "", said.model or "", pieces, flaws, digest, mentions, opening, start,
    )  # fmt: skip


def _is_stub(block: Block) -> bool:
    return block.type == "tool_result" and bytes(memoryview(block.content)[: len(_STUB)]) == _STUB


def _record(shape: Shape, content: list[Block] | str | None) -> tuple[Flaw, ...]:
    """Where the tool's own record of a result tells something else than the result that the model sees."""
    record = memoryview(shape.tool_use_result)
    if len(record) > 2 and isinstance(content, list) and any(map(_is_stub, content)):
        return (Flaw("result-mismatch", "A result was left out, and the tool's own record still holds it.", "odd"),)
    if len(record) < 2000 or record[0] != 123 or not isinstance(content, list):
        return ()
    results = [block for block in content if block.type == "tool_result"]
    if len(results) != 1:
        return ()
    shown = memoryview(results[0].content)
    if bytes(shown[1:18]) == b"<persisted-output":
        return ()  # the whole is in a file of the session
    if bytes(shown[:1]) != b'"' or len(record) < 2 * len(shown):
        return ()
    try:
        printed = len(memoryview(_DETAIL.decode(shape.tool_use_result).stdout))
    except msgspec.DecodeError:
        return ()
    if printed > 2 * len(shown) + 200:
        return (
            Flaw("result-mismatch", "The tool's own record holds more than the result that the model sees.", "odd"),
        )
    return ()
