"""What a request costs beyond the process that answers it: statements of the database, requests to the object store."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from bench.table import Row
from tests.hub.running import running
from unspool.hub.store.blobs import Blobs
from unspool.hub.store.connect import Store

if TYPE_CHECKING:
    from unspool.hub.store.blobs import Objects
    from unspool.hub.store.database import Database

_STATEMENTS = {"rows", "row", "run", "many"}
_REQUESTS = {"get", "get_part", "put", "delete", "size"}


class Counted:
    """A part of a store whose use is counted."""

    def __init__(self, part: object, names: set[str], counts: Counter[str], what: str) -> None:
        self._part, self._names, self._counts, self._what = part, names, counts, what

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            self._counts[self._what] += 1
        return getattr(self._part, name)


def counted(store: Store) -> tuple[Store, Counter[str]]:
    """The same store, and what is asked of it from now on."""
    counts: Counter[str] = Counter()
    db = cast("Database", Counted(store.db, _STATEMENTS, counts, "statements"))
    objects = cast("Objects", Counted(store.objects, _REQUESTS, counts, "objects"))
    return Store(db, objects, Blobs(db, objects)), counts


def costs(store: Store, token: str, paths: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float]]:
    """Statements and requests to the object store of each kind of request, on average and warm."""
    here, counts = counted(store)
    found = {}
    with running(here) as client:
        asked = client.as_(token)
        for name, some in paths.items():
            for path in some:
                asked.get(path)
            counts.clear()
            for path in some:
                asked.get(path)
            found[name] = (counts["statements"] / len(some), counts["objects"] / len(some))
    return found


def rows(found: Mapping[str, tuple[float, float]]) -> Iterator[Row]:
    """A row for all of them."""
    told = "; ".join(f"{name} {statements:.1f} and {objects:.1f}" for name, (statements, objects) in found.items())
    yield Row("hub: statements and requests to the object store, a request", told)
