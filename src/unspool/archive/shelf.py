"""The few packs that were opened last, kept open."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from unspool.archive.packing import PACK, Damaged, Pack, begun, unpacked
from unspool.archive.picking import Job, Picked, Wanted, picked

_MOST_OF_IT = 0.8
"""Of a pack: who wants more of it gets it whole."""
_OPEN_BYTES = 96 * 1024 * 1024
_AT_ONCE = 16
"""Packs that lines are taken out of together: their packed bytes are held for it."""


class Shelf:
    """Unpacked packs, the last used kept as long as there is room."""

    def __init__(self, load: Callable[[int], Pack]) -> None:
        self._load = load
        self._open: OrderedDict[int, bytes] = OrderedDict()
        self._parts: set[int] = set()
        """Those of them that were unpacked only as far as was needed."""
        self._asked: set[int] = set()
        """Packs that lines were taken out of."""
        self._bytes = 0
        self.room = _OPEN_BYTES
        """Bytes of packs that are kept open."""

    def get(self, number: int, *, as_base: bool = False) -> bytes:
        """A pack's bytes, unpacked."""
        known = self._open.get(number)
        if known is not None and number not in self._parts:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if as_base and pack.base is not None:
            raise Damaged("a base has a base itself")  # never written; it could go round in circles
        raw = unpacked(pack.data, pack.size, self._base(pack))
        self._put(number, raw)
        return raw

    def begun(self, number: int, upto: int) -> bytes:
        """A pack's bytes, unpacked at least so far: reading a line near its beginning need not wait for the rest."""
        known = self._open.get(number, b"")
        if len(known) >= upto:
            self._open.move_to_end(number)
            return known
        pack = self._load(number)
        if not 0 < upto <= pack.size * _MOST_OF_IT or pack.size > PACK:
            return self.get(number)
        raw = begun(pack.data, upto, self._base(pack))
        self._put(number, raw)
        self._parts.add(number)
        return raw

    def picked(self, wanted: Mapping[int, Sequence[Wanted]]) -> Picked:
        """Lines of packs that had better not be opened for them: of those asked for the first time, or too many."""
        found: Picked = {}
        numbers = [number for number in wanted if self._passing(number)]
        for first in range(0, len(numbers), _AT_ONCE):
            found.update(picked(list(self._jobs(numbers[first : first + _AT_ONCE], wanted))))
        return found

    def _jobs(self, numbers: Iterable[int], wanted: Mapping[int, Sequence[Wanted]]) -> Iterable[Job]:
        for pack in map(self._load, numbers):
            if all(one.limit <= pack.size <= PACK for one in wanted[pack.id]):
                yield Job(pack, self._base(pack), wanted[pack.id])

    def _passing(self, number: int) -> bool:
        """Whether a pack is not to be opened: who asks twice will ask again, as long as none must go for it."""
        again = number in self._asked
        self._asked.add(number)
        return number not in self._open and not (again and self._bytes + PACK <= self.room)

    def _base(self, pack: Pack) -> bytes | None:
        return None if pack.base is None else self.get(pack.base, as_base=True)

    def _put(self, number: int, raw: bytes) -> None:
        self.drop(number)
        self._open[number] = raw
        self._bytes += len(raw)
        while self._bytes > self.room and len(self._open) > 1:
            self.drop(next(iter(self._open)))

    def drop(self, number: int) -> None:
        """Forget a pack."""
        self._bytes -= len(self._open.pop(number, b""))
        self._parts.discard(number)

    def clear(self) -> None:
        self._open.clear()
        self._parts.clear()
        self._bytes = 0
