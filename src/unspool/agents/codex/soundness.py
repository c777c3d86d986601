"""What a rollout must be so that Codex can resume it, and damaged ones made such."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from unspool.agents.codex.items import ANSWERS
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
            yield LintFinding("unreadable-line", number, told, self._odd)
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
            yield LintFinding("ordinal", number, told, "error")
        self._ordinal = count

    def _paired(self, call: str, kind: Json, number: int) -> Iterator[LintFinding]:
        if kind in _CALLS:
            self._calls.setdefault(call, number)
        elif kind in ANSWERS:
            if call in self._answers:
                yield LintFinding("answered-twice", number, "The call was answered before.", self._odd, call)
            self._answers.setdefault(call, number)

    def end(self) -> Iterator[LintFinding]:
        if not self._begun:
            yield LintFinding("no-thread", 0, "There is no record in it.", "error")
        alone = (
            ("call-without-answer", self._calls, self._answers, "The call has no answer; Codex makes one up."),
            ("answer-without-call", self._answers, self._calls, "The answer has no call; Codex leaves it out."),
        )
        for rule, some, others, told in alone:
            yield from (LintFinding(rule, at, told, self._odd, call) for call, at in some.items() if call not in others)


def _opening(data: dict[str, Any], said: dict[str, Any], number: int) -> Iterator[LintFinding]:
    if data.get("type") == "session_meta" and text(said.get("id")):
        return
    old = "payload" not in data and "type" not in data
    told = (
        "The rollout is of 2025, before records had an envelope: Codex does not resume it any more."
        if old
        else "The rollout does not begin with its thread, so that Codex does not find it."
    )
    yield LintFinding("no-thread", number, told, "error")


def mend_rollout(lines: Iterable[bytes]) -> RepairedLog:
    """A rollout without what cannot be read; what has no other half goes where the copy is made."""
    kept: list[bytes] = []
    deeds: list[RepairStep] = []
    for number, raw in enumerate(lines, 1):
        if _record(raw) is not None:
            kept.append(raw if raw.endswith(b"\n") else raw + b"\n")
        elif not is_blank(raw):
            found = [msgspec.json.encode(entry.data) + b"\n" for entry in line_entries(raw) if entry.data is not None]
            what = (
                "was damaged, and what could be read of it was kept" if found else "could not be read and was left out"
            )
            deeds.append(RepairStep("unreadable-line", number, f"The line {what}.", lost=b"" if found else raw))
            kept += found
    return RepairedLog(kept, tuple(deeds))


def _record(raw: bytes) -> dict[str, Any] | None:
    found = list(line_entries(raw))
    whole = len(found) == 1 and found[0].data is not None and not found[0].problem
    return mapping(found[0].data) if whole else None
