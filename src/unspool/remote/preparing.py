"""A session's files as they may leave: every line and every file of it, with what policy says replaced."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from unspool import __version__
from unspool.formats import Found, by_id
from unspool.formats.writing import Writer
from unspool.library.inputs import opened
from unspool.redact.finder import Finder
from unspool.redact.log import decoded, encoded, redacted_lines
from unspool.redact.people import People, signers
from unspool.redact.policy import Policy
from unspool.redact.values import redacted, redacted_text
from unspool.remote.manifest import LOG, is_name
from unspool.remote.naming import KeyedNames

_FRESH = 600.0
"""Seconds after which a line that was never finished is as it will stay."""
_CWD = re.compile(rb'"cwd": ?"((?:[^"\\]|\\.)*)"')
_NULL = b"\0"

Kind = Literal["log", "other"]


class File(NamedTuple):
    """A file of a session, and what it is called in the archive."""

    name: str
    kind: Kind
    path: Path


class Prepared(NamedTuple):
    """What may leave of a session."""

    key: str
    files: tuple[tuple[str, Path], ...]
    replaced: Counter[tuple[str, str]]
    """How often something was replaced, by kind and rule."""
    size: int
    """Bytes of all of them."""
    left_out: tuple[str, ...]
    """Files that are no text, or whose names must not leave."""


class Edge(NamedTuple):
    """How things leave this machine."""

    policy: Policy
    key: bytes
    environment: Mapping[str, str] = os.environ


def files(found: Found) -> Iterator[File]:
    """All files of a session: its log, its subagents' logs with what describes them, and what its folder holds."""
    key = found.session_id
    yield File(f"{key}{LOG}", "log", Path(found.path))
    seen = set()
    for agent in found.agents:
        for where in filter(None, (agent.path, agent.sidecar)):
            seen.add(where)
            yield File(f"{key}/{_place(found, Path(where))}", "log" if where == agent.path else "other", Path(where))
    for path in _plain(found.home):
        if str(path) not in seen:
            name = f"{key}/{path.relative_to(found.home).as_posix()}"
            yield File(name, "log" if name.endswith(LOG) else "other", path)


def seal(found: Found, edge: Edge) -> str:
    """Equal as long as neither the files of a session nor what they are redacted by changed."""
    known = [__version__, edge.policy.version, sha256(edge.key).hexdigest()]
    if found.origin:
        known.append(f"{found.path} {found.size} {found.modified}")
    else:
        known += [f"{file.name} {_stamp(file.path)}" for file in files(found)]
    return sha256("\n".join(known).encode(errors="replace")).hexdigest()


def prepared(found: Found, edge: Edge, folder: Path) -> Prepared:
    """The files of a session below a folder, without what must not leave."""
    people = _people(found, edge)
    finder, names = edge.policy.finder(edge.policy.replaced, people), KeyedNames(edge.key)
    writer = by_id(found.format).writer()
    made: list[tuple[str, Path]] = []
    gone: list[str] = []
    for file in files(found):
        if finder.find(file.name) or not is_name(file.name, found.session_id):
            gone.append(file.name)
        elif _written(file, folder / file.name, finder, names, writer):
            made.append((file.name, folder / file.name))
        elif file.kind == "other":
            gone.append(file.name)
    size = sum(path.stat().st_size for _, path in made)
    return Prepared(found.session_id, tuple(made), names.places, size, tuple(gone))


def _written(file: File, path: Path, finder: Finder, names: KeyedNames, writer: Writer) -> bool:
    """Write a file as it may leave; False where there is nothing to send of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.kind == "log":
        with opened(str(file.path)) as lines, path.open("wb") as target:
            target.writelines(redacted_lines(_settled(lines, file.path, writer), finder, names, shown=True))
    else:
        data = file.path.read_bytes()
        if _NULL in data:
            return False
        path.write_bytes(_clean(data, finder, names))
    return path.stat().st_size > 0


def _settled(lines: Iterator[bytes], path: Path, writer: Writer) -> Iterator[bytes]:
    """The lines, without those that tell by digests what others say, and without the last one while it is being
    written: half a secret is not known for one."""
    for line in lines:
        if writer.is_request_record(line):
            continue
        if line.endswith(b"\n") or decoded(line) is not None or time.time() - path.stat().st_mtime > _FRESH:
            yield line


def _clean(data: bytes, finder: Finder, names: KeyedNames) -> bytes:
    """A document or a text."""
    value = decoded(data)
    if isinstance(value, dict | list):
        made, found = redacted(value, finder, names)
        return encoded(made) if found else data
    text, matches = redacted_text(data.decode("utf-8", "surrogateescape"), finder, names)
    return text.encode("utf-8", "surrogateescape") if matches else data


def _people(found: Found, edge: Edge) -> People:
    """Whose session it is, by the environment, the folders that it ran in, and what it notes of repositories."""
    said: set[bytes] = set()
    names: set[str] = set()
    with opened(found.path) as lines:
        for line in lines:
            said.update(match[1] for match in _CWD.finditer(line))
            names |= signers((line,))
    return People.of(edge.environment, {text for one in said if (text := _text(one))}, names)


def _text(said: bytes) -> str:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(b'"' + said + b'"', type=str)
    return ""


def _place(found: Found, path: Path) -> str:
    """Where a subagent's file goes; older versions laid them elsewhere."""
    if path.is_relative_to(found.home):
        return path.relative_to(found.home).as_posix()
    return by_id(found.format).writer().agent_place(Path(), path.name).as_posix()


def _plain(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links lead anywhere, and are not followed."""
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file() and not path.is_symlink())


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"
