"""What lies beside a log and goes along with a copy of it: subagents' logs, spilled results, todos, file history."""

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from unspool.clone.copy import Copy
from unspool.clone.original import original
from unspool.clone.publish import Paper
from unspool.formats import Companion
from unspool.formats.writing import Link

_SHARED = frozenset({"plan", "history"})
"""Files that are no single session's."""
_LOG = ".jsonl"


def carried(copy: Copy, log: Path, home: Path | None) -> Iterator[Paper]:
    """The files that go along, under the id of the copy.

    Those in the session's own folder go beside `log`; those below the agent's folder go below `home`, and stay
    behind where there is none.
    """
    found, session = copy.original.found, copy.making.session
    beside = {path: log.parent / session / path.relative_to(found.home) for path in _own(copy)}
    root = Path(found.root) if found.root else None
    for companion in _elsewhere(copy):
        path = Path(companion.path)
        if home is not None and root is not None and path.is_relative_to(root):
            named = str(path.relative_to(root)).replace(found.session_id, session)
            beside[path] = home / named
    for path, target in beside.items():
        yield Paper(target, lambda path=path: _content(copy, path))  # type: ignore[misc]


def _own(copy: Copy) -> Iterator[Path]:
    """Files in the session's own folder."""
    found = copy.original.found
    if not copy.making.side or not found.home.is_dir():
        return
    for path in sorted(found.home.rglob("*")):
        if path.is_file() and not path.is_symlink() and not any(parent.is_symlink() for parent in path.parents):
            yield path


def _elsewhere(copy: Copy) -> Iterable[Companion]:
    found = copy.original.found
    for companion in copy.original.format.companions(found, ""):
        inside = Path(companion.path).is_relative_to(found.home)
        wanted = copy.making.snapshots if companion.kind == "file-history" else copy.making.side
        if wanted and not inside and companion.kind not in _SHARED:
            yield companion


def _content(copy: Copy, path: Path) -> Iterator[bytes]:
    if path.suffix == _LOG:
        yield from _agent(copy, path)
        return
    with path.open("rb") as file:
        if copy.making.paths:
            yield copy.writer.relocated(file.read(), copy.making.paths)
        else:
            while chunk := file.read(1 << 20):
                yield chunk


def _agent(copy: Copy, path: Path) -> Iterator[bytes]:
    """A subagent's log under new ids, every line of it."""
    log = original(msgspec.structs.replace(copy.original.found, path=str(path)))
    ids = {**copy.identity.ids, **{event.id: str(uuid.uuid4()) for event in log.events if event.id}}
    identity = msgspec.structs.replace(copy.identity, ids=ids, before={}, after={})
    for event in log.events:
        if event.kind == "problem":
            continue
        if event.id:
            link = Link(ids[event.id], ids.get(event.parent or ""))
            yield copy.writer.renewed(log.raw(event), identity, link)
        elif (made := copy.writer.beside(log.raw(event), identity)) is not None:
            yield made
