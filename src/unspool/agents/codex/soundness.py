"""What a rollout must be so that Codex can resume it, and damaged ones made such."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.codex.items import ANSWERS, ITEMS, is_injected, told_cwd
from unspool.agents.events import words_of
from unspool.agents.lines import is_blank, line_entries
from unspool.agents.values import mapping, text
from unspool.agents.writing import LintFinding, RepairedLog, RepairStep, Severity
from unspool.model import Json

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def lint_rollout(lines: Iterable[bytes], *, strict: bool) -> list[LintFinding]:
    """What keeps a rollout from being resumed; strictly, what a copy of ours must never show."""
    return sorted(_findings(lines, "error" if strict else "warning"), key=lambda one: one.line)


def _findings(lines: Iterable[bytes], odd: Severity) -> Iterator[LintFinding]:
    check = _Check(odd)
    for number, raw in enumerate(lines, 1):
        if not is_blank(raw):
            yield from check.line(raw, number)
    yield from check.end()


class _Check:
    """Hears the lines of a rollout in order; what is harmless to one that Codex wrote itself is `odd`."""

    def __init__(self, odd: Severity) -> None:
        self._odd = odd
        self._calls: dict[str, int] = {}
        self._answers: dict[str, int] = {}
        self._ordinal: int | None = None
        self._begun = False

    def line(self, raw: bytes, number: int) -> Iterator[LintFinding]:
        data = _record(raw)
        if data is None:
            told = "The line is no JSON object; Codex leaves it out."
            yield LintFinding("torn-line", number, told, self._odd)
            return
        said = mapping(data.get("payload"))
        if not self._begun:
            self._begun = True
            yield from _opening(data, said, number)
        yield from self._counted(data.get("ordinal"), number)
        if data.get("type") == "response_item":
            yield from self._paired(text(said.get("call_id")), said.get("type"), number)

    def _counted(self, count: Json, number: int) -> Iterator[LintFinding]:
        if not isinstance(count, int):
            return
        if self._ordinal is not None and count != self._ordinal + 1:
            told = f"The record is number {count} and follows number {self._ordinal}: one is missing or double."
            yield LintFinding("missing-record", number, told, "error")
        self._ordinal = count

    def _paired(self, call: str, kind: Json, number: int) -> Iterator[LintFinding]:
        if kind in _CALLS:
            self._calls.setdefault(call, number)
        elif kind in ANSWERS:
            if call in self._answers:
                yield LintFinding("duplicate-result", number, "The call was answered before.", self._odd, call)
            self._answers.setdefault(call, number)

    def end(self) -> Iterator[LintFinding]:
        if not self._begun:
            yield LintFinding("no-thread", 0, "There is no record in it.", "error")
        alone = (
            ("orphan-call", self._calls, self._answers, "The call has no answer; Codex makes one up."),
            ("orphan-result", self._answers, self._calls, "The answer has no call; Codex leaves it out."),
        )
        for rule, some, others, told in alone:
            yield from (LintFinding(rule, at, told, self._odd, call) for call, at in some.items() if call not in others)


def _opening(data: dict[str, Any], said: dict[str, Any], number: int) -> Iterator[LintFinding]:
    if data.get("type") == "session_meta" and text(said.get("id")):
        return
    told = (
        "The rollout is of 2025, before records had an envelope: Codex does not resume it any more."
        if _is_bare(data)
        else "The rollout does not begin with its thread, so that Codex does not find it."
    )
    yield LintFinding("no-thread", number, told, "error")


def mend_rollout(lines: Iterable[bytes]) -> RepairedLog:
    """A rollout without what cannot be read, and with envelopes where it has none; what has no other half goes where
    the copy is made."""
    kept: list[bytes] = []
    deeds: list[RepairStep] = []
    for number, raw in enumerate(lines, 1):
        if _record(raw) is not None:
            kept.append(raw if raw.endswith(b"\n") else raw + b"\n")
        elif not is_blank(raw):
            found = [msgspec.json.encode(entry.data) + b"\n" for entry in line_entries(raw) if entry.data is not None]
            told = "What could be read of the line was kept." if found else "The line could not be read."
            deeds.append(RepairStep("torn-line", number, told, lost=b"" if found else raw))
            kept += found
    header = (_record(kept[0]) if kept else None) or {}
    if _is_bare(header) and text(header.get("id")):
        told = "The records of 2025 were put into the envelopes that Codex reads since."
        deeds.append(RepairStep("no-thread", 1, told))
        kept = [msgspec.json.encode(one) + b"\n" for one in _enveloped(header, kept[1:])]
    return RepairedLog(kept, tuple(deeds))


def _is_bare(data: dict[str, Any]) -> bool:
    return "payload" not in data and "type" not in data and "timestamp" in data


def _enveloped(header: dict[str, Any], lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """The records of a rollout of 2025 as they are written since."""
    time, held = header["timestamp"], [mapping(_record(line)) for line in lines]
    told = (told_cwd(words_of(one.get("content"))) for one in held)
    meta = {"cwd": next(filter(None, told), "/"), "originator": "codex_cli_rs", "cli_version": "0.0.0", "source": "cli"}
    yield {"timestamp": time, "type": "session_meta", "payload": {**meta, **header}}
    for one in held:
        if "record_type" in one:
            continue
        known = one.get("type") in ITEMS
        yield {"timestamp": time, "type": "response_item", "payload": one} if known else one
        words = words_of(one.get("content"))
        if one.get("type") == "message" and one.get("role") == "user" and not is_injected(words):
            yield {"timestamp": time, "type": "event_msg", "payload": {"type": "user_message", "message": words}}


def _record(raw: bytes) -> dict[str, Any] | None:
    found = list(line_entries(raw))
    whole = len(found) == 1 and found[0].data is not None and not found[0].problem
    return mapping(found[0].data) if whole else None
