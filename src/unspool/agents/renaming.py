"""Folders renamed wherever a line or a file names them, for copies that go elsewhere."""

import functools
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from unspool.agents.lines import sound_value
from unspool.model import Json

_USER = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\]|$)")
_BEFORE = r"(?<![\w.-])"
"""What may not stand before: the beginning of a longer path."""
_AFTER = r"(?![\w-]|\.\w)"
"""What may not follow: the rest of a longer name."""
_TELLING = re.compile(r"[/\\][^/\\]+[/\\]|[/\\][^/\\]{3}")
"""A path that is not likely to be anything else: two names, or one of some length."""


def user_folder(path: str) -> str:
    """The user's folder that a path is in; empty where it is in none."""
    found = _USER.match(path)
    return found[0] if found else ""


def path_renames(
    old: str, new: str, homes: tuple[str, str], more: Iterable[tuple[str, str]] = ()
) -> tuple[tuple[str, str], ...]:
    """What is renamed where a session goes from one working folder to another, and from one of the agent's folders to
    another, the longest first."""
    pairs = {**dict(more), old: new}
    user, own = user_folder(old), user_folder(new)
    if user and own and user != own:
        pairs[user] = own
    if homes[0] != homes[1]:
        pairs[homes[0]] = homes[1]
    found = ((a, b) for a, b in pairs.items() if a and a != b)
    return tuple(sorted(found, key=lambda pair: (-len(pair[0]), pair)))


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
