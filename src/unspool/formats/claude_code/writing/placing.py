"""Where a session's log belongs, and which models' reasoning cannot follow it anywhere."""

import hashlib
import os
import re
import unicodedata
from pathlib import Path

_OTHER = re.compile(r"[^A-Za-z0-9]")
_LONGEST = 200
_FREE = re.compile(
    r"claude-(?:3|instant|2|(?:opus|sonnet|haiku|fable|mythos)-(?:[1-4](?:-\d+)*|5)(?:-\d{8})?(?![-.]?\d))",
    re.IGNORECASE,
)
"""Models known to take reasoning behind changed words. Every other model is taken to bind it, which is safe."""


def binds(model: str) -> bool:
    """Whether a model's reasoning is only accepted behind the very words it was written behind."""
    return _FREE.match(model) is None


def folder_name(cwd: str) -> str:
    """The folder that the agent keeps the sessions of a working folder in."""
    path = unicodedata.normalize("NFC", cwd)
    name = _OTHER.sub("-", path)
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:8]
    return f"{name[:_LONGEST]}-{digest}"


def place(home: Path, cwd: str, session: str) -> Path:
    """The path of a session's log below the agent's folder."""
    projects = home / "projects"
    return projects / _existing(projects, folder_name(cwd)) / f"{session}.jsonl"


def agent_place(folder: Path, name: str) -> Path:
    """Where in a session's own folder a subagent's log lies."""
    return folder / "subagents" / name


def _existing(projects: Path, name: str) -> str:
    """The folder that is there already: the end of a long name is the agent's own secret."""
    if len(name) <= _LONGEST or not projects.is_dir():
        return name
    start = name[: _LONGEST + 1]
    return next(
        (one.name for one in sorted(os.scandir(projects), key=lambda one: one.name) if one.name.startswith(start)), name
    )
