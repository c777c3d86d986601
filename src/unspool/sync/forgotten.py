"""What was forgotten of an agent's files: whole files, and lines of its list of prompts."""

from collections.abc import Iterable, Iterator
from functools import cache

from unspool.archive.chain import lines_of
from unspool.archive.graves import ByPath, Graves, Rules
from unspool.archive.sieve import Drops
from unspool.formats import FORMATS, Format


class Forgotten:
    """What was forgotten of one agent: files by their paths, and by their sessions, so that no new file of a session
    comes back either; and lines of its list of prompts."""

    def __init__(self, graves: Graves, format_: Format) -> None:
        self._graves, self._format = graves, format_
        self._hold = cache(lambda session: graves.hold_lines(format_.prompts, session))

    def hides(self, path: str) -> bool:
        session = self._format.belongs(path)
        return self._graves.hold(path) or bool(session and self._hold(session))

    def drops(self, path: str) -> Drops | None:
        return self._dropped if self._graves.names and path == self._format.prompts else None

    def _dropped(self, line: bytes) -> bool:
        """Whether a line is of a forgotten session, or not whole yet and may be."""
        naming = self._format.naming(line)
        return not naming.whole or any(map(self._hold, naming.sessions))

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterator[str]:
        yield path
        if path == self._format.prompts:
            sessions = {session for line in lines for session in self._format.naming(line).sessions}
        else:
            sessions = {self._format.belongs(path)} - {""}
        yield from (lines_of(self._format.prompts, session) for session in sessions)


def rules(graves: Graves, agent: str) -> Rules:
    """What was forgotten of an agent's files; of an agent that nobody knows, by their paths alone."""
    format_ = next((format_ for format_ in FORMATS if format_.id == agent), None)
    return ByPath(graves) if format_ is None else Forgotten(graves, format_)


def names(session: str) -> list[str]:
    """The names by which the prompts of a session are buried."""
    return [lines_of(format_.prompts, session) for format_ in FORMATS]
