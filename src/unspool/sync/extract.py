"""Everything the index takes from one session, read from its logs up to the size that the archive holds."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.errors import UnspoolError
from unspool.formats import Format, Found, by_id
from unspool.formats.format import Parser
from unspool.index.rows import LogRows, Rows
from unspool.library.inputs import opened
from unspool.library.read import Reader, log_file, skimmed
from unspool.model import Event
from unspool.prices import PriceTable
from unspool.sync.billed import Bill
from unspool.sync.gather import Gathered
from unspool.sync.weigh import Weighed, together
from unspool.turns.skim import Skim


class Job(NamedTuple):
    """A session to be read: where, and how much of each of its logs."""

    found: Found
    sizes: Mapping[str, int]
    """By path, the bytes that the archive holds."""
    prices: PriceTable

    @property
    def size(self) -> int:
        return sum(self.sizes.get(path, 0) for path in (self.found.path, *(one.path for one in self.found.agents)))


def extract(job: Job) -> Rows | str:
    """The rows of a session; the reason where its log cannot be read."""
    found = job.found
    try:
        return _Session(job).rows()
    except UnspoolError as error:
        return str(error)
    except OSError as error:
        return f"Cannot read {found.path}: {error.strerror or error}."


class _Session:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._found = job.found
        self._format: Format = by_id(job.found.format)
        self._bill = Bill()
        self._weighed: list[Weighed] = []
        self._failures: list[str] = []
        self._seen: set[int] = set()
        self._named: set[str] = set()

    def rows(self) -> Rows:
        found = self._found
        parser = self._format.parser(found)
        dialect = self._format.dialect(found, parser.facts)
        skim = Skim(dialect)
        own = Gathered(dialect, self._seen)
        self._weighed.append(own.weighed)
        skim.main(own.watched(self._bill.heard(self._events(found.path, parser), 0)))
        if skim.open_plans:
            skim.settle(skimmed(found.path, self._format, self._format.parser(None), skim.open_plans))
        agents = []
        for number, agent in enumerate(found.agents, 1):
            agents.append(self._agent(skim, agent.path, agent.id, number))
        overview = skim.overview(found.session_id, parser.facts, log_file(found.path, self._size(found.path)))
        overview = msgspec.structs.replace(
            overview,
            project=self._format.project(parser.facts, found.folder),
            size=sum(self._size(path) for path in (found.path, *(agent.path for agent in found.agents))),
        )
        own.name(overview)
        logs = [_log(own, found.path, "", self._size(found.path)), *agents]
        return Rows(
            overview,
            skim.ids.tobytes(),
            logs,
            self._bill.requests(skim.ledger, self._job.prices),
            own.todos,
            self._failures,
            sorted(self._named.union(dialect.named)),
            together(self._weighed, overview.usage.output),
        )

    def _agent(self, skim: Skim, path: str, identity: str, number: int) -> LogRows:
        """A subagent's log; one that cannot be read is told of, and the rest counts."""
        parser = self._format.parser(self._found)
        dialect = self._format.dialect(self._found, parser.facts)
        gathered = Gathered(dialect, self._seen)
        self._weighed.append(gathered.weighed)
        try:
            skim.agent(gathered.watched(self._bill.heard(self._events(path, parser), number)))
        except (UnspoolError, OSError) as error:
            self._failures.append(f"Cannot read {path}: {error}")
        self._named.update(dialect.named)
        return _log(gathered, path, identity, self._size(path))

    def _events(self, path: str, parser: Parser) -> Iterator[Event]:
        reader = Reader()
        with opened(path, self._size(path)) as stream:
            for entry in reader.entries(stream):
                yield parser.event(entry)

    def _size(self, path: str) -> int:
        size = self._job.sizes.get(path)
        return Path(path).stat().st_size if size is None else size


def _log(gathered: Gathered, path: str, agent: str, size: int) -> LogRows:
    return LogRows(
        path, agent, size, gathered.turns, gathered.docs, gathered.touches, gathered.commits,
        list(gathered.plans.values()), dict(gathered.calls), dict(gathered.errors),
    )  # fmt: skip
