"""What sessions had to do with each commit of a repository: who made it, whose lines it brought, what that cost."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

import apsw
import msgspec

from unspool.errors import UnspoolError
from unspool.figures import calls_of, family
from unspool.figures.file_states import file_place, forward_slashes
from unspool.figures.line_owners import is_telling, plain_line
from unspool.model import Session
from unspool.model.tool_input import paths_of
from unspool.store.index.git_work import commit_sessions, cost_until, sessions_touching_paths
from unspool.store.index.schema import PICO
from unspool.store.library.git_repository import ChangedLines, GitRepository
from unspool.tools import changes

_EARLIER = 30 * 86_400.0
"""Seconds before a commit in which its lines may have been written."""


class CommitWork(msgspec.Struct, frozen=True):
    hash: str
    author: str
    time: datetime | None
    subject: str
    sessions: tuple[str, ...]
    """Sessions that made it."""
    writers: tuple[str, ...]
    """Sessions that wrote lines of it."""
    lines: int
    """Lines that it brought, without those that say too little to be known again."""
    agent_lines: int
    """Of these, those that calls of sessions wrote."""
    cost: Decimal | None
    """Dollars that its sessions spent since their commit before; None where that is not known."""


class CommitWorks:
    """The commits of a repository, newest first. `open_session` gives a session by its id."""

    def __init__(self, db: apsw.Connection, repository: GitRepository, open_session: Callable[[str], Session]) -> None:
        self._db, self._repository, self._open = db, repository, open_session
        self._written = lru_cache(maxsize=64)(self._lines_of)

    def newest(self, at: str, most: int) -> Iterator[CommitWork]:
        for found in self._repository.commits(at, most):
            made = commit_sessions(self._db, found.hash, found.subject, found.time)
            brought = self._repository.added_lines(found.hash)
            lines, agents, writers = self._attributed(brought, found.time)
            spent = cost_until(self._db, made, found.time)
            cost = None if spent is None else Decimal(spent) / PICO
            time = datetime.fromtimestamp(found.time, UTC) if found.time else None
            head = (found.hash, found.author, time, found.subject)
            yield CommitWork(*head, tuple(made), tuple(writers), lines, agents, cost)

    def _attributed(self, brought: list[ChangedLines], time: float) -> tuple[int, int, list[str]]:
        """The lines of a commit, how many of them sessions wrote before it, and which sessions."""
        total = agents = 0
        writers: dict[str, None] = {}
        roots = [forward_slashes(one) for one in (self._repository.top, *self._repository.worktrees())]
        for file in brought:
            left = Counter(plain_line(line) for line in file.lines if is_telling(line))
            total += left.total()
            paths = list(dict.fromkeys(f"{root}/{file.path}" for root in roots))
            for key in sessions_touching_paths(self._db, paths, time - _EARLIER, time):
                wrote = Counter[str]()
                for path in paths:
                    wrote += self._written(key, path)
                taken = left & wrote
                if taken:
                    left -= taken
                    agents += taken.total()
                    writers[key] = None
        return total, agents, list(writers)

    def _lines_of(self, key: str, path: str) -> Counter[str]:
        """The lines that calls of a session put into a file."""
        try:
            session = self._open(key)
        except UnspoolError:
            return Counter()
        found = Counter[str]()
        for call in (call for member in family(session) for call in calls_of(member)):
            if call.role not in ("write", "edit") or call.state != "ok":
                continue
            if path not in {forward_slashes(file_place(name, session.cwd)) for name in paths_of(call)}:
                continue
            for diff in changes(call):
                lines = (line[1:] for hunk in diff.hunks for line in hunk.lines if line[:1] == "+")
                found.update(plain_line(line) for line in lines if is_telling(line))
        return found
