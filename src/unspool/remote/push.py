"""Sessions pushed to a hub: what it lacks and nothing else, so that a second push costs next to nothing.

A push may end at any moment: what was sent is not sent again, and a session is there whole or as it was before.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import zstandard

from unspool.errors import Declined, FetchFailed, NotFound
from unspool.formats import Found
from unspool.library import Library
from unspool.library.scratch import scratch
from unspool.redact.policy import Policy, parsed
from unspool.remote.cutting import chunks, pieces
from unspool.remote.http import Client, Sent
from unspool.remote.manifest import File, Manifest, manifest
from unspool.remote.memory import Memory, Past
from unspool.remote.preparing import Edge, Prepared, prepared, seal

_AT_ONCE = 5_000
_TRIES = 5
_LEVEL = 6
_PACKED = "application/zstd"


class Task(NamedTuple):
    """A session and the project that it goes to."""

    found: Found
    project: str


class Done(NamedTuple):
    """What became of a session."""

    session: str
    project: str
    outcome: str
    """pushed, unchanged, refused (by the hub) or empty."""
    sent: int = 0
    """Bytes of pieces that the hub did not have, as they were sent."""
    pieces: int = 0
    reason: str = ""
    prepared: Prepared | None = None


class Pusher:
    """Pushes sessions to one hub."""

    def __init__(self, client: Client, library: Library, memory: Memory, key: bytes) -> None:
        self._client, self._library, self._memory, self._key = client, library, memory, key
        self._edges: dict[str, Edge] = {}

    def edge(self, project: str) -> Edge:
        """How things leave for a project, as the hub says; NotFound where there is no such project."""
        if project not in self._edges:
            self._edges[project] = Edge(_policy(self._client, project), self._key)
        return self._edges[project]

    def changed(self, tasks: Iterable[Task]) -> list[Task]:
        """Those of which there is something new, or which the hub has no more."""
        waiting, known = [], dict[str, dict[str, Task]]()
        for task in tasks:
            past = self._memory.past(task.project, task.found.session_id)
            if past is None or past.seal != seal(task.found, self.edge(task.project)):
                waiting.append(task)
            else:
                known.setdefault(task.project, {})[past.state] = task
        for project, states in known.items():
            waiting += [states[state] for state in self._strange(project, states) if state in states]
        return waiting

    def _strange(self, project: str, states: Iterable[str]) -> Iterator[str]:
        left = iter(states)
        while some := list(islice(left, _AT_ONCE)):
            yield from _words(self._client.ask("POST", f"{_way(project)}/have", {"states": some}), "states")

    def rehearse(self, task: Task) -> Prepared:
        """What would leave."""
        with scratch() as folder, self._library.located(task.found) as here:
            return prepared(here, self.edge(task.project), folder)

    def push(self, task: Task) -> Done:
        """Push one session."""
        edge = self.edge(task.project)
        with scratch() as folder, self._library.located(task.found) as here:
            sealed = seal(task.found, edge)  # before it is read: what is added meanwhile is for the next time
            made = prepared(here, edge, folder)
            if not made.files or not made.files[0][0].endswith(".jsonl"):
                return Done(made.key, task.project, "empty", prepared=made)
            files = {name: pieces(path) for name, path in made.files}
            whole = manifest(made.key, (File(name, parts) for name, parts in files.items()), here.format)
            done = self._sent(task.project, whole, dict(made.files))
        if done.outcome == "pushed":
            self._memory.remember(Past(task.project, made.key, sealed, done.reason))
        return done._replace(prepared=made, reason="" if done.outcome == "pushed" else done.reason)

    def _sent(self, project: str, whole: Manifest, paths: dict[str, Path]) -> Done:
        wanted = list(dict.fromkeys(piece.digest for piece in whole.pieces()))
        lacks, size, count = self._lacking(project, wanted), 0, 0
        for _ in range(_TRIES):
            for data in self._wanted(whole, paths, lacks):
                size, count = size + self._piece(project, data), count + 1
            try:
                answer = self._client.ask("POST", f"{_way(project)}/sessions", whole)
            except (Declined, NotFound) as error:
                return Done(whole.key, project, "refused", size, count, str(error))
            lacks = set(_words(answer, "lacks"))
            if not lacks:
                return Done(whole.key, project, "pushed", size, count, str(answer.get("state", "")))
        raise FetchFailed("The hub does not keep what is sent to it; try again later.")

    def _lacking(self, project: str, digests: list[str]) -> set[str]:
        lacks: set[str] = set()
        for at in range(0, len(digests), _AT_ONCE):
            some = digests[at : at + _AT_ONCE]
            lacks.update(_words(self._client.ask("POST", f"{_way(project)}/have", {"digests": some}), "lacks"))
        return lacks

    def _wanted(self, whole: Manifest, paths: dict[str, Path], lacks: set[str]) -> Iterator[bytes]:
        """The pieces that have to be sent, each once."""
        left = set(lacks)
        for file in whole.files:
            if left.isdisjoint(piece.digest for piece in file.pieces):
                continue
            for piece, data in zip(file.pieces, chunks(paths[file.name]), strict=True):
                if piece.digest in left:
                    left.discard(piece.digest)
                    yield data

    def _piece(self, project: str, data: bytes) -> int:
        packed = zstandard.ZstdCompressor(_LEVEL).compress(data)
        self._client.send("PUT", f"{_way(project)}/blobs/{sha256(data).hexdigest()}", Sent(packed, _PACKED))
        return len(packed)


def _policy(client: Client, project: str) -> Policy:
    return parsed(client.send("GET", f"/api/policy?project={quote(project, safe='')}").data)


def _words(answer: Any, name: str) -> list[str]:
    """A list of what a hub answers; FetchFailed where it answers otherwise than a hub does."""
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FetchFailed("The hub does not answer as one does.")
    return found


def there(client: Client, project: str) -> bool:
    """Whether the hub has a project that one may know of."""
    try:
        _policy(client, project)
    except NotFound:
        return False
    return True


def _way(project: str) -> str:
    return f"/api/projects/{quote(project, safe='')}"
