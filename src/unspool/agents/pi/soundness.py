"""What a session must be so that pi can resume it, and damaged ones made such."""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

import msgspec

from unspool.agents.lines import is_blank, line_entries
from unspool.agents.values import items, mapping, text
from unspool.agents.writing import LintFinding, RepairedLog, RepairStep, Severity


class _Entry(NamedTuple):
    line: int
    id: str
    parent: str
    calls: tuple[str, ...]
    answers: str
    kept: str | None
    """Of a compaction: the first entry before it that stays."""


def lint_session(lines: Iterable[bytes], *, strict: bool) -> list[LintFinding]:
    """What keeps a session from being resumed; strictly, what a copy of ours must never show."""
    return sorted(_findings(lines, "error" if strict else "warning"), key=lambda one: one.line)


def _findings(lines: Iterable[bytes], odd: Severity) -> Iterator[LintFinding]:
    header: dict[str, Any] | None = None
    found: dict[str, _Entry] = {}
    linear, last = False, ""
    for number, raw in enumerate(lines, 1):
        data = _record(raw)
        if data is None:
            if not is_blank(raw):
                yield LintFinding("torn-line", number, "The line is no JSON object; pi leaves it out.", odd)
        elif header is None:
            header, linear = data, _is_linear(data)
            yield from _opening(data, number, odd)
        else:
            entry = _entry(data, number, last if linear else None)
            yield from _placed(entry, found)
            last = entry.id
            found[last] = entry._replace(parent=entry.parent if entry.parent in found else "")
    if header is None:
        yield LintFinding("no-session", 0, "There is no record in it.", "error")
    yield from _paired(_loaded(found, last), odd)


def _opening(data: dict[str, Any], number: int, odd: Severity) -> Iterator[LintFinding]:
    if data.get("type") != "session" or not isinstance(data.get("id"), str):
        told = "The file does not begin with its session: pi would empty it and begin anew."
        yield LintFinding("no-session", number, told, "error")
    elif odd == "error" and data.get("version") != 3:
        yield LintFinding("old-version", number, "The session is of a form that pi writes no more.", odd)


def _entry(data: dict[str, Any], number: int, before: str | None) -> _Entry:
    """`before` is the entry that it follows where entries have no ids."""
    message = mapping(data.get("message")) if data.get("type") == "message" else {}
    parts = (mapping(one) for one in items(message.get("content")))
    called = message.get("role") == "assistant" and message.get("stopReason") not in ("error", "aborted")
    calls = tuple(text(one.get("id")) for one in parts if called and one.get("type") == "toolCall")
    kept = text(data.get("firstKeptEntryId")) if data.get("type") == "compaction" and before is None else None
    own, parent = text(data.get("id")), _parent(data)
    if before is not None:
        own, parent = f"line {number}", before
    answers = text(message.get("toolCallId")) if message.get("role") == "toolResult" else ""
    return _Entry(number, own, parent, calls, answers, kept)


def _placed(entry: _Entry, found: dict[str, _Entry]) -> Iterator[LintFinding]:
    if not entry.id:
        told = "The entry has no id, so that nothing can follow it."
        yield LintFinding("no-id", entry.line, told, "error")
    elif entry.id in found:
        told = f"The id is that of line {found[entry.id].line}, too: pi sees one of them alone."
        yield LintFinding("duplicate-id", entry.line, told, "error", entry.id)
    if entry.parent and entry.parent not in found:
        told = "The entry follows none that stands before it: pi does not load what was said before."
        yield LintFinding("missing-parent", entry.line, told, "error", entry.parent)


def _loaded(found: dict[str, _Entry], leaf: str) -> list[_Entry]:
    """What pi loads: the path to the last entry, of what a compaction closed only what that kept."""
    path: list[_Entry] = []
    at = found.get(leaf)
    while at is not None and len(path) <= len(found):
        path.append(at)
        at = found.get(at.parent)
    path.reverse()
    closed = next((index for index in reversed(range(len(path))) if path[index].kept is not None), 0)
    kept = path[closed].kept if path else None
    first = next((index for index in range(closed) if path[index].id == kept), closed)
    return path[first if kept is not None else 0 :]


