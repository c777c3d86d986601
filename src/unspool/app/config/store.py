"""The settings as they hold: the file's, with the environment over it, and where each comes from."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unspool.app.config.place import SETTINGS, folder
from unspool.app.config.toml import Trouble, edited, line_of, read
from unspool.app.config.values import BY_NAME, FIELDS, Settings
from unspool.errors import Unreadable
from unspool.files import write_atomically

TABLES = ("compress", "presets")
_LARGEST = 1024 * 1024


class Held(NamedTuple):
    """Settings, where each comes from, and what was ignored."""

    settings: Settings
    origins: dict[str, str]
    """By name: `default`, a line of the file, or a variable of the environment."""
    troubles: tuple[Trouble, ...] = ()
    tables: Mapping[str, Any] = {}
    """What other parts of unspool read for themselves: `[compress]` and `[presets]`."""
    fixed: frozenset[str] = frozenset()
    """Names of those that the environment sets, so that writing the file would change nothing."""


def place(environment: Mapping[str, str] | None = None) -> Path:
    """The file: one for a person, whatever archive is looked at."""
    return folder(environment) / SETTINGS


def current() -> Settings:
    """The settings as they hold now."""
    return held().settings


def held(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Held:
    """All about the settings; read anew when the file or the environment has changed."""
    environment = os.environ if environment is None else environment
    path = path or place(environment)
    over = tuple((field.name, environment[field.variable]) for field in FIELDS if environment.get(field.variable))
    try:
        status = path.stat()
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        stamp = 0, 0, 0
    return _held(path, stamp, over)


@lru_cache(maxsize=4)
def _held(path: Path, _stamp: tuple[int, int, int], over: tuple[tuple[str, str], ...]) -> Held:
    text, troubles = _text(path)
    found = read(text)
    values, tables, origins = dict[str, Any](), dict[str, Any](), dict.fromkeys(BY_NAME, "default")
    troubles += found.troubles
    for name, value in found.values.items():
        field, line = BY_NAME.get(name), line_of(text, name)
        wrong = field.check(value) if field else ""
        if name in TABLES and isinstance(value, dict):
            tables[name] = value
        elif field is None:
            troubles += (Trouble(line, f"{name} is no setting, and is left as it is."),)
        elif wrong:
            troubles += (Trouble(line, f"{name} {wrong}; it is ignored."),)
        else:
            values[name], origins[name] = value, f"line {line} of the file" if line else "the file"
    fixed = set[str]()
    for name, typed in over:
        field = BY_NAME[name]
        value = typed.split(os.pathsep) if field.kind == "lines" else field.parsed(typed)
        wrong = field.check(value)
        if wrong:
            troubles += (Trouble(0, f"The environment variable {field.variable} {wrong}; it is ignored."),)
        else:
            values[name], origins[name] = value, f"the environment variable {field.variable}"
            fixed.add(name)
    return Held(msgspec.convert(values, Settings), origins, troubles, tables, frozenset(fixed))


def change(changes: Mapping[str, Any], path: Path | None = None) -> None:
    """Write settings to the file, whole or not at all; None takes one out. Comments and unknown keys stay."""
    path = path or place()
    text, troubles = _text(path)
    if troubles:
        raise Unreadable(troubles[0].words)
    try:
        write_atomically(path.resolve(), [edited(text, changes).encode()])
    except OSError as problem:
        raise Unreadable(f"Cannot write {path}: {problem.strerror or problem}.") from None


def _text(path: Path) -> tuple[str, tuple[Trouble, ...]]:
    """The text of the file; empty where there is none."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        return "", ()
    except OSError as problem:
        return "", (Trouble(0, f"Cannot read {path}: {problem.strerror or problem}."),)
    if len(data) > _LARGEST:
        return "", (Trouble(0, f"{path} is larger than settings can be (1 MB)."),)
    try:
        return data.decode(), ()
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return "", (Trouble(line, f"{path} is not UTF-8, as TOML must be."),)
