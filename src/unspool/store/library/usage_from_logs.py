"""Usage straight from logs, for when there is no index yet: their billed requests, and nothing else of them."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unspool.agents import FoundLog, by_id
from unspool.errors import UnspoolError
from unspool.prices import PriceTable
from unspool.reading.ledger import CallLedger
from unspool.store.index.schema import TABLES
from unspool.store.library.inputs import open_log

if TYPE_CHECKING:
    import apsw

    from unspool.workers import ProcessCall

_WORTH_A_PROCESS = (16 if sys.platform == "linux" else 48) * 1024 * 1024
"""Bytes to read, below which another process costs more than it brings."""
_WRITING = 0.2
"""Of a share, how much less this process reads than the others: it writes what all of them found."""
_HEAD = 16 * 1024
"""Bytes by which a log is known; the rest is read in large blocks, which need no buffer."""
ANSWERS = ("day", "week", "month", "model", "block")
"""What can be told without knowing sessions."""


class LightIndex:
    """An index in memory that holds requests and their terms, each request once."""

    def __init__(self, db: "apsw.Connection", failures: list[str]) -> None:
        self.db = db
        self.failures = failures
        """Logs that could not be read, and why."""


def light_index(logs: Sequence[FoundLog], prices: PriceTable, jobs: int | None = None) -> LightIndex:
    """The requests of all logs; what the index would say of them, but for which session holds them."""
    import apsw

    mine, *others = _shares(logs, (jobs or os.cpu_count() or 1) if _size(logs) >= _WORTH_A_PROCESS else 1)
    waiting = _read_elsewhere(others) if others else []
    db = apsw.Connection(":memory:")
    db.execute(TABLES)
    db.execute("DROP INDEX request_message; DROP INDEX request_session")  # nobody asks here for either
    with db:
        writer = _RequestWriter(db, prices)
        ledger, failures = _read(mine)
        writer.put(ledger)
        for call in waiting:
            ledger, failed = call.result()
            writer.put(ledger)
            failures += failed
        writer.put_terms()
    return LightIndex(db, failures)


_Read = tuple[CallLedger, list[str]]
"""The requests of some logs, and those of them that could not be read, with why."""


def _read_elsewhere(shares: Sequence[list[FoundLog]]) -> "list[ProcessCall[list[FoundLog], _Read]]":
    from unspool.workers import ProcessCall  # dear to load where there is little to do

    return [ProcessCall(_read, share) for share in shares]


_PUT = "INSERT INTO request VALUES (?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1, ?)"


class _RequestWriter:
    """Writes ledgers as rows, each while other processes still read theirs; a request of several ledgers once."""

    def __init__(self, db: "apsw.Connection", prices: PriceTable) -> None:
        self._db, self._cost = db, prices.picodollars.of
        self._terms: dict[tuple[str, str, str, str], int] = {}
        self._written: dict[int, CallLedger] = {}
        """Ledgers that share no request, by the number that their rows have for a session."""

    def put(self, ledger: CallLedger) -> None:
        for number, other in list(self._written.items()):
            if other.meets(ledger):
                self._db.execute("DELETE FROM request WHERE session = ?", (number,))
                other.merge(ledger)
                ledger = self._written.pop(number)
        number = max(self._written, default=0) + 1
        self._written[number] = ledger
        self._db.executemany(_PUT, self._rows(number, ledger))

    def _rows(self, number: int, ledger: CallLedger) -> Iterator[tuple[object, ...]]:
        cost, terms = self._cost, self._terms
        for _, _, time, said, figures, final in ledger.rows():
            price = cost(said, time, figures)
            term = terms.setdefault(said, len(terms) + 1)
            yield number, time, term, *figures, final, price

    def put_terms(self) -> None:
        named = ((number, *(_clean(word) for word in said)) for said, number in self._terms.items())
        self._db.executemany("INSERT OR IGNORE INTO terms VALUES (?, ?, ?, ?, ?)", named)


def cost_of(log: FoundLog) -> float | None:
    """Dollars that a session cost with its subagents; None where some of it has no known price."""
    ledger, failures = _read([log])
    cost = PriceTable.load().cost(ledger)
    return float(cost.amount) if cost.known and not failures else None


def _shares(logs: Sequence[FoundLog], jobs: int) -> list[list[FoundLog]]:
    """The logs in shares of like work: the first, which is never missing, is for this process.

    Those of one folder, which may hold copies of each other, stay together where no folder is more than a share.
    """
    folders: dict[str, list[FoundLog]] = {}
    for log in logs:
        folders.setdefault(log.folder, []).append(log)
    most = _size(logs) / jobs
    units = [
        unit for group in folders.values() for unit in ([group] if _size(group) <= most else [[one] for one in group])
    ]
    shares: list[list[FoundLog]] = [[] for _ in range(jobs)]
    sizes = [int(most * _WRITING), *[0] * (jobs - 1)]
    for unit in sorted(units, key=_size, reverse=True):
        least = sizes.index(min(sizes))
        shares[least] += unit
        sizes[least] += _size(unit) + 1
    return [shares[0], *(share for share in shares[1:] if share)]


def _size(logs: Sequence[FoundLog]) -> int:
    return sum(log.total_size for log in logs)


def _read(logs: Sequence[FoundLog]) -> _Read:
    ledger, failures = CallLedger(), []
    for log in logs:
        agent, logged = by_id(log.agent_id), log.agent_ids
        for path in (log.path, *(agent.path for agent in log.agents)):
            try:
                with open_log(path, buffer=_HEAD) as stream:
                    ledger.add(agent.billed_calls(stream, logged, log))
            except UnspoolError as error:
                failures.append(str(error))
            except OSError as error:
                failures.append(f"Cannot read {path}: {error.strerror or error}.")
    return ledger, failures


def _clean(text: str) -> str:
    """A text that the database takes."""
    return text.encode(errors="replace").decode()
