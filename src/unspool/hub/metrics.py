"""Figures of one process, as Prometheus reads them. What is counted since its start is its own; what the store holds is
the same from every process.
"""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator

from unspool.hub.store.opening import Store

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_HELD = {
    "shares": "SELECT count(*) FROM share WHERE ended IS NULL",
    "sessions": "SELECT count(*) FROM session",
    "people": "SELECT count(*) FROM person WHERE ended IS NULL",
}
_BYTES = "SELECT coalesce(sum(size), 0), coalesce(sum(stored), 0) FROM blob"


class Metrics:
    """Counters of a process, for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._received = self._sent = self._now = 0

    def begun(self) -> None:
        """A request came."""
        with self._lock:
            self._now += 1

    def ended(self, way: str, method: str, status: int, seconds: float, moved: tuple[int, int]) -> None:
        """A request was answered: by which way, and how many bytes came and went."""
        with self._lock:
            self._now -= 1
            self._answers[way, method, status] += 1
            self._times[way][bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[way] += seconds
            self._received += moved[0]
            self._sent += moved[1]

    def text(self, store: Store) -> str:
        """All figures."""
        held = {name: (store.db.row(sql) or (0,))[0] for name, sql in _HELD.items()}
        size, stored = store.db.row(_BYTES) or (0, 0)
        with self._lock:
            lines = [*self._requests(), *self._durations()]
            lines += _one("unspool_hub_requests_in_flight", "gauge", "Requests being answered now.", self._now)
            lines += _one("unspool_hub_received_bytes_total", "counter", "Bytes of bodies that came.", self._received)
            lines += _one("unspool_hub_sent_bytes_total", "counter", "Bytes of bodies that went.", self._sent)
        for name, count in held.items():
            lines += _one(f"unspool_hub_{name}", "gauge", f"How many {name} there are.", count)
        lines += _one("unspool_hub_content_bytes", "gauge", "Bytes of all contents, each once.", size)
        lines += _one("unspool_hub_stored_bytes", "gauge", "Bytes that they take in the object store.", stored)
        return "\n".join([*lines, ""])

    def _requests(self) -> Iterator[str]:
        yield from _head("unspool_hub_requests_total", "counter", "Requests answered.")
        for (way, method, status), count in sorted(self._answers.items()):
            yield f'unspool_hub_requests_total{{way="{way}",method="{method}",status="{status}"}} {count}'

    def _durations(self) -> Iterator[str]:
        name = "unspool_hub_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for way, counts in sorted(self._times.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{way="{way}",le="{bound}"}} {total}'
            yield f'{name}_sum{{way="{way}"}} {self._seconds[way]:.6f}'
            yield f'{name}_count{{way="{way}"}} {total}'


def _head(name: str, kind: str, help_line: str) -> tuple[str, str]:
    return f"# HELP {name} {help_line}", f"# TYPE {name} {kind}"


def _one(name: str, kind: str, help_line: str, value: int) -> tuple[str, str, str]:
    return (*_head(name, kind, help_line), f"{name} {value}")
