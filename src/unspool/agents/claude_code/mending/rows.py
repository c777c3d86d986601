"""The rows of a log while it is repaired, and lines made of rubble."""

import json
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.claude_code.lint.content_rules import LintMessage, lint_messages
from unspool.agents.claude_code.lint.field_types import drop_wrong_types
from unspool.agents.claude_code.lint.lines import Findings, LintChain, LintLine, read_lines
from unspool.agents.lines import BOM, recover_entries, scrub
from unspool.agents.writing import RepairStep

_OURS = uuid.UUID("9a0b5f1e-6d1c-5f0e-8b57-6f1d0c3f6a10")
_ENVELOPE = (
    "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "session_id", "version", "gitBranch",
    "slug", "timestamp",
)  # fmt: skip


class RepairRow(msgspec.Struct, eq=False):
    """A line as it is by now, and where it was in the damaged log."""

    number: int
    raw: bytes
    facts: tuple[LintLine, ...] | None = None
    """What the validator knows of it, once it was asked; none for a line that it skips."""


class RepairRows:
    """All lines; every change is told."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.deeds: list[RepairStep] = []
        self.rows = [
            RepairRow(number, readable)
            for number, raw in enumerate(lines, 1)
            for readable in _readable(raw, number, self.deeds)
        ]
        self.end = ""
        """The line up to which messages are looked at; empty: where the agent goes on."""

    def lines(self) -> list[LintLine]:
        """The lines as the validator sees them; the number of each is its position here, from 1."""
        found: list[LintLine] = []
        for number, row in enumerate(self.rows, 1):
            if row.facts is None:
                row.facts = tuple(read_lines((row.raw,), Findings(strict=False)))
            found += [msgspec.structs.replace(line, number=number) for line in row.facts]
        return found

    def row(self, line: LintLine) -> RepairRow:
        return self.rows[line.number - 1]

    def sent(self) -> list[LintMessage]:
        """The messages that the agent would send, or would have sent at `end`, as they are by now."""
        chain = LintChain(self.lines())
        return lint_messages(chain.in_context(chain.by_id.get(self.end) if self.end else chain.leaf))

    def ends(self) -> list[str]:
        """Where the agent goes on, and where compactions closed what came before them."""
        return ["", *(line.event.logical for line in self.lines() if line.event.logical)]

    def tell(self, rule: str, row: RepairRow, message: str, where: str = "", lost: bytes = b"") -> None:
        self.deeds.append(RepairStep(rule, row.number, message, where, lost))

    def set(self, row: RepairRow, **fields: Any) -> None:
        """Change fields of a line."""
        self.put(row, {**row_data(row), **fields})

    def put(self, row: RepairRow, value: dict[str, Any]) -> None:
        row.raw = encode_row(value)
        row.facts = None

    def drop(self, gone: Iterable[RepairRow]) -> None:
        """Take lines out; what hung from them hangs from what they hung from."""
        leaving = {id(row) for row in gone}
        if not leaving:
            return
        held = [(row, row_data(row)) for row in self.rows if id(row) in leaving]
        self.rows = [row for row in self.rows if id(row) not in leaving]
        above = {value.get("uuid"): value.get("parentUuid") for _, value in held}
        for line in self.lines():
            if line.parent in above:
                self.set(self.row(line), parentUuid=_climbed(line.parent, above))
            if line.event.logical in above:
                self.set(self.row(line), logicalParentUuid=_climbed(line.event.logical, above))

    def insert(self, beside: RepairRow, value: dict[str, Any], *, before: bool = False) -> None:
        """A new line behind another, or before it, with the place and time of that one."""
        given = row_data(beside)
        envelope = {name: given[name] for name in _ENVELOPE if name in given}
        made = RepairRow(beside.number, encode_row({**envelope, **value}))
        self.rows.insert(self.rows.index(beside) + (0 if before else 1), made)


def _climbed(parent: str | None, above: dict[Any, Any]) -> str | None:
    seen: set[str] = set()
    while parent in above and parent not in seen:
        seen.add(str(parent))
        parent = above[parent]
    return None if parent in seen else parent


def row_data(row: RepairRow) -> dict[str, Any]:
    """A line as plain data."""
    value: dict[str, Any] = json.loads(row.raw)
    return value


def encode_row(value: dict[str, Any]) -> bytes:
    """A line as the agent writes it; halves of characters become the mark for what cannot be read."""
    scrub(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def new_id(old: str, number: int) -> str:
    """An id for a line that needs one: the same damage is mended the same way."""
    made = uuid.uuid5(_OURS, f"{old}/{number}").int
    return str(uuid.UUID(int=made & ~(0xF << 76) | 4 << 76))


def _readable(raw: bytes, number: int, deeds: list[RepairStep]) -> Iterator[bytes]:
    body = _text(raw, number, deeds)
    if not body.strip():
        return
    value = _value(body)
    if isinstance(value, dict):
        yield _typed(_ended(body, number, deeds), value, number, deeds)
    elif value is not None:
        deeds.append(RepairStep("bad-json-type", number, "The line was no object, and was taken out.", lost=raw))
    else:
        yield from _parts(body, raw, number, deeds)


def _value(body: bytes) -> object:
    try:
        return json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(name: str) -> None:
    raise ValueError(name)


def _text(raw: bytes, number: int, deeds: list[RepairStep]) -> bytes:
    """The line without what no text has: bytes that are no UTF-8, a byte-order mark, NULs."""
    if number == 1 and raw.startswith(BOM):
        deeds.append(RepairStep("byte-order-mark", number, "The byte-order mark was taken off."))
        raw = raw[len(BOM) :]
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        deeds.append(RepairStep("not-utf8", number, f"Bytes that are no text became “�”, the first at {error.start}."))
        raw = raw.decode(errors="replace").encode()
    if b"\0" in raw:
        deeds.append(RepairStep("nul-bytes", number, f"{raw.count(0):,} NUL bytes were taken out."))
        raw = raw.replace(b"\0", b"")
    return raw


def _ended(raw: bytes, number: int, deeds: list[RepairStep]) -> bytes:
    if raw.endswith(b"\n"):
        return raw
    deeds.append(RepairStep("no-newline", number, "The last line was given its end."))
    return raw + b"\n"


def _typed(body: bytes, value: dict[str, object], number: int, deeds: list[RepairStep]) -> bytes:
    wrong = drop_wrong_types(value)
    if not wrong:
        return _whole_characters(body, value, number, deeds)
    deeds.append(
        RepairStep("bad-json-type", number, f"Of a type that they never have, and taken out: {', '.join(wrong)}.")
    )
    return encode_row(value)


def _whole_characters(body: bytes, value: dict[str, object], number: int, deeds: list[RepairStep]) -> bytes:
    if b"\\ud" not in body.lower():
        return body
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        deeds.append(RepairStep("lone-surrogate", number, "Halves of characters became “�”."))
        return encode_row(value)
    return body


def _parts(body: bytes, raw: bytes, number: int, deeds: list[RepairStep]) -> Iterator[bytes]:
    """Lines that were glued together, or the whole ones beside a torn one."""
    entries = list(recover_entries(body, number, 0))
    found = [entry.data for entry in entries if entry.data is not None]
    lost = b"".join(entry.raw for entry in entries if entry.data is None)
    if lost or len(found) < 2:
        what = "its whole rest is a line again" if found else "it was taken out"
        deeds.append(RepairStep("torn-line", number, f"The line was torn; {what}.", lost=lost if found else raw))
    else:
        deeds.append(RepairStep("glued-lines", number, f"{len(found)} lines that were glued together were parted."))
    for value in found:
        drop_wrong_types(value)
        yield encode_row(value)
