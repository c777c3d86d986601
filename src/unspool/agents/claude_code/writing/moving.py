"""Where a copy lies, and paths renamed wherever a line names them."""

import functools
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.lines import sound_value
from unspool.model import Json

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


_USER = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\]|$)")
_BEFORE = r"(?<![\w.-])"
"""What may not stand before: the beginning of a longer path."""
_AFTER = r"(?![\w-]|\.\w)"
"""What may not follow: the rest of a longer name."""
_TELLING = re.compile(r"[/\\][^/\\]+[/\\]|[/\\][^/\\]{3}")
"""A path that is not likely to be anything else: two names, or one of some length."""


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
    user, own = _user(old), _user(new)
    if user and own and user != own:
        yield user, own
    if homes[0] != homes[1]:
        yield homes
        if user:
            yield f"{user}/.claude", homes[1]


def _user(path: str) -> str:
    """The user's folder that a path is in."""
    found = _USER.match(path)
    return found[0] if found else ""


def rename_in_line(raw: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
    """A line with every occurrence of the old folders, as a whole path or the beginning of one, made the new."""
    if not paths:
        return raw
    data = sound_value(raw)
    made = _Names(paths).renamed(data)
    if isinstance(data.get("cwd"), str):
        made["cwd"] = dict(paths).get(data["cwd"], made["cwd"])
    return raw if made == data else msgspec.json.encode(made)


def rename_in_file(data: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
    """A file beside a log, with the folders renamed; one that is no text stays as it is."""
    names = _Names(paths)
    if data[:1] in (b"{", b"["):
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        else:
            made = names.renamed(value)
            return data if made == value else msgspec.json.encode(made)
    try:
        return names.text(data.decode()).encode()
    except UnicodeDecodeError:
        return data


@functools.lru_cache(maxsize=8)
def _pattern(paths: tuple[tuple[str, str], ...]) -> re.Pattern[str] | None:
    """What is looked for inside of texts; a folder of a short name is only known where it stands alone."""
    telling = [re.escape(old) for old, _ in paths if _TELLING.search(old)]
    return re.compile(f"{_BEFORE}(?:{'|'.join(telling)}){_AFTER}") if telling else None


class _Names:
    def __init__(self, paths: tuple[tuple[str, str], ...]) -> None:
        self._new = {old: new for old, new in paths if "/" in old or "\\" in old}  # others may be any word
        self._pattern = _pattern(paths)

    def text(self, text: str) -> str:
        whole = self._new.get(text)
        if whole is not None or self._pattern is None:
            return text if whole is None else whole
        return self._pattern.sub(lambda match: self._new[match[0]], text)

    def renamed(self, value: Json) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.renamed(inner) for inner in value]
        if isinstance(value, dict):
            return {self.text(key): self.renamed(inner) for key, inner in value.items()}
        return value
