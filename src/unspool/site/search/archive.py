"""The index of a whole archive, put together from the words of its sessions.

`head.js` lists sessions, projects and shards; a shard holds the words from its first up to the next shard's first,
with their postings. Shards are called by their content and the head is written last, so an index that was interrupted
is the old one, whole. Sessions are numbered by their start: what is new is counted on at the end.
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from unspool.site.search import codes, lexicon, script
from unspool.site.search.record import KINDS

FOLDER: Final = "search"
HEAD: Final = "head.js"
SHARD: Final = 64_000
"""Bytes after which a shard is full."""

_TITLE: Final = 160


class Listed(NamedTuple):
    """A session of the archive."""

    folder: str
    """Relative to the site's root, with slashes."""
    project: str


class Shard(NamedTuple):
    """A run of words in sorted order."""

    first: str
    name: str
    content: bytes


class Writer:
    """Puts together and writes the index of the sessions below a site's root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sessions: list[tuple[lexicon.About, Listed]] = []

    def add(self, session: Listed) -> bool:
        """Take in a session whose folder is in place; False where it has no words that can be read."""
        try:
            with (self._root / session.folder / lexicon.NAME).open("rb") as file:
                self._sessions.append((lexicon.described(file.readline()), session))
        except (OSError, msgspec.DecodeError):
            return False
        return True

    def write(self) -> int:
        """Write what changed and remove what is no longer used; gives the number of files written."""
        target = self._root / FOLDER
        target.mkdir(parents=True, exist_ok=True)
        self._sessions.sort(key=lambda session: (session[0].started, session[1].folder))
        shards: list[tuple[str, str]] = []
        written = 0
        for shard in _shards(self._merged()):
            shards.append((shard.first, shard.name))
            written += _put(target / shard.name, shard.content)
        written += _put(target / HEAD, script.shard("head", self._head(shards)), anew=True)
        _clear(target, {name for _, name in shards})
        return written

    def _merged(self) -> dict[str, bytearray]:
        """Every word of the archive with its postings, sessions ascending."""
        merged: dict[str, bytearray] = {}
        get = merged.get
        for number, (_, session) in enumerate(self._sessions):
            code = codes.of_session(number).encode()
            for word, records in lexicon.postings((self._root / session.folder / lexicon.NAME).read_bytes()):
                held = get(word)
                if held is None:
                    merged[word] = bytearray(code + records)
                else:
                    held += code + records
        return merged

    def _head(self, shards: list[tuple[str, str]]) -> dict[str, object]:
        projects = {name: at for at, name in enumerate(sorted({session.project for _, session in self._sessions}))}
        rows = [
            (session.folder, one.title[:_TITLE], projects[session.project], one.started, one.counts, one.starts)
            for one, session in self._sessions
        ]
        return {"kinds": KINDS, "projects": list(projects), "sessions": rows, "shards": shards}


def _shards(merged: dict[str, bytearray]) -> Iterator[Shard]:
    """The words in the order in which a browser compares them, cut by size."""
    run: list[str] = []
    size = 0
    for word in sorted(merged, key=lambda word: word.encode("utf-16-be")):
        size += len(word) + len(merged[word])
        run.append(word)
        if size > SHARD:
            yield _shard(run, merged)
            run, size = [], 0
    if run:
        yield _shard(run, merged)


def _shard(run: list[str], merged: dict[str, bytearray]) -> Shard:
    found = b" ".join([merged.pop(word) for word in run]).decode()
    value = script.data([" ".join(run), found])
    name = f"w-{blake2b(value, digest_size=8).hexdigest()}"
    return Shard(run[0], f"{name}.js", script.call(name, value))


def _put(path: Path, content: bytes, anew: bool = False) -> bool:
    """Write a file whole or not at all; a file that is called by its content is written once."""
    if path.exists() and (not anew or path.read_bytes() == content):
        return False
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)
    return True


def _clear(target: Path, kept: set[str]) -> None:
    for path in (*target.glob("w-*.js"), *target.glob("*.part")):
        if path.name not in kept:
            path.unlink()
