"""Every file that Claude Code keeps of its sessions, and which of them its cleanup takes."""

import os
from collections.abc import Iterator
from pathlib import Path

from unspool.formats.claude_code.history import NAME as HISTORY
from unspool.formats.traces import Belonging

_OWN = {"subagents": "subagent", "tool-results": "tool-result", "workflows": "workflow"}
_BESIDE = {"todos": "todos", "tasks": "task", "file-history": "file-history", "plans": "plan",
           "paste-cache": "paste"}  # fmt: skip
_KEPT = ("memory",)
"""Folders of a project that are never cleaned up."""
_LOGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")

Named = tuple[tuple[str, ...], "os.DirEntry[str]"]
"""A file, and the names that lead to it from the folder it was looked for in."""


def home(root: Path) -> Path | None:
    """The agent's own folder of a source that holds `projects/`, is one, or is one project's folder."""
    for folder in (root / "projects", root, root.parent):
        if folder.name == "projects" and folder.is_dir():
            return folder.parent
    return None


def belongings(root: Path) -> Iterator[Belonging]:
    """Every file of the sessions of a source; links are not followed."""
    own = home(root)
    if own is None or root not in (own, own / "projects"):
        yield from _of_projects(root, own is not None or _has_logs(root))
        return
    yield from _of_projects(own / "projects", False)
    for folder, kind in _BESIDE.items():
        for names, entry in walk(own / folder):
            yield from _belonging(entry, kind, _owner(folder, names), True)
    for entry in _scan(own):
        if entry.name == HISTORY and entry.is_file(follow_symlinks=False):
            yield from _belonging(entry, "history", "", False)


def _of_projects(base: Path, is_project: bool) -> Iterator[Belonging]:
    """The files below the folder of all projects, or of one."""
    for names, entry in walk(base):
        inside = names if is_project else names[1:]
        if len(inside) == 1:
            session = _stem(inside[0])
            yield from _belonging(entry, "log" if session else "other", session, inside[0].endswith(".jsonl"))
        elif inside:
            kind = _KEPT[0] if inside[0] in _KEPT else _OWN.get(inside[1], "other")
            kept = inside[0] in _KEPT
            yield from _belonging(entry, kind, "" if kept else inside[0], not kept)


def _belonging(entry: "os.DirEntry[str]", kind: str, session: str, swept: bool) -> Iterator[Belonging]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    yield Belonging(entry.path, kind, session, status.st_size, status.st_mtime, swept)


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


def walk(base: Path) -> Iterator[Named]:
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
