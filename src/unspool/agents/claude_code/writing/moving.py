"""Where a copy lies, and what is renamed in one that goes elsewhere."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from unspool.agents.renaming import user_folder

_OTHER = re.compile(r"[^A-Za-z0-9]")
_LONGEST = 200
_FREE = re.compile(
    r"claude-(?:3|instant|2|(?:opus|sonnet|haiku|fable|mythos)-(?:[1-4](?:-\d+)*|5)(?:-\d{8})?(?![-.]?\d))",
    re.IGNORECASE,
)
"""Models known to take reasoning behind changed words. Every other model is taken to bind it, which is safe."""


def binds_thinking(model: str) -> bool:
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


def log_place(home: Path, cwd: str, session: str) -> Path:
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


def path_renames(old: str, new: str, homes: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """What is renamed where a session goes from one working folder to another, the longest first.

    `homes` are the agent's folder it comes from and the one it goes to. The user's own folder changes where the
    working folders are under different ones, and the agent's with it.
    """
    pairs = dict(_moves(old, new, homes))
    pairs[old] = new
    return tuple(sorted(((a, b) for a, b in pairs.items() if a and a != b), key=lambda pair: (-len(pair[0]), pair)))


def _moves(old: str, new: str, homes: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for sign in "/\\":
        yield f"projects{sign}{folder_name(old)}", f"projects{sign}{folder_name(new)}"
    user, own = user_folder(old), user_folder(new)
    if user and own and user != own:
        yield user, own
    if homes[0] != homes[1]:
        yield homes
        if user:
            yield f"{user}/.claude", homes[1]
