"""A session's files redacted for a push, with replacement names that only this machine can make."""

import io
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from unspool.agents import FoundAgent, FoundLog, by_id
from unspool.agents.stores import AGENTS_FOLDER
from unspool.agents.writing import LogWriter
from unspool.build_info import VERSION
from unspool.files import plain_files, write_atomically
from unspool.hub_client.manifest import LOG, is_file_name
from unspool.redact.finder import Finder
from unspool.redact.log import decode_line, encode_line, matches_in_lines, redact_lines
from unspool.redact.policy import RedactionPolicy
from unspool.redact.rebuild import redact_text, redact_value
from unspool.redact.replacements import MOST, ReplacementNames, SecretMatch
from unspool.redact.spread import spread_values
from unspool.redact.values import find_in_values
from unspool.share.redact_files import people_in_lines
from unspool.share.side_files import agent_file_place
from unspool.store.library import Library
from unspool.store.library.discover import head_agent, not_a_log
from unspool.store.library.inputs import open_log
from unspool.store.library.library import shown_logs

_KEY = 32
_NUMBERS = 10**9
_FILE = "key"


class KeyedNames(ReplacementNames):
    """Names that depend on what they replace and on a key, and not on what was replaced before."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key=key)
        self._number = 0
        self.places: Counter[tuple[str, str]] = Counter()
        """How often something was replaced, by kind and rule."""

    def of(self, match: SecretMatch) -> str:
        self.places[match.kind, match.rule] += 1
        value = match.value.encode("utf-8", "surrogatepass")
        self._number = int.from_bytes(blake2b(value, key=self._key, digest_size=8).digest())
        return super().of(match)

    def _free(self, form: str) -> str:
        """The name that a value has by its digest; empty where a form of few names has given it to another."""
        few = MOST.get(form)
        number = self._number
        while form:
            name = form.format(number % (few or _NUMBERS) + 1)
            if name not in self._values:
                return name
            if few:
                return ""
            number += 1
        return ""


def naming_key(folder: Path) -> bytes:
    """This machine's key, made when it is first asked for; for its user's eyes alone."""
    path = folder / _FILE
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = b""
    if len(found) != _KEY:
        found = secrets.token_bytes(_KEY)
        write_atomically(path, [found])
        found = path.read_bytes()  # another process may have been as quick
    return found


_FRESH = 600.0
"""Seconds after which a line that was never finished is as it will stay."""
_NULL = b"\0"

Kind = Literal["log", "other"]


class FileToPush(NamedTuple):
    name: str
    kind: Kind
    path: Path


class PreparedPush(NamedTuple):
    key: str
    files: tuple[tuple[str, Path], ...]
    replaced: Counter[tuple[str, str]]
    """How often something was replaced, by kind and rule."""
    size: int
    """Bytes of all of them."""
    left_out: tuple[str, ...]
    """Files that are no text, or whose names must not leave."""
    rules: str = ""
    """The version of what it was redacted by."""


class PushRedaction(NamedTuple):
    policy: RedactionPolicy
    key: bytes
    environment: Mapping[str, str] = os.environ


def files_to_push(found: FoundLog) -> Iterator[FileToPush]:
    """All files of a session: its log, its subagents' logs with what describes them, and what its folder holds."""
    key = found.session_id
    yield FileToPush(f"{key}{LOG}", "log", Path(found.path))
    seen = set()
    for agent in found.agents:
        for where in filter(None, (agent.path, agent.sidecar)):
            seen.add(where)
            name = f"{key}/{agent_file_place(found, Path(where)).as_posix()}"
            yield FileToPush(name, "log" if where == agent.path else "other", Path(where))
    for path in plain_files(found.home):
        if str(path) not in seen:
            name = f"{key}/{path.relative_to(found.home).as_posix()}"
            yield FileToPush(name, "log" if name.endswith(LOG) else "other", path)


def source_digest(found: FoundLog, edge: PushRedaction) -> str:
    """Equal as long as neither the files of a session nor what they are redacted by changed."""
    known = [VERSION, edge.policy.version, sha256(edge.key).hexdigest()]
    if found.origin:
        known.append(f"{found.path} {found.size} {found.modified}")
    else:
        for file in files_to_push(found):
            try:
                status = file.path.stat()
                known.append(f"{file.name} {status.st_size} {status.st_mtime_ns}")
            except OSError:
                known.append(f"{file.name} ")
    return sha256("\n".join(known).encode(errors="replace")).hexdigest()


