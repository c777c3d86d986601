"""Pushes sessions to a hub: which there are, what was pushed before, and only what the hub lacks."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
import zstandard

from unspool.agents import FoundLog, by_id
from unspool.errors import Declined, FetchFailed, NotFound
from unspool.files import scratch_folder, write_atomically
from unspool.hub_client.client import HubClient, UploadBody
from unspool.hub_client.login import Folders, project_for
from unspool.hub_client.manifest import ManifestFile, PushManifest, file_chunks, file_pieces, make_manifest
from unspool.hub_client.prepare import PreparedPush, PushRedaction, prepare_push, source_digest
from unspool.redact.policy import RedactionPolicy, parse_policy
from unspool.store.library import Library
from unspool.store.library.read import project_in_head

_WORN = 3
"""Lines a session on average, from which on the file is written anew."""


class PushedSession(NamedTuple):
    project: str
    key: str
    seal: str
    """Of its files, and of what they were redacted by."""
    state: str
    """Of what was sent, as the hub knows it."""
    agent: str = ""
    """Empty in what was remembered before agents were."""


class PushMemory:
    def __init__(self, folder: Path, hub: str) -> None:
        self._path = folder / f"pushed-{sha256(hub.encode()).hexdigest()[:16]}.jsonl"
        self._known: dict[tuple[str, str, str], PushedSession] = {}
        decoder, lines = msgspec.json.Decoder(PushedSession), 0
        for line in self._path.read_bytes().splitlines() if self._path.exists() else ():
            lines += bool(line.strip())
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                past = decoder.decode(line)
                self._known[past.project, past.agent, past.key] = past
        if lines > 100 and lines > _WORN * len(self._known):
            write_atomically(self._path, (msgspec.json.encode(past) + b"\n" for past in self._known.values()))

    def past(self, project: str, found: FoundLog) -> PushedSession | None:
        key = found.session_id
        return self._known.get((project, found.agent_id, key)) or self._known.get((project, "", key))

    def remember(self, past: PushedSession) -> None:
        self._known[past.project, past.agent, past.key] = past
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, b"\n" + msgspec.json.encode(past) + b"\n")
        finally:
            os.close(file)


_AT_ONCE = 5_000
_TRIES = 5
_LEVEL = 6
_PACKED = "application/zstd"


class PushTask(NamedTuple):
    found: FoundLog
    project: str


class PushResult(NamedTuple):
    session: str
    project: str
    outcome: str
    """pushed, unchanged, refused (by the hub) or empty."""
    sent: int = 0
    """Bytes of pieces that the hub did not have, as they were sent."""
    pieces: int = 0
    reason: str = ""
    prepared: PreparedPush | None = None


class Pusher:
    def __init__(self, client: HubClient, library: Library, memory: PushMemory, key: bytes) -> None:
        """Pushes by the policies of a hub, which no choice of a member's weakens."""
        self._client, self._library, self._memory, self._key = client, library, memory, key
        self._edges: dict[str, PushRedaction] = {}

    def edge(self, project: str) -> PushRedaction:
        """How things leave for a project, as the hub says; NotFound where there is no such project."""
        if project not in self._edges:
            self._edges[project] = PushRedaction(_policy(self._client, project), self._key)
        return self._edges[project]

    def changed(self, tasks: Iterable[PushTask]) -> list[PushTask]:
        """Those of which there is something new, or which the hub has no more."""
        waiting, known = [], dict[str, dict[str, PushTask]]()
        for task in tasks:
            past = self._memory.past(task.project, task.found)
            if past is None or past.seal != source_digest(task.found, self.edge(task.project)):
                waiting.append(task)
            else:
                known.setdefault(task.project, {})[past.state] = task
        for project, states in known.items():
            unknown = self._have(project, "states", states, "states")
            waiting += [states[state] for state in unknown if state in states]
        return waiting

    def _have(self, project: str, what: str, values: Iterable[str], answer: str) -> Iterator[str]:
        """Those of many digests that the hub has not, a lot at a time."""
        left = iter(values)
        while some := list(islice(left, _AT_ONCE)):
            yield from _words(self._client.ask("POST", f"{_way(project)}/have", {what: some}), answer)

    def rehearse(self, task: PushTask) -> PushResult:
        """What would leave, without sending it."""
        with scratch_folder() as folder, self._library.located(task.found) as here:
            made = prepare_push(here, self.edge(task.project), folder)
            return PushResult(made.key, task.project, "new", made.size, prepared=made)

    def push(self, task: PushTask) -> PushResult:
        edge = self.edge(task.project)
        with scratch_folder() as folder, self._library.located(task.found) as here:
            sealed = source_digest(task.found, edge)  # before it is read: what is added meanwhile is for the next time
            made = prepare_push(here, edge, folder)
            if not made.files or not made.files[0][0].endswith(".jsonl"):
                return PushResult(made.key, task.project, "empty", prepared=made)
            files = {name: file_pieces(path) for name, path in made.files}
            whole = make_manifest(made.key, (ManifestFile(name, parts) for name, parts in files.items()), here.agent_id)
            done = self._sent(task.project, whole, dict(made.files))
        if done.outcome == "pushed":
            self._memory.remember(PushedSession(task.project, made.key, sealed, done.reason, here.agent_id))
        return done._replace(prepared=made, reason="" if done.outcome == "pushed" else done.reason)

    def _sent(self, project: str, whole: PushManifest, paths: dict[str, Path]) -> PushResult:
        wanted = dict.fromkeys(piece.digest for piece in whole.pieces())
        lacks, size, count = set(self._have(project, "digests", wanted, "lacks")), 0, 0
        for _ in range(_TRIES):
            for data in _lacking_pieces(whole, paths, lacks):
                packed = zstandard.ZstdCompressor(_LEVEL).compress(data)
                path = f"{_way(project)}/blobs/{sha256(data).hexdigest()}"
                self._client.send("PUT", path, UploadBody(packed, _PACKED))
                size, count = size + len(packed), count + 1
            try:
                answer = self._client.ask("POST", f"{_way(project)}/sessions", whole)
            except (Declined, NotFound) as error:
                return PushResult(whole.key, project, "refused", size, count, str(error))
            lacks = set(_words(answer, "lacks"))
            if not lacks:
                return PushResult(whole.key, project, "pushed", size, count, str(answer.get("state", "")))
        raise FetchFailed("The hub does not keep what is sent to it; try again later.")


