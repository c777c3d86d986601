"""What a hub bears: the same questions put to all of its processes at the same time, by a wrk for each."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from bench.hub_running import Hubs
from bench.load import SECONDS, Load, asked

READERS = 8
"""At the same time, at each process."""


class Borne(NamedTuple):
    """A load, and what an answer cost."""

    load: Load
    cpu: float = 0.0
    """Milliseconds of a core in the hub; what else the machine does changes it little."""
    database: float = 0.0

    @property
    def cost(self) -> float:
        """Milliseconds of a core in all."""
        return self.cpu + self.database

    @property
    def told(self) -> str:
        behind = f" and {self.database:.1f} ms of the database" if self.database else ""
        return self.load.told if self.load.failed else f"{self.load.told}; {self.cpu:.1f} ms of a core{behind}"


def bear(hubs: Hubs, token: str, paths: Sequence[str], seconds: int = SECONDS) -> Borne:
    """Answers a second of all processes together; p50 and p99 are those of the slower one."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}
    count = len(hubs.servers)
    before = hubs.spent()
    with ThreadPoolExecutor(count) as pool:
        done = [
            pool.submit(asked, address, headers, turned(paths, number / count), seconds, READERS)
            for number, address in enumerate(hubs.addresses)
        ]
        load = together([one.result() for one in done])
    if load.failed:
        return Borne(load)
    own, database = (
        1000 * (now - then) / (load.rate * seconds) for now, then in zip(hubs.spent(), before, strict=True)
    )
    return Borne(load, own, database)


def turned(paths: Sequence[str], part: float) -> list[str]:
    """The same paths begun further on, so that not all ask for the same at the same time."""
    at = int(len(paths) * part)
    return [*paths[at:], *paths[:at]]


def together(loads: Sequence[Load]) -> Load:
    """Several loads as one."""
    failed = "; ".join(one.failed for one in loads if one.failed)
    if failed:
        return Load(failed=failed)
    return Load(sum(one.rate for one in loads), max(one.p50 for one in loads), max(one.p99 for one in loads))
