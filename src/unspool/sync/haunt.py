"""Sessions that are known from their traces alone, written into the index so that search finds their prompts."""

import hashlib
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from unspool.archive import Archive, Kept, Origin
from unspool.formats import Format, by_id, is_known
from unspool.index.fold import folded
from unspool.index.rows import LogRows, Rows
from unspool.index.store import Index
from unspool.index.write import Source, Writer
from unspool.model import LogFile, Overview, Titles
from unspool.sync.gather import PROMPT
from unspool.sync.ghosts import Ghost, Known, Span, conjured
from unspool.sync.prompts import kept_prompts
from unspool.turns.assemble import shortened

_NAME = "ghost:"
"""What the path of a ghost begins with, where a session has the path of its log."""


class Haunt:
    """Brings the ghosts of an index up to date with the archive."""

    def __init__(self, archive: Archive, index: Index) -> None:
        self._archive = archive
        self._index = index
        self._graves = archive.graves()

    def all(self) -> int:
        """Write the ghosts of every place, and take out those that are none any more; how many there are."""
        count = 0
        with Writer(self._index.db) as writer:
            for number, origin in self._archive.origins().items():
                if not is_known(origin.agent):
                    continue
                format_ = by_id(origin.agent)
                kept = self._archive.kept(number)
                found = self._ghosts(format_, kept, number, origin)
                self._write(writer, number, found, kept.get(format_.prompts), Path(origin.root) / format_.prompts)
                count += len(found)
        return count

    def _ghosts(self, format_: Format, kept: dict[str, Kept], number: int, origin: Origin) -> list[Ghost]:
        if format_.prompts not in kept:
            return []
        sessions = {format_.belongs(path) for path in kept if format_.is_session(path)}
        known = Known(sessions, lambda: self._spans(number), self._graves)
        return conjured(format_, kept_prompts(self._archive, format_, kept, sessions), _home(format_, origin), known)

    def _spans(self, origin: int) -> list[Span]:
        query = "SELECT project, started, ended FROM session WHERE origin = ? AND kind <> 'ghost'"
        rows = self._index.db.execute(query, (origin,))
        return [Span(project, _time(started), _time(ended)) for project, started, ended in rows]

    def _write(self, writer: Writer, origin: int, found: Sequence[Ghost], prompts: Kept | None, place: Path) -> None:
        query = "SELECT path, id, state FROM session WHERE origin = ? AND kind = 'ghost'"
        known = {path: (number, state) for path, number, state in self._index.db.execute(query, (origin,))}
        for ghost in found:
            path = f"{_NAME}{ghost.key}"
            number, before = known.pop(path, (0, b""))
            state = b"" if prompts is None else _state(ghost, prompts.generation)
            if prompts is None or before == state:
                continue
            if number:
                writer.drop(number)
            writer.put(
                _rows(ghost, str(place)),
                Source(origin, path, state, {str(place): prompts.generation}, {str(place): prompts.path}),
            )
        for number, _ in known.values():
            writer.drop(number)


def _home(format_: Format, origin: Origin) -> Path | None:
    """The agent's own folder, where it is on this machine and still there."""
    return format_.home(Path(origin.root)) if origin.machine == platform.node() else None


def _state(ghost: Ghost, generation: int) -> bytes:
    told = repr([ghost.key, ghost.project, generation, *ghost.prompts])
    return hashlib.sha256(told.encode(errors="surrogatepass")).digest()[:16]


def _rows(ghost: Ghost, path: str) -> Rows:
    first = ghost.prompts[0].text if ghost.prompts else ""
    assumed = "Prompts of one day, assumed to be one session" if ghost.assumed else ""
    overview = Overview(
        ghost.key, "", "ghost", LogFile(path, 0), Titles(assumed, prompt=shortened(first)), ghost.project,
        started=ghost.started, ended=ghost.ended, turns=len(ghost.prompts),
    )  # fmt: skip
    turns = [
        (number, None if prompt.time is None else int(prompt.time.timestamp() * 1000), prompt.place, "")
        for number, prompt in enumerate(ghost.prompts, 1)
    ]
    docs = [(turn, PROMPT, prompt.place, "", False, folded(prompt.text)) for turn, prompt in enumerate(ghost.prompts)]
    log = LogRows(path, "", 0, turns or [(0, None, 0, "")], docs, [], [], [], {}, {})
    return Rows(overview, b"", [log], [], (), [])


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
