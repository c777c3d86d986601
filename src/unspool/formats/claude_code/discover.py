"""Where Claude Code keeps its logs, and which files belong to which session."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from unspool.formats.claude_code.values import text
from unspool.formats.found import Companion, Found, FoundAgent

ID = "claude-code"
_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_HEAD_LINES = 20


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The agent's folders: the one the environment names (several with commas), else the usual two."""
    named = [
        Path(part.strip()).expanduser() for part in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if part.strip()
    ]
    return named or [home / ".claude", home / ".config" / "claude"]


def discover(root: Path) -> Iterator[Found]:
    """Every session under a folder that holds `projects/`, is one, or is one project's folder."""
    projects = root / "projects"
    base = projects if projects.is_dir() else root
    above = [folder for folder in (projects, root, root.parent) if folder.name == "projects" and folder.is_dir()]
    agent_home = str(above[0].parent) if above else ""
    if any(_is_log(entry.name) for entry in _scan(base)):
        yield from _project(base, agent_home)
    for entry in sorted(_scan(base), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _project(Path(entry.path), agent_home)


def _scan(folder: Path) -> list["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        return list(entries)


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name[: -len(suffix)]
    return ""


def _is_log(name: str) -> bool:
    return bool(_stem(name)) and not name.startswith(".")


def _project(folder: Path, root: str) -> Iterator[Found]:
    try:
        entries = _scan(folder)
    except OSError:
        return
    logs = {entry.name: entry for entry in entries if _is_log(entry.name) and _stem(entry.name) != "journal"}
    beside = _agents_beside(entry.path for name, entry in logs.items() if name.startswith("agent-"))
    claimed = set()
    names = {entry.name for entry in entries}
    for name, entry in sorted(logs.items()):
        if name.startswith("agent-"):
            continue
        stem = _stem(name)
        claimed.add(stem)
        try:
            status = entry.stat()
        except OSError:
            continue
        agents = (*beside.get(stem, ()), *(_agents_below(folder / stem) if stem in names else ()))
        yield Found(entry.path, stem, ID, status.st_size, status.st_mtime, folder.name, root, agents)
    yield from _strays(beside, claimed, folder, root)


def _strays(beside: dict[str, list[FoundAgent]], claimed: set[str], folder: Path, root: str) -> Iterator[Found]:
    """Subagents whose session's log is gone, each as a session of its own."""
    for session, agents in beside.items():
        if session in claimed:
            continue
        for agent in agents:
            status = Path(agent.path).stat()
            name = f"agent-{agent.id}"
            yield Found(agent.path, name, ID, status.st_size, status.st_mtime, folder.name, root, owner=session)


def _agents_beside(paths: Iterator[str]) -> dict[str, list[FoundAgent]]:
    """Subagents' logs that lie among the sessions, by the session their lines name."""
    found: dict[str, list[FoundAgent]] = {}
    for path in sorted(paths):
        found.setdefault(_session_of(path), []).append(_agent(Path(path)))
    return found


def _session_of(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            return owner(stream)
    except OSError:
        return ""


def owner(lines: Iterable[bytes]) -> str:
    """The session that the first lines of a subagent's log name."""
    decoder = msgspec.json.Decoder()
    for _, line in zip(range(_HEAD_LINES), lines, strict=False):
        try:
            data = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue
        if isinstance(data, dict) and text(data.get("sessionId")):
            return text(data["sessionId"])
    return ""


def _agents_below(home: Path) -> Iterator[FoundAgent]:
    """Subagents' logs anywhere below a session's own folder; links are not followed."""
    waiting = [home]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(_scan(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.name.startswith("agent-") and _is_log(entry.name):
                yield _agent(Path(entry.path))


def _agent(path: Path) -> FoundAgent:
    stem = _stem(path.name)
    sidecar = path.parent / f"{stem}.meta.json"
    return FoundAgent(str(path), stem.removeprefix("agent-"), str(sidecar) if sidecar.is_file() else "")


def companions(found: Found, slug: str = "") -> list[Companion]:
    """The files that belong to a session beside its logs."""
    listed = [*_below(found.home / "tool-results", "tool-result"), *_below(found.home / "workflows", "workflow")]
    if found.root:
        root = Path(found.root)
        listed += _below(root, "history", "history.jsonl")
        listed += _below(root / "todos", "todos", f"{found.session_id}-agent-")
        listed += _below(root / "tasks" / found.session_id, "task")
        listed += _below(root / "file-history" / found.session_id, "file-history")
        if slug:
            listed += _below(root / "plans", "plan", slug)
    return listed


def _below(folder: Path, kind: str, prefix: str = "") -> list[Companion]:
    try:
        entries = _scan(folder)
    except OSError:
        return []
    files = [entry for entry in entries if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False)]
    return [Companion(kind, entry.path, entry.stat().st_size) for entry in sorted(files, key=lambda entry: entry.name)]
