"""Who wrote which lines as other programs note it down: git-ai's notes and Agent Trace records, read and written."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

if TYPE_CHECKING:
    from unspool.store.library.blame import Blame, BlamedChange
    from unspool.store.library.git_repository import GitRepository

GIT_AI = "ai"
"""The ref of git-ai's notes, below refs/notes."""
_TRACES = ".agent-trace/traces.jsonl"
_LARGEST = 64 * 1024 * 1024
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class LineRange(NamedTuple):
    path: str
    first: int
    last: int
    who: str
    """The agent, its session and model, in words."""


class NotedLines(NamedTuple):
    """What is noted of the lines of a commit."""

    ranges: tuple[LineRange, ...] = ()

    def of(self, path: str, number: int) -> str:
        """Who wrote a line; empty where nobody noted it."""
        return next((one.who for one in self.ranges if one.path == path and one.first <= number <= one.last), "")


def noted_lines(repository: "GitRepository", commit: str) -> NotedLines:
    """All that notes and traces tell of a commit's lines."""
    note = repository.note(GIT_AI, commit)
    return NotedLines((*parse_git_ai(note), *_traced(Path(repository.top) / _TRACES, commit)))


def parse_git_ai(note: str) -> Iterator[LineRange]:
    """The lines of agents in a note of git-ai; what cannot be read is left out."""
    told, _, data = note.partition("\n---\n")
    try:
        facts = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        return
    known = {name: _mapping(_mapping(facts).get(name)) for name in ("sessions", "prompts")}
    path = ""
    for line in told.split("\n"):
        if not line.startswith("  "):
            path = line.strip().strip('"')
            continue
        key, _, ranges = line.strip().rpartition(" ")
        named = key.partition("::")[0]
        found = _mapping(known["sessions"].get(named) or known["prompts"].get(named))
        agent = _mapping(found.get("agent_id"))
        if not agent:
            continue  # a person's, or of nobody that is told
        who = " ".join(str(agent[name])[:200] for name in ("tool", "id", "model") if agent.get(name))
        for first, last in _RANGE.findall(ranges):
            yield LineRange(path, int(first), int(last or first), who)


def _traced(path: Path, commit: str) -> Iterator[LineRange]:
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    except OSError:
        return
    for line in lines:
        if commit[:12] in line:
            yield from parse_agent_trace(line, commit)


def parse_agent_trace(line: str, commit: str) -> Iterator[LineRange]:
    """The lines of agents in a record of Agent Trace, where it is of a commit."""
    try:
        record = _mapping(json.loads(line))
    except (ValueError, RecursionError):
        return
    if str(_mapping(record.get("vcs")).get("revision")) != commit:
        return
    tool = str(_mapping(record.get("tool")).get("name") or "an agent")
    for file in map(_mapping, _items(record.get("files"))):
        for talk in map(_mapping, _items(file.get("conversations"))):
            usual = _mapping(talk.get("contributor"))
            for one in map(_mapping, _items(talk.get("ranges"))):
                by = _mapping(one.get("contributor")) or usual
                first, last = one.get("start_line"), one.get("end_line")
                if by.get("type") in ("ai", "mixed") and isinstance(first, int) and isinstance(last, int):
                    who = " ".join(str(part)[:200] for part in (tool, talk.get("url"), by.get("model_id")) if part)
                    yield LineRange(str(file.get("path")), first, last, who)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def agent_trace(blame: "Blame", place: str, revision: str, version: str) -> dict[str, Any]:
    """A record of Agent Trace 0.1.0 of a file as a commit has it."""
    talks = [
        {
            "url": f"unspool:{change.session}#turn-{change.turn}" if change is not None else None,
            "contributor": {"type": kind, **({"model_id": change.model[:250]} if change and change.model else {})},
            "ranges": [{"start_line": first, "end_line": last} for first, last in ranges],
        }
        for kind, change, ranges in _talks(blame)
    ]
    times = [change.time for change in blame.changes if change.time is not None]
    return {
        "version": "0.1.0",
        "id": str(uuid5(NAMESPACE_URL, f"unspool:{revision}:{place}")),
        "timestamp": max(times).isoformat() if times else "1970-01-01T00:00:00+00:00",
        **({"vcs": {"type": "git", "revision": revision}} if revision else {}),
        "tool": {"name": "unspool", "version": version},
        "files": [{"path": place, "conversations": [_without_none(one) for one in talks]}],
    }


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if one is not None}


_Talk = tuple[str, "BlamedChange | None", list[tuple[int, int]]]


def _talks(blame: "Blame") -> Iterator[_Talk]:
    """The lines by who wrote them and in which turn, agents first."""
    groups: dict[tuple[str, str, int, str], tuple[BlamedChange | None, list[int]]] = {}
    for line in blame.lines:
        change = blame.changes[line.change] if line.change is not None else None
        kind = {"agent": "ai", "person": "human", "unknown": "unknown"}[line.who]
        key = (kind, change.session, change.turn, change.model) if change is not None else (kind, line.noted, 0, "")
        groups.setdefault(key, (change, []))[1].append(line.number)
    for (kind, *_), (change, numbers) in sorted(groups.items(), key=lambda one: one[0]):
        yield kind, change, line_ranges(numbers)


def line_ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers in order, as the ranges that they make."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


def git_ai_note(blame: "Blame", place: str, revision: str, version: str) -> str:
    """A note of git-ai, authorship/3.0.0, of one file: the lines that a commit brought and agents wrote."""
    by_session: dict[str, list[int]] = {}
    sessions: dict[str, Any] = {}
    for line in blame.lines:
        brought = line.commit is not None and blame.commits[line.commit].hash == revision
        if line.change is None or not brought:
            continue
        change = blame.changes[line.change]
        tool = change.agent.removesuffix("-code")  # as git-ai calls agents
        name = hashlib.sha256(f"{tool}:{change.session}".encode()).hexdigest()[:14]
        call = hashlib.sha256(f"{change.session}:{line.change}".encode()).hexdigest()[:14]
        by_session.setdefault(f"s_{name}::t_{call}", []).append(line.number)
        sessions[f"s_{name}"] = {"agent_id": {"tool": tool, "id": change.session, "model": change.model}}
    if not by_session:
        return ""
    rows = [
        f"  {key} {','.join(f'{a}-{b}' if b > a else f'{a}' for a, b in line_ranges(numbers))}"
        for key, numbers in by_session.items()
    ]
    name = f'"{place}"' if re.search(r"\s", place) else place
    facts = {
        "schema_version": "authorship/3.0.0", "git_ai_version": f"unspool {version}", "base_commit_sha": revision,
        "prompts": {}, "humans": {}, "sessions": sessions,
    }  # fmt: skip
    return "\n".join([name, *rows, "---", json.dumps(facts, indent=2)])
