"""Files that Claude Code keeps beside logs: what is swept, left over, running, watched, put aside."""

import os
import posixpath
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from unspool.agents.claude_code.history import NAME as HISTORY
from unspool.agents.pixels import kind_of
from unspool.agents.records import AgentFile, Checkpoint, FoundAgent, FoundLog, LeftoverFile, RunningSession
from unspool.agents.values import is_small_file, mapping, moment, read_small_json, text, whole
from unspool.model import AgentSource, Json, SideLine, Transcript

_OWN = {"subagents": "subagent", "tool-results": "tool-result", "workflows": "workflow"}
_BESIDE = {"todos": "todos", "tasks": "task", "file-history": "file-history", "plans": "plan",
           "paste-cache": "paste"}  # fmt: skip
_KEPT = ("memory",)
"""Folders of a project that are never cleaned up."""
_LOGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")

Named = tuple[tuple[str, ...], "os.DirEntry[str]"]
"""A file, and the names that lead to it from the folder it was looked for in."""


def agent_home(root: Path) -> Path | None:
    """The agent's own folder of a source that holds `projects/`, is one, or is one project's folder."""
    for folder in (root / "projects", root, root.parent):
        if folder.name == "projects" and folder.is_dir():
            return folder.parent
    return None


def agent_files(root: Path) -> Iterator[AgentFile]:
    """Every file of the sessions of a source; links are not followed."""
    own = agent_home(root)
    if own is None or root not in (own, own / "projects"):
        yield from _of_projects(root, own is not None or _has_logs(root))
        return
    yield from _of_projects(own / "projects", False)
    for folder, kind in _BESIDE.items():
        for names, entry in walk_files(own / folder):
            yield from _belonging(entry, kind, _owner(folder, names), True)
    for entry in _scan(own):
        if entry.name == HISTORY and entry.is_file(follow_symlinks=False):
            yield from _belonging(entry, "history", "", False)


def _of_projects(base: Path, is_project: bool) -> Iterator[AgentFile]:
    """The files below the folder of all projects, or of one."""
    for names, entry in walk_files(base):
        inside = names if is_project else names[1:]
        if len(inside) == 1:
            session = _stem(inside[0])
            yield from _belonging(entry, "log" if session else "other", session, inside[0].endswith(".jsonl"))
        elif inside:
            kind = _KEPT[0] if inside[0] in _KEPT else _OWN.get(inside[1], "other")
            kept = inside[0] in _KEPT
            yield from _belonging(entry, kind, "" if kept else inside[0], not kept)


def _belonging(entry: "os.DirEntry[str]", kind: str, session: str, swept: bool) -> Iterator[AgentFile]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    yield AgentFile(entry.path, kind, session, status.st_size, status.st_mtime, swept)


def _owner(folder: str, names: tuple[str, ...]) -> str:
    """The session of a file beside the projects: its folder's name, or how its own begins."""
    if folder == "todos":
        return names[0].partition("-agent-")[0] if "-agent-" in names[0] else ""
    return names[0] if len(names) > 1 else ""


def _stem(name: str) -> str:
    suffix = next((suffix for suffix in _LOGS if name.endswith(suffix)), "")
    return name[: -len(suffix)] if suffix else ""


def _has_logs(folder: Path) -> bool:
    return any(_stem(entry.name) for entry in _scan(folder))


def walk_files(base: Path) -> Iterator[Named]:
    """Every plain file below a folder; what cannot be listed is passed over."""
    waiting: list[tuple[Path, tuple[str, ...]]] = [(base, ())]
    while waiting:
        folder, names = waiting.pop()
        for entry in _scan(folder):
            if entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), (*names, entry.name)))
            elif entry.is_file(follow_symlinks=False):
                yield (*names, entry.name), entry


def _scan(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_FOLDERS = {
    "todos": "todos",
    "tasks": "task",
    "file-history": "file-history",
    "session-env": "environment",
    "image-cache": "image",
    "uploads": "upload",
    "debug": "debug",
}
_NOTHING = 2
"""An empty list in JSON: a file of so few bytes says nothing."""

Key = tuple[str, str, str, str]
"""Session, kind, path below the agent's folder, and project folder."""


def leftover_files(home: Path) -> Iterator[LeftoverFile]:
    """The files below the agent's folder that name a session by their path, together by session and folder."""
    found: dict[Key, list[tuple[int, float]]] = {}
    for key, path in _named(home):
        try:
            status = path.lstat()
        except OSError:
            continue
        found.setdefault(key, []).append((status.st_size, status.st_mtime))
    for (session, kind, where, folder), files in found.items():
        times = [modified for _, modified in files]
        holding = sum(size > _NOTHING for size, _ in files)
        yield LeftoverFile(session, kind, where, holding, min(times), max(times), folder)


def _named(root: Path) -> Iterator[tuple[Key, Path]]:
    for folder, kind in _FOLDERS.items():
        for names, entry in walk_files(root / folder):
            session = _SESSION.match(names[0])
            if session is not None:
                yield (session[0], kind, f"{folder}/{names[0]}", ""), Path(entry.path)
    for names, entry in walk_files(root / "projects"):
        if len(names) > 2 and _SESSION.fullmatch(names[1]):
            yield (names[1], "session folder", f"projects/{names[0]}/{names[1]}", names[0]), Path(entry.path)


_LIVELY = ("projects", "plans", "tasks", "todos", "file-history", "paste-cache", "history.jsonl")


def watched_paths(root: Path) -> list[Path]:
    """The paths of a source whose changes matter, whether they are there or not."""
    own = agent_home(root)
    if own is not None and root in (own, own / "projects"):
        return [own / name for name in _LIVELY]
    return [root]


_NAME = re.compile(r"(?:pid-)?(\d{1,9})\.json")
_MOST = 10_000


def running_sessions(home: Path) -> Iterator[RunningSession]:
    """Every session that a process has registered below the agent's folder."""
    try:
        with os.scandir(home / "sessions") as entries:
            names = sorted(entry.name for _, entry in zip(range(_MOST), entries, strict=False))
    except OSError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        path = home / "sessions" / name
        data = read_small_json(path) if found and is_small_file(path) else None
        if found and data is not None:
            yield _running(int(found[1]), data)


def _running(named: int, data: dict[str, Json]) -> RunningSession:
    pid = whole(data.get("pid")) or named
    changed = moment(data.get("statusUpdatedAt")) or moment(data.get("updatedAt"))
    return RunningSession(
        pid,
        text(data.get("sessionId")) or text(data.get("session_id")),
        text(data.get("cwd")),
        text(data.get("status")),
        moment(data.get("startedAt")),
        changed,
        is_alive(pid, text(data.get("procStart"))),
    )


def is_alive(pid: int, began: str = "") -> bool | None:
    """Whether a process is there, and the one meant: a number is given anew once its process is gone."""
    if os.name != "posix":
        return None  # asking by signal 0 would interrupt the process there
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)  # asks only: nothing is sent
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return not began or _began(pid) in ("", began)


