"""Where Claude Code keeps its logs, which files belong to which session, and its project."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import msgspec

from unspool.agents.checkout import main_checkout
from unspool.agents.records import Companion, FoundAgent, FoundLog
from unspool.agents.values import text
from unspool.files import plain_files
from unspool.model import Facts

_PROJECTS = "projects/"
_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
PICTURES = "image-cache/"
"""The folder of pictures that were pasted into prompts, a folder a session."""
_BY_FOLDER = ("tasks/", "file-history/", PICTURES)
_NOT_SESSIONS = ("memory", "journal")


def session_of_file(path: str) -> str:
    """The id of the session that a file is of; empty where it is no single session's."""
    if path.startswith("todos/"):
        return path[len("todos/") :].partition("-agent-")[0] if "-agent-" in path else ""
    for folder in _BY_FOLDER:
        if path.startswith(folder):
            return path[len(folder) :].partition("/")[0] if path.count("/") > 1 else ""
    inside = _inside(path)
    if len(inside) > 1:
        return "" if inside[0] in _NOT_SESSIONS else inside[0]
    return "" if path.startswith("plans/") or path == "history.jsonl" else _session(inside[0])


def is_session(path: str) -> bool:
    """Whether a file is a session's own log."""
    inside = _inside(path)
    return len(inside) == 1 and bool(_session(inside[0])) and bool(session_of_file(path))


def is_agent_beside(path: str) -> bool:
    """Whether a file is a subagent's log that lies among the sessions; only its lines tell whose."""
    inside = _inside(path)
    return len(inside) == 1 and inside[0].startswith("agent-") and bool(_stem(inside[0]))


def _inside(path: str) -> list[str]:
    """The names below the project's folder; in a source that is one project's folder, all of them."""
    names = path.removeprefix(_PROJECTS).split("/")
    return names[1:] if len(names) > 1 and (path.startswith(_PROJECTS) or not _looks_like_id(names[0])) else names


def _looks_like_id(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4


def _session(name: str) -> str:
    stem = _stem(name)
    return "" if stem.startswith("agent-") or stem in _NOT_SESSIONS or name.startswith(".") else stem


def _stem(name: str) -> str:
    return next((name[: -len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), "")


def project_path(facts: Facts, folder: str) -> str:
    """The path of the project; the folder's own name only where no line names one."""
    told = facts.relocated or facts.worktree_of or facts.cwd
    if told:
        return main_checkout(told)
    return unquote(folder) if "%2f" in folder.lower() else folder


ID = "claude-code"
_HEAD_LINES = 20


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The agent's folders: the one the environment names (several with commas), else the usual two."""
    named = [
        Path(part.strip()).expanduser() for part in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if part.strip()
    ]
    return named or [home / ".claude", home / ".config" / "claude"]


def discover(root: Path) -> Iterator[FoundLog]:
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


def _is_log(name: str) -> bool:
    return bool(_stem(name)) and not name.startswith(".")


def _is_file(entry: "os.DirEntry[str]") -> bool:
    """A pipe or device is none; a link that leads nowhere is one, so that what is wrong with it is told."""
    try:
        return entry.is_file() or (entry.is_symlink() and not Path(entry.path).exists())
    except OSError:  # a link that leads in a circle
        return True


def _project(folder: Path, root: str) -> Iterator[FoundLog]:
    try:
        entries = _scan(folder)
    except OSError:
        return
    files = (entry for entry in entries if _is_log(entry.name) and _is_file(entry))
    logs = {entry.name: entry for entry in files if _stem(entry.name) != "journal"}
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
        yield FoundLog(entry.path, stem, ID, status.st_size, status.st_mtime, folder.name, root, agents)
    yield from _strays(beside, claimed, folder, root)


def _strays(beside: dict[str, list[FoundAgent]], claimed: set[str], folder: Path, root: str) -> Iterator[FoundLog]:
    """Subagents whose session's log is gone, each as a session of its own."""
    for session, agents in beside.items():
        if session in claimed:
            continue
        for agent in agents:
            status = Path(agent.path).stat()
            name = f"agent-{agent.id}"
            yield FoundLog(agent.path, name, ID, status.st_size, status.st_mtime, folder.name, root, owner=session)


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
            elif entry.name.startswith("agent-") and _is_log(entry.name) and _is_file(entry):
                yield _agent(Path(entry.path))


def _agent(path: Path) -> FoundAgent:
    stem = _stem(path.name)
    sidecar = path.parent / f"{stem}.meta.json"
    return FoundAgent(str(path), stem.removeprefix("agent-"), str(sidecar) if sidecar.is_file() else "")


def companions(found: FoundLog, slug: str = "") -> list[Companion]:
    """The files that belong to a session beside its logs."""
    listed = [*_below(found.home / "tool-results", "tool-result"), *_below(found.home / "workflows", "workflow")]
    if found.root:
        root = Path(found.root)
        listed += _below(root, "history", "history.jsonl")
        listed += _below(root / "todos", "todos", f"{found.session_id}-agent-")
        listed += _below(root / "tasks" / found.session_id, "task")
        listed += _below(root / "file-history" / found.session_id, "file-history")
        listed += _below(root / PICTURES / found.session_id, "image")
        if slug:
            listed += _below(root / "plans", "plan", slug)
    return listed


def spilled(found: FoundLog) -> Iterator[Path]:
    """Answers of tools that were too long for the log."""
    return plain_files(found.home / "tool-results")


def _below(folder: Path, kind: str, prefix: str = "") -> list[Companion]:
    try:
        entries = _scan(folder)
    except OSError:
        return []
    files = [entry for entry in entries if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False)]
    return [Companion(kind, entry.path, entry.stat().st_size) for entry in sorted(files, key=lambda entry: entry.name)]