def _paired(path: list[_Entry], odd: Severity) -> Iterator[LintFinding]:
    calls: dict[str, int] = {}
    answers: set[str] = set()
    for entry in path:
        if entry.answers in answers:
            told = "The call was answered before: the model's provider refuses the session."
            yield LintFinding("duplicate-result", entry.line, told, "error", entry.answers)
        elif entry.answers and entry.answers not in calls:
            told = "The answer has no call before it: the model's provider refuses the session."
            yield LintFinding("orphan-result", entry.line, told, "error", entry.answers)
        answers |= {entry.answers} - {""}
        calls |= dict.fromkeys(entry.calls, entry.line)
    for call, line in calls.items():
        if call not in answers:
            yield LintFinding("orphan-call", line, "The call has no answer; pi makes one up.", odd, call)


_FIELD = re.compile(rb'"(id|cwd|timestamp)":\s*("(?:[^"\\]|\\.)*")')


def mend_session(lines: Iterable[bytes]) -> RepairedLog:
    """A session without what cannot be read, whose entries follow one another; what has no other half goes where the
    copy is made."""
    records: list[tuple[int, dict[str, Any]]] = []
    deeds: list[RepairStep] = []
    for number, raw in enumerate(lines, 1):
        data = _record(raw)
        if data is None and not is_blank(raw):
            read = [mapping(entry.data) for entry in line_entries(raw) if entry.data is not None]
            read = read or ([] if records else _torn_header(raw))
            told = "What could be read of the line was kept." if read else "The line could not be read."
            deeds.append(RepairStep("torn-line", number, told, lost=b"" if read else raw))
            records += [(number, one) for one in read]
        elif data is not None:
            records.append((number, data))
    at = next((index for index, (_, one) in enumerate(records) if one.get("type") == "session"), None)
    if at is None:
        return RepairedLog([msgspec.json.encode(one) + b"\n" for _, one in records], tuple(deeds))
    number, header = records.pop(at)
    if at:
        deeds.append(RepairStep("no-session", number, "The session was put where pi looks for it: first."))
    if not _is_linear(header):
        deeds += _joined(records)
    kept = [header, *(one for _, one in records)]
    return RepairedLog([msgspec.json.encode(one) + b"\n" for one in kept], tuple(deeds))


def _torn_header(raw: bytes) -> list[dict[str, Any]]:
    """A torn first line as the header that it was, where it still says whose it is."""
    told: dict[str, Any] = {}
    for name, value in _FIELD.findall(raw):
        entry = next(line_entries(b'{"value":' + value + b"}"), None)
        told.setdefault(name.decode(), mapping(entry.data if entry else None).get("value"))
    whole = b'"session"' in raw and told.get("id") and told.get("cwd")
    return [{"type": "session", "version": 3, **told}] if whole else []


def _joined(records: list[tuple[int, dict[str, Any]]]) -> Iterator[RepairStep]:
    """Give every entry an id of its own and one before it to follow, in place."""
    taken = {text(one.get("id")) for _, one in records}
    fresh = (name for number in count(1) if (name := f"{number:08x}") not in taken)
    renamed: dict[str, str] = {}
    seen: set[str] = set()
    before: str | None = None
    for line, data in records:
        own, parent = text(data.get("id")), _parent(data)
        parent = renamed.get(parent, parent)
        if not own or own in seen:
            rule = "duplicate-id" if own else "no-id"
            data["id"] = renamed[own] = next(fresh)
            yield RepairStep(rule, line, "The entry was given an id of its own.", own)
        if (parent or not own) and parent not in seen:
            yield RepairStep("missing-parent", line, "The entry follows the one before it again.", parent)
            parent = before or ""
        data["parentId"] = parent or None
        before = data["id"]
        seen.add(data["id"])


def _parent(data: dict[str, Any]) -> str:
    """The entry that one names as the one it follows; empty where it begins a conversation."""
    named = data.get("parentId")
    return "" if named is None else text(named) or "?"


def _is_linear(header: dict[str, Any]) -> bool:
    """Whether a session is of the first form, whose entries follow one another as they stand."""
    version = header.get("version", 1)
    return not isinstance(version, int) or version < 2


def _record(raw: bytes) -> dict[str, Any] | None:
    found = list(line_entries(raw))
    whole = len(found) == 1 and found[0].data is not None and not found[0].problem
    return mapping(found[0].data) if whole else None