def _began(pid: int) -> str:
    """When a process began, in the ticks that Linux counts; empty where that cannot be told."""
    if sys.platform != "linux":
        return ""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = told.rpartition(b")")[2].split()
    return fields[19].decode() if len(fields) > 19 else ""


def checkpoints(side: Iterable[SideLine], cwd: str) -> Iterator[Checkpoint]:
    """Every file put aside, in the order of the log, a repetition left out."""
    seen: set[Checkpoint] = set()
    for line in side:
        for path, backup in _told(line):
            found = _checkpoint(path, mapping(backup), cwd)
            if found is not None and found not in seen:
                seen.add(found)
                yield found


def _told(line: SideLine) -> Iterator[tuple[str, Json]]:
    if line.type == "file-history-snapshot":
        yield from mapping(mapping(line.data.get("snapshot")).get("trackedFileBackups")).items()
    elif line.type == "file-history-delta":
        yield text(line.data.get("trackingPath")), line.data.get("backup")


def _checkpoint(path: str, backup: dict[str, Json], cwd: str) -> Checkpoint | None:
    time = moment(backup.get("backupTime"))
    if not path or time is None or "backupFileName" not in backup:
        return None
    plain = path.replace("\\", "/")
    whole = plain if plain.startswith("/") or plain[1:2] == ":" else posixpath.join(cwd.replace("\\", "/"), plain)
    return Checkpoint(whole, time, text(backup["backupFileName"]))


_LARGEST = 64 * 1024 * 1024
_HEAD = 16
_HELPERS = {"acompact": "compaction", "aside_question": "side question"}


class Companions:
    """Reads the companions of one session. Only names are taken from the log, never paths."""

    def __init__(self, found: FoundLog | None) -> None:
        self._found = found

    def spill(self, name: str) -> str | None:
        """The text of a spilled output."""
        return _read(self._found.home / "tool-results" / name) if self._found and _is_name(name) else None

    def plan(self, name: str) -> str | None:
        """The text of a plan file."""
        if not self._found or not self._found.root or not _is_name(name):
            return None
        return _read(Path(self._found.root) / "plans" / name)

    def picture(self, path: str) -> tuple[str, bytes] | None:
        """Media type and bytes of a picture that a log names by its path: one of this session's own, nobody else's."""
        *_, above, folder, name = ("", "", *re.split(r"[\\/]", path))
        found = self._found
        if not found or not _is_name(name):
            return None
        if found.root and (above, folder) == ("image-cache", found.session_id):
            place = Path(found.root) / above / folder
        elif (above, folder) == (found.session_id, "tool-results"):
            place = found.home / folder
        else:
            return None
        data = None if place.is_symlink() or place.parent.is_symlink() else _read_bytes(place / name)
        kind = kind_of(data[:_HEAD]) if data else ""
        return (kind, data) if data and kind else None


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "\\" not in name and "\0" not in name


def _read(path: Path) -> str | None:
    data = _read_bytes(path)
    return None if data is None else data.decode(errors="replace")


def _read_bytes(path: Path) -> bytes | None:
    """What a plain file holds; a link could lead anywhere, and a pipe would never end."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return path.read_bytes()
    except (OSError, ValueError):
        return None


def agent_source(agent: FoundAgent, transcript: Transcript) -> AgentSource:
    """A subagent's log with what its sidecar says."""
    meta = mapping(_sidecar(agent.sidecar))
    helper = next((kind for prefix, kind in _HELPERS.items() if agent.id.startswith(prefix)), "")
    return AgentSource(
        agent.id,
        transcript,
        text(meta.get("agentType")) or helper,
        text(meta.get("description")),
        text(meta.get("toolUseId")),
        text(meta.get("parentAgentId")),
        text(meta.get("name")),
        "stopped" if meta.get("stoppedByUser") is True else "",
    )


def _sidecar(path: str) -> object:
    whole = _read(Path(path)) if path else None
    if whole is None:
        return {}
    try:
        return msgspec.json.decode(whole)
    except (msgspec.DecodeError, RecursionError):
        return {}
