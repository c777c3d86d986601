"""The messages that the agent would send when it resumes a log, found without any of unspool's own code.

Tests and benchmarks hold copies and findings against it, so it reads lines, joins them and follows the live path by
itself, from plain JSON.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Line = dict[str, Any]

_CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
_SPOKEN = frozenset({"user", "assistant"})


def rebuilt(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages that the agent would send when it resumes a log: role and content blocks, results first."""
    tree = _Tree(list(_readable(lines)))
    found = []
    for role, members in _messages(tree.in_context()):
        blocks = [block for line in members for block in _blocks(line)]
        blocks.sort(key=lambda block: role == "user" and block.get("type") != "tool_result")
        found.append({"role": role, "content": blocks})
    return found


def _readable(lines: Iterable[bytes]) -> Iterator[Line]:
    """The lines of the conversation that the agent can read; fields of wrong types are left out."""
    for number, raw in enumerate(lines):
        try:
            line = json.loads(raw.decode("utf-8-sig", "replace"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and _text(line, "type") in _CHAIN and _text(line, "uuid"):
            yield {**line, "number": number, "message": _dict(line, "message")}


def _refuse(name: str) -> None:
    raise ValueError(name)


def _text(data: Line, name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _dict(data: Line, name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _list(data: Line, name: str) -> list[Any]:
    value = data.get(name)
    return value if isinstance(value, list) else []


def _blocks(line: Line) -> list[dict[str, Any]]:
    content = line["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in _list(line["message"], "content") if isinstance(block, dict)]


def _ids(line: Line, kind: str, name: str) -> list[str]:
    return [_text(block, name) for block in _blocks(line) if line["type"] in _SPOKEN and block.get("type") == kind]


def _answer(line: Line) -> str:
    """The id of the message that a line is a part of; empty where it has none of its own."""
    found = _text(line["message"], "id") if line["type"] == "assistant" else ""
    return found if found != line["uuid"] else ""


def _is_main(line: Line) -> bool:
    return not (line.get("isSidechain") or _text(line, "teamName") or line.get("isMeta"))


def _writer(line: Line) -> tuple[bool, str]:
    return bool(line.get("isSidechain")), _text(line, "agentId")


class _Tree:
    """The lines by id; of two with one id the later counts."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.by_id = {line["uuid"]: line for line in lines}
        parents = {_text(line, "parentUuid") for line in lines}
        tips = [self._spoken(line) for line in lines if line["uuid"] not in parents]
        leaves = [line for line in tips if line is not None]
        main = [line for line in leaves if _is_main(line)]
        self.leaf = max(main or leaves, key=lambda line: line["number"], default=None)
        self._index()

    def _spoken(self, line: Line) -> Line | None:
        """The nearest words at or above a line."""
        return next((one for one in self._above(line) if one["type"] in _SPOKEN), None)

    def _above(self, line: Line | None) -> Iterator[Line]:
        seen: set[str] = set()
        while line is not None and line["uuid"] not in seen:
            seen.add(line["uuid"])
            yield line
            line = self.by_id.get(_text(line, "parentUuid"))

    def _index(self) -> None:
        self.members: dict[str, list[Line]] = {}
        self.owners: dict[str, Line | None] = {}
        self.results: dict[str, list[Line]] = {}
        for line in self.by_id.values():
            if _answer(line):
                self.members.setdefault(_answer(line), []).append(line)
                for call in _ids(line, "tool_use", "id"):
                    other = self.owners.get(call, line)
                    self.owners[call] = line if other is not None and _answer(other) == _answer(line) else None
        for line in self.by_id.values():
            if line["type"] == "user" and _text(line, "parentUuid") and _ids(line, "tool_result", "tool_use_id"):
                for owner in self._may_answer(line):
                    self.results.setdefault(owner, []).append(line)

    def _may_answer(self, result: Line) -> Iterator[str]:
        yield _text(result, "parentUuid")
        source = self.by_id.get(_text(result, "sourceToolAssistantUUID"))
        calls = _ids(result, "tool_result", "tool_use_id")
        for owner in (source, *(self.owners.get(call) for call in calls)):
            if owner is not None and _writer(owner) == _writer(result):
                yield owner["uuid"]

    def in_context(self) -> list[Line]:
        """The lines that the agent has in mind: since the last compaction, with what that one preserved."""
        path = self._with_preserved(list(self._above(self.leaf))[::-1])
        taken = {line["uuid"] for line in path}
        answered = {call for line in path for call in _ids(line, "tool_result", "tool_use_id")}
        anchors = {_answer(line): line["uuid"] for line in path if _answer(line)}
        added: dict[str, list[Line]] = {}
        for message, anchor in anchors.items():
            members = self.members[message]
            mates = [line for line in members if line["uuid"] not in taken]
            found = sorted(mates, key=_time) + sorted(self._answers(members, taken, answered), key=_time)
            taken.update(line["uuid"] for line in found)
            added[anchor] = found
        return [step for line in path for step in (line, *added.get(line["uuid"], ()))]

    def _answers(self, members: list[Line], taken: set[str], answered: set[str]) -> list[Line]:
        """Results of a message's calls: those below its lines, and of the others those whose call has none yet."""
        ids = {line["uuid"] for line in members}
        every = {one["uuid"]: one for line in members for one in self.results.get(line["uuid"], ())}
        candidates = [one for one in every.values() if one["uuid"] not in taken]
        near = [one for one in candidates if _text(one, "parentUuid") in ids]
        known = answered | {call for one in near for call in _ids(one, "tool_result", "tool_use_id")}
        strays = [one for one in candidates if _text(one, "parentUuid") not in ids]
        for result in sorted(strays, key=lambda one: one["number"]):
            calls = _ids(result, "tool_result", "tool_use_id")
            owners = [self.owners.get(call) for call in calls if call not in known]
            if any(owner is not None and owner["uuid"] in ids for owner in owners):
                known.update(calls)
                near.append(result)
        return near

    def _with_preserved(self, path: list[Line]) -> list[Line]:
        """The path with the lines that a compaction keeps, behind its summary."""
        if not path or path[0].get("subtype") != "compact_boundary" or path[0]["type"] != "system":
            return path
        facts = _dict(path[0], "compactMetadata")
        segment, messages = _dict(facts, "preservedSegment"), _dict(facts, "preservedMessages")
        on_path = [line["uuid"] for line in path]
        anchor = segment.get("anchorUuid") or messages.get("anchorUuid")
        if anchor not in on_path:
            return path
        kept = [line for line in self._preserved(segment, messages) if line["uuid"] not in on_path]
        behind = on_path.index(anchor) + 1
        return [*path[:behind], *kept, *path[behind:]]

    def _preserved(self, segment: dict[str, Any], messages: dict[str, Any]) -> list[Line]:
        """The lines that a compaction keeps, in order; none where they are not all there."""
        listed = _list(messages, "uuids")
        if listed:
            lines = [self.by_id.get(one) if isinstance(one, str) else None for one in listed]
            return [line for line in lines if line is not None] if None not in lines else []
        walk = list(self._above(self.by_id.get(_text(segment, "tailUuid"))))[::-1]
        ids = [line["uuid"] for line in walk]
        return walk[ids.index(segment["headUuid"]) :] if segment.get("headUuid") in ids else []


def _time(line: Line) -> str:
    return _text(line, "timestamp")


def _messages(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Lines as messages: those of one answer together whatever stands between, results behind the calls, roles in turn.

    Errors that the agent noted as answers, and what was withdrawn, are not sent.
    """
    names = ("retractedMessageUuids", "supersedesUuids")
    withdrawn = [one for line in lines for name in names for one in _list(line, name)]
    found: list[tuple[str, list[Line]]] = []
    answer = ""
    for line in lines:
        role = line["type"]
        if role not in _SPOKEN or line.get("isApiErrorMessage") or line["uuid"] in withdrawn:
            continue
        message = _answer(line) or line["uuid"]
        if role == "assistant" and message == answer and len(found) > 1:
            (found[-1] if found[-1][0] == role else found[-2])[1].append(line)
        elif found and found[-1][0] == role:
            found[-1][1].append(line)
        else:
            found.append((role, [line]))
        answer = message if role == "assistant" else answer
    return found
