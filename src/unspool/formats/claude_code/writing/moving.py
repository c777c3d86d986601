"""Folders renamed wherever a line names them, and nowhere else."""

import functools
import re
from pathlib import Path
from typing import Any

import msgspec

from unspool.formats.claude_code.writing.placing import folder_name
from unspool.model import Json

_USER = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\]|$)")
_AFTER = r"(?![\w-]|\.\w)"
"""What may not follow: the rest of a longer name."""


def moves(old: str, new: str, homes: tuple[Path | None, Path]) -> tuple[tuple[str, str], ...]:
    """What is renamed where a session goes from one working folder to another, the longest first.

    `homes` are the agent's folder it comes from, where that is known, and the one it goes to. The user's own folder
    changes where the working folders are under different ones.
    """
    pairs = {old: new, folder_name(old): folder_name(new)}
    user, own = _user(old), _user(new)
    if user and own and user != own:
        pairs[user] = own
        pairs[folder_name(user)] = folder_name(own)
    agent = str(homes[0]) if homes[0] is not None else f"{user}/.claude" if user else ""
    if agent and agent != str(homes[1]):
        pairs[agent] = str(homes[1])
    return tuple(sorted(((a, b) for a, b in pairs.items() if a and a != b), key=lambda pair: (-len(pair[0]), pair)))


def _user(path: str) -> str:
    """The user's folder that a path is in."""
    found = _USER.match(path)
    return found[0] if found else ""


def moved(raw: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
    """A line with every occurrence of the old folders, as a whole path or the beginning of one, made the new."""
    if not paths:
        return raw
    data = msgspec.json.decode(raw)
    made = _renamed(data, _pattern(paths), dict(paths))
    return raw if made == data else msgspec.json.encode(made)


def relocated(data: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
    """A file beside a log, with the folders renamed; one that is no text stays as it is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    new = dict(paths)
    return _pattern(paths).sub(lambda match: new[match[0]], text).encode()


@functools.lru_cache(maxsize=8)
def _pattern(paths: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("(?<![\\w.-])(?:" + "|".join(re.escape(old) for old, _ in paths) + ")" + _AFTER)


def _renamed(value: Json, pattern: re.Pattern[str], new: dict[str, str]) -> Json:
    if isinstance(value, str):
        return pattern.sub(lambda match: new[match[0]], value)
    if isinstance(value, list):
        return [_renamed(inner, pattern, new) for inner in value]
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for key, inner in value.items():
            made[pattern.sub(lambda match: new[match[0]], key)] = _renamed(inner, pattern, new)
        return made
    return value