def _lacking_pieces(whole: PushManifest, paths: dict[str, Path], lacks: set[str]) -> Iterator[bytes]:
    """The pieces that have to be sent, each once."""
    left = set(lacks)
    for file in whole.files:
        if left.isdisjoint(piece.digest for piece in file.pieces):
            continue
        for piece, data in zip(file.pieces, file_chunks(paths[file.name]), strict=True):
            if piece.digest in left:
                left.discard(piece.digest)
                yield data


def _policy(client: HubClient, project: str) -> RedactionPolicy:
    return parse_policy(client.send("GET", f"/api/policy?project={quote(project, safe='')}").data)


def _words(answer: Any, name: str) -> list[str]:
    """A list of what a hub answers; FetchFailed where it answers otherwise than a hub does."""
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FetchFailed("The hub does not answer as one does.")
    return found


def project_exists(client: HubClient, project: str) -> bool:
    """Whether the hub has a project that one may know of."""
    try:
        _policy(client, project)
    except NotFound:
        return False
    return True


def _way(project: str) -> str:
    return f"/api/projects/{quote(project, safe='')}"


def push_tasks(library: Library, choices: Folders, named: Sequence[str]) -> list[PushTask]:
    """The sessions that were named, or else all, as far as their folders were chosen.

    NotFound where one was named whose folder was not: it goes nowhere.
    """
    places = _Places(library)
    if not named:
        return list(_chosen(library.logs(), places, choices))
    found = [library.find(name) for name in named]
    chosen = list(_chosen(found, places, choices))
    if len(chosen) < len(found):
        lost = next(log for log in found if log not in [task.found for task in chosen])
        place = places.of(lost)
        raise NotFound(f"{lost.session_id} ran in {place}, of which nothing is pushed: --project NAME={place}.")
    return chosen


def _chosen(logs: Iterable[FoundLog], places: "_Places", choices: Folders) -> Iterator[PushTask]:
    for found in logs:
        if project := project_for(choices, places.of(found)):
            yield PushTask(found, project)


class _Places:
    """The folders that sessions ran in; those whose logs lie together ran in the same."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, str] = {}

    def of(self, found: FoundLog) -> str:
        """Where a session ran; empty where nothing tells."""
        filed = by_id(found.agent_id).filed_by_project
        folder = os.path.dirname(found.path) if filed else found.path  # noqa: PTH120  once for every log
        if not self._known.get(folder):
            self._known[folder] = project_in_head(found, self._library.kept, found.folder)
        return self._known[folder]