def prepare_push(found: FoundLog, edge: PushRedaction, folder: Path) -> PreparedPush:
    """The files of a session below a folder, without what must not leave."""
    with open_log(found.path) as lines:
        people = people_in_lines(lines, edge.environment)
    writer, names = by_id(found.agent_id).writer, KeyedNames(edge.key)
    finder = _everywhere(found, edge.policy.finder(edge.policy.replaced, people), writer)
    made: list[tuple[str, Path]] = []
    gone: list[str] = []
    for file in files_to_push(found):
        if finder.find(file.name) or not is_file_name(file.name, found.session_id):
            gone.append(file.name)
        elif _written(file, folder / file.name, finder, names, writer):
            made.append((file.name, folder / file.name))
        elif file.kind == "other":
            gone.append(file.name)
    size = sum(path.stat().st_size for _, path in made)
    return PreparedPush(found.session_id, tuple(made), names.places, size, tuple(gone), edge.policy.version)


class PushedLibrary(Library):
    """The library of a folder that the files of one session were prepared in or sent to. Whose log it is tell its first
    lines, and no other agent is asked what lies there."""

    def __init__(self, folder: Path, key: str) -> None:
        super().__init__((folder,))
        self._key, self._path = key, folder / f"{key}{LOG}"
        self._agent = head_agent(str(self._path)) if self._path.is_file() else None

    def logs(self) -> tuple[FoundLog, ...]:
        if self._logs is None and self._agent is not None:
            self._logs = shown_logs(self._agent.discover(self._path.parent))
        return super().logs()

    def pushed(self) -> FoundLog:
        """The session's log with its subagents, also where its agent files its own otherwise. NotALog where it is of no
        agent that is known."""
        found = next((log for log in self.logs() if log.path == str(self._path)), None)
        if found is not None:
            return found
        if self._agent is None:
            raise not_a_log(f"{self._key}{LOG}")
        state, folder = self._path.stat(), self._path.parent
        beside = sorted((folder / self._key / AGENTS_FOLDER).glob(f"*{LOG}"))
        below = tuple(FoundAgent(str(one), one.stem) for one in beside)
        return FoundLog(
            str(self._path), self._key, self._agent.id, state.st_size, state.st_mtime, root=str(folder), agents=below
        )


def _everywhere(found: FoundLog, finder: Finder, writer: LogWriter | None) -> Finder:
    """A finder of every value that one file of a session holds in all of them."""
    matches: list[SecretMatch] = []
    for file in files_to_push(found):
        matches += finder.find(file.name)
        if file.kind == "log":
            with _open_lines(file.path) as lines:
                matches += matches_in_lines(_settled(lines, file.path, writer), finder)
        elif _NULL not in (data := file.path.read_bytes()):
            value = decode_line(data)
            text = value if isinstance(value, dict | list) else data.decode("utf-8", "surrogateescape")
            matches += (match for _, some in find_in_values([text], finder)[0] for match in some)
    return spread_values(finder, matches)


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a log; one that is a document is one line."""
    with open_log(str(path)) as stream:
        if path.suffix != ".json":
            yield stream
            return
        data = stream.read()
        with suppress(msgspec.DecodeError, RecursionError):
            data = msgspec.json.format(data, indent=-1) + b"\n"
        yield io.BytesIO(data)


def _written(file: FileToPush, path: Path, finder: Finder, names: KeyedNames, writer: LogWriter | None) -> bool:
    """Write a file as it may leave; False where there is nothing to send of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.kind == "log":
        with _open_lines(file.path) as lines, path.open("wb") as target:
            target.writelines(redact_lines(_settled(lines, file.path, writer), finder, names, shown=True))
    else:
        data = file.path.read_bytes()
        if _NULL in data:
            return False
        value = decode_line(data)
        if isinstance(value, dict | list):
            made, found = redact_value(value, finder, names)
            path.write_bytes(encode_line(made) if found else data)
        else:
            text, matches = redact_text(data.decode("utf-8", "surrogateescape"), finder, names)
            path.write_bytes(text.encode("utf-8", "surrogateescape") if matches else data)
    return path.stat().st_size > 0


def _settled(lines: Iterable[bytes], path: Path, writer: LogWriter | None) -> Iterator[bytes]:
    """The lines, without those that tell by digests what others say, and without the last one while it is being
    written: half a secret is not known for one."""
    for line in lines:
        if writer is not None and writer.is_request_record(line):
            continue
        if line.endswith(b"\n") or decode_line(line) is not None or time.time() - path.stat().st_mtime > _FRESH:
            yield line
