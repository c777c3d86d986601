"""The lines of a log while it is mended."""

import json
import uuid
from collections.abc import Iterable
from typing import Any

import msgspec

from unspool.formats.claude_code.lint.context import Sent, context, messages
from unspool.formats.claude_code.lint.facts import Line
from unspool.formats.claude_code.lint.notes import Notes
from unspool.formats.claude_code.lint.reading import read
from unspool.formats.claude_code.lint.tree import Tree
from unspool.formats.findings import Deed

_OURS = uuid.UUID("9a0b5f1e-6d1c-5f0e-8b57-6f1d0c3f6a10")
_ENVELOPE = (
    "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "session_id", "version", "gitBranch",
    "slug", "timestamp",
)  # fmt: skip


class Row(msgspec.Struct, eq=False):
    """A line as it is by now, and where it was in the damaged log."""

    number: int
    raw: bytes
    facts: tuple[Line, ...] | None = None
    """What the validator knows of it, once it was asked; none for a line that it skips."""


class Cleared(msgspec.Struct):
    """Lines that can all be read, and what was done to get there."""

    rows: list[Row] = []
    deeds: list[Deed] = []


class Rows:
    """All lines; every change is told."""

    def __init__(self, cleared: Cleared) -> None:
        self.rows = cleared.rows
        self.deeds = cleared.deeds
        self.end = ""
        """The line up to which messages are looked at; empty: where the agent goes on."""

    def lines(self) -> list[Line]:
        """The lines as the validator sees them; the number of each is its position here, from 1."""
        found: list[Line] = []
        for number, row in enumerate(self.rows, 1):
            if row.facts is None:
                row.facts = tuple(read((row.raw,), Notes(strict=False)))
            found += [msgspec.structs.replace(line, number=number) for line in row.facts]
        return found

    def row(self, line: Line) -> Row:
        return self.rows[line.number - 1]

    def sent(self) -> list[Sent]:
        """The messages that the agent would send, or would have sent at `end`, as they are by now."""
        tree = Tree(self.lines())
        return messages(context(tree, tree.by_id.get(self.end) if self.end else tree.leaf))

    def ends(self) -> list[str]:
        """Where the agent goes on, and where compactions closed what came before them."""
        logical = [line.shape.logical_parent_uuid or "" for line in self.lines() if line.is_boundary]
        return ["", *(one for one in logical if one)]

    def tell(self, rule: str, row: Row, message: str, where: str = "", lost: bytes = b"") -> None:
        self.deeds.append(Deed(rule, row.number, message, where, lost))

    def set(self, row: Row, **fields: Any) -> None:
        """Change fields of a line."""
        self.put(row, {**data(row), **fields})

    def put(self, row: Row, value: dict[str, Any]) -> None:
        row.raw = encoded(value)
        row.facts = None

    def drop(self, gone: Iterable[Row]) -> None:
        """Take lines out; what hung from them hangs from what they hung from."""
        leaving = {id(row) for row in gone}
        if not leaving:
            return
        held = [(row, data(row)) for row in self.rows if id(row) in leaving]
        self.rows = [row for row in self.rows if id(row) not in leaving]
        above = {value.get("uuid"): value.get("parentUuid") for _, value in held}
        for line in self.lines():
            if line.parent in above:
                self.set(self.row(line), parentUuid=_climbed(line.parent, above))
            if line.is_boundary and line.shape.logical_parent_uuid in above:
                self.set(self.row(line), logicalParentUuid=_climbed(line.shape.logical_parent_uuid, above))

    def insert(self, beside: Row, value: dict[str, Any], *, before: bool = False) -> None:
        """A new line behind another, or before it, with the place and time of that one."""
        given = data(beside)
        envelope = {name: given[name] for name in _ENVELOPE if name in given}
        made = Row(beside.number, encoded({**envelope, **value}))
        self.rows.insert(self.rows.index(beside) + (0 if before else 1), made)


def _climbed(parent: str | None, above: dict[Any, Any]) -> str | None:
    seen: set[str] = set()
    while parent in above and parent not in seen:
        seen.add(str(parent))
        parent = above[parent]
    return None if parent in seen else parent


def data(row: Row) -> dict[str, Any]:
    """A line as plain data."""
    value: dict[str, Any] = json.loads(row.raw)
    return value


def encoded(value: dict[str, Any]) -> bytes:
    """A line as the agent writes it; halves of characters become the mark for what cannot be read."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"


def new_id(old: str, number: int) -> str:
    """An id for a line that needs one: the same damage is mended the same way."""
    made = uuid.uuid5(_OURS, f"{old}/{number}").int
    return str(uuid.UUID(int=made & ~(0xF << 76) | 4 << 76))
