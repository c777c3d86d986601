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

_WORTH_A_PROCESS = (16 if sys.platform == "linux" else 48) * 1024 * 1024
"""Bytes to read, below which another process costs more than it brings."""
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

    ledgers, failures = _counted(logs, jobs or os.cpu_count() or 1)
    db = apsw.Connection(":memory:")
    db.execute(TABLES)
    db.execute("DROP INDEX request_message; DROP INDEX request_session")  # nobody asks here for either
    terms: dict[tuple[str, str, str, str], int] = {}
    with db:
        db.executemany(f"INSERT INTO request VALUES ({', '.join('?' * 17)})", _rows(ledgers, prices, terms))  # noqa: S608
        named = ((number, *(_clean(word) for word in said)) for said, number in terms.items())
        db.executemany("INSERT OR IGNORE INTO terms VALUES (?, ?, ?, ?, ?)", named)
    return LightIndex(db, failures)


def cost_of(log: FoundLog) -> float | None:
    """Dollars that a session cost with its subagents; None where some of it has no known price."""
    ledger, failures = _read([log])
    cost = PriceTable.load().cost(ledger)
    return float(cost.amount) if cost.known and not failures else None


def _rows(
    ledgers: list[CallLedger], prices: PriceTable, terms: dict[tuple[str, str, str, str], int]
) -> Iterator[tuple[object, ...]]:
    cost = prices.picodollars.of
    for ledger in ledgers:
        for _, _, time, said, figures, final in ledger.rows():
            price = cost(said, time, figures)
            number = terms.setdefault(said, len(terms) + 1)
            yield 0, 0, 0, time, number, *figures, final, None, 1, price


def _counted(logs: Sequence[FoundLog], jobs: int) -> tuple[list[CallLedger], list[str]]:
    """Ledgers that share no request, and what could not be read."""
    mine, *others = _shares(logs, jobs if _size(logs) >= _WORTH_A_PROCESS else 1)
    if not others:
        ledger, failures = _read(mine)
        return [ledger], failures
    from unspool.workers import ProcessCall  # dear to load where there is little to do

    waiting = [ProcessCall(_read, share) for share in others]
    done = [_read(mine), *(one.result() for one in waiting)]
    found: list[CallLedger] = []
    for ledger, _ in done:
        _join(found, ledger)
    return found, [failure for _, failures in done for failure in failures]


def _join(found: list[CallLedger], ledger: CallLedger) -> None:
    """Add a ledger to others, as one with those that it shares requests with."""
    for other in [other for other in found if other.meets(ledger)]:
        found.remove(other)
        other.merge(ledger)
        ledger = other
    found.append(ledger)


def _shares(logs: Sequence[FoundLog], jobs: int) -> list[list[FoundLog]]:
    """The logs in shares of like size, the first never missing.

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
    sizes = [0] * jobs
    for unit in sorted(units, key=_size, reverse=True):
        least = sizes.index(min(sizes))
        shares[least] += unit
        sizes[least] += _size(unit) + 1
    return [shares[0], *(share for share in shares[1:] if share)]


def _size(logs: Sequence[FoundLog]) -> int:
    return sum(log.total_size for log in logs)


def _read(logs: Sequence[FoundLog]) -> tuple[CallLedger, list[str]]:
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
