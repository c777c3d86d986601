"""Requests counted once, whatever number of lines, branches and files repeat them.

They are kept as columns of numbers, not as objects: a log of gigabytes holds hundreds of thousands of requests.
Their ids are kept as 64 bits of their digest.
"""

from array import array
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

from msgspec.structs import astuple

from unspool.model import Call, Part, Usage

_FIGURES = 8
"""The first fields of `Usage`, which are kept of each request."""
_NO_TIME = float("inf")
_LAST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_Figures = tuple[int, int, int, int, int, int, int, int]
_Terms = tuple[str, str, str, str]
"""Model, speed, tier and place: what the price depends on besides the figures."""


@lru_cache(1024)  # lines that follow one another name the same message and request
def stable_hash(name: str) -> int:
    """64 bits of an id, the same in every process."""
    return int.from_bytes(blake2b(name.encode(errors="replace"), digest_size=8).digest())


def line_hash(identity: str) -> int:
    """64 bits of a line's id, the same in every process; quick for the ids that agents give to lines."""
    if len(identity) == 36:
        try:
            number = int(identity.replace("-", ""), 16)
        except ValueError:
            return stable_hash(identity)
        return (number ^ number >> 64) & 0xFFFF_FFFF_FFFF_FFFF
    return stable_hash(identity)


class CallLedger:
    """Billed requests. A repetition keeps the larger of each figure."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        """The row of each message's first request, by message; of a further one, by message and request."""
        self._messages = array("Q")
        self._requests = array("Q")
        self._figures = array("Q")
        """All figures of the first request, then those of the next."""
        self._times = array("d")
        self._final = bytearray()
        self._terms = array("L")
        self._known_terms: dict[_Terms, int] = {}
        self._last: tuple[Part, datetime] | None = None
        """What was seen last, where nothing came after it: the next line of a message mostly tells the same."""

    def __len__(self) -> int:
        return len(self._messages)

    def knows(self, message: str) -> bool:
        """Whether a request of that message was seen."""
        return stable_hash(message) in self._rows

    def __iter__(self) -> Iterator[Call]:
        terms = list(self._known_terms)
        for row in range(len(self)):
            time = None if self._times[row] == _NO_TIME else datetime.fromtimestamp(min(self._times[row], _LAST), UTC)
            key = f"{self._messages[row]:x}:{self._requests[row]:x}"
            model, speed, tier, geo = terms[self._terms[row]]
            yield Call(key, model, self._usage(row), time, speed, tier, geo)

    def rows(self) -> Iterator[tuple[int, int, float | None, _Terms, _Figures, bool]]:
        """Every request as numbers: message, request, time, terms, figures, and whether these are final."""
        terms = list(self._known_terms)
        ids = zip(self._messages, self._requests, self._times, self._terms, self._final, strict=True)
        figures = zip(*[iter(self._figures)] * _FIGURES, strict=True)
        for (message, request, time, term, final), counts in zip(ids, figures, strict=True):
            yield message, request, None if time == _NO_TIME else time, terms[term], counts, bool(final)

    def calls(self) -> Iterator[Call]:
        """Every request, by a key made of what is known of its ids."""
        for message, request, time, terms, figures, final in self.rows():
            moment = None if time is None else datetime.fromtimestamp(time, UTC)
            yield Call(f"{message:016x}:{request:016x}", terms[0], Usage(*figures, floor=not final), moment, *terms[1:])

    def meets(self, other: "CallLedger") -> bool:
        """Whether both hold requests of one message."""
        return not self._rows.keys().isdisjoint(other._rows)

    def _usage(self, row: int) -> Usage:
        figures = self._figures[row * _FIGURES : (row + 1) * _FIGURES]
        input_, output, read, write, hour, searches, fetches, thought = figures
        return Usage(input_, output, read, write, hour, searches, fetches, thought, floor=not self._final[row])

    def see(self, part: Part, time: datetime | None) -> bool:
        """Take in the usage that a line tells as it comes by; True where its message was not known."""
        if part.usage is None or part.synthetic or (self._last is not None and self._is_told(part, time)):
            return False
        request = stable_hash(part.request) if part.request else 0
        message = stable_hash(part.message)
        new = message not in self._rows
        self._put(
            (message, request),
            part.usage,
            time.timestamp() if time is not None else _NO_TIME,
            (part.model, part.speed, part.tier, part.geo),
            final=bool(part.stop),
        )
        if part.advice:
            self.add(part.advice)
        elif time is not None:
            self._last = part, time
        return new

    def _is_told(self, part: Part, time: datetime | None) -> bool:
        """Whether a line tells nothing that the one before it did not."""
        if self._last is None or time is None:
            return False
        last, earlier = self._last
        return (
            part.usage is last.usage
            and part.message == last.message
            and part.request == last.request
            and part.stop == last.stop
            and (part.model, part.speed, part.tier, part.geo) == (last.model, last.speed, last.tier, last.geo)
            and not part.advice
            and time >= earlier
        )

    def add(self, calls: Iterable[Call]) -> None:
        """Take in requests that were joined from their lines already."""
        for call in calls:
            message, _, request = call.key.rpartition(":")
            ids = stable_hash(message), stable_hash(request) if request else 0
            time = call.time.timestamp() if call.time is not None else _NO_TIME
            terms = call.model, call.speed, call.tier, call.geo
            self._put(ids, call.usage, time, terms, final=not call.usage.floor)

    def enter(self, ids: tuple[int, int], usage: Usage, time: float | None, terms: _Terms) -> None:
        """Take in a request whose ids are known as 64 bits of their digests."""
        self._put(ids, usage, _NO_TIME if time is None else time, terms, final=not usage.floor)

    def merge(self, other: "CallLedger") -> None:
        """Take in all that another ledger holds."""
        terms = list(other._known_terms)
        for row in range(len(other)):
            said, final = terms[other._terms[row]], bool(other._final[row])
            self._put(other._ids(row), other._usage(row), other._times[row], said, final=final)

    def divide(self, holders: dict[int, "CallLedger"]) -> tuple["CallLedger", "CallLedger | None"]:
        """What no earlier ledger holds, and the rest, which joins what they hold of it; None where there is no rest.

        `holders` are the earlier ones by message; what is own here is entered.
        """
        own, copied = self, None
        if not holders.keys().isdisjoint(self._messages):
            own, copied = CallLedger(), CallLedger()
            terms = list(self._known_terms)
            for row in range(len(self)):
                ids, time, said = self._ids(row), self._times[row], terms[self._terms[row]]
                holder, final = holders.get(ids[0]), bool(self._final[row])
                earlier = holder is not None and holder._row(*ids) is not None
                for ledger in (holder, copied) if holder is not None and earlier else (own,):
                    ledger._put(ids, self._usage(row), time, said, final=final)
        for message in own._messages:
            holders.setdefault(message, own)
        return own, copied

    def messages(self) -> frozenset[int]:
        """The messages that its requests are of, as `stable_hash` gives them."""
        return frozenset(self._messages)

    def _ids(self, row: int) -> tuple[int, int]:
        return self._messages[row], self._requests[row]

    def _put(self, ids: tuple[int, int], usage: Usage, time: float, terms: _Terms, *, final: bool) -> None:
        self._last = None
        message, request = ids
        figures = astuple(usage)[:_FIGURES]
        term = self._known_terms.setdefault(terms, len(self._known_terms))
        first = self._rows.get(message)
        row = None if first is None else self._row(message, request)
        if row is None:
            self._rows[message if first is None else message ^ request] = len(self._messages)
            self._messages.append(message)
            self._requests.append(request)
            self._figures.extend(figures)
            self._times.append(time)
            self._final.append(final)
            self._terms.append(term)
            return
        place = slice(row * _FIGURES, (row + 1) * _FIGURES)
        before = tuple(self._figures[place])
        if figures != before:
            self._figures[place] = array("Q", map(max, before, figures))
        self._times[row] = min(self._times[row], time)
        if final and not self._final[row]:
            self._final[row] = True
        self._terms[row] = term

    def _row(self, message: int, request: int) -> int | None:
        """Where the request stands; a line that names no request belongs to its message's first."""
        row = self._rows.get(message)
        if row is None or not request or self._requests[row] == request:
            return row
        if not self._requests[row]:
            self._requests[row] = request
            return row
        return self._rows.get(message ^ request)

    @property
    def usage(self) -> Usage:
        columns = (self._figures[place::_FIGURES] for place in range(_FIGURES))
        input_, output, read, write, hour, searches, fetches, thought = map(sum, columns)
        return Usage(input_, output, read, write, hour, searches, fetches, thought, floor=not all(self._final))


class MessageNames(CallLedger):
    """Knows of requests only which messages they were of, for whoever asks no more."""

    def __init__(self) -> None:
        super().__init__()
        self._names: set[str] = set()

    def see(self, part: Part, time: datetime | None) -> bool:
        if part.usage is None or part.synthetic or part.message in self._names:
            return False
        self._names.add(part.message)
        return True

    def knows(self, message: str) -> bool:
        return message in self._names


def sum_by_model(ledger: CallLedger) -> tuple[Call, ...]:
    """The requests summed where model, speed, tier and place agree; the key is what they have in common."""
    alike: dict[str, tuple[_Terms, list[_Figures], list[bool]]] = {}
    for _, _, _, terms, figures, final in ledger.rows():
        _, rows, finals = alike.setdefault(":".join(filter(None, terms)), (terms, [], []))
        rows.append(figures)
        finals.append(final)
    found = []
    for key, ((model, speed, tier, geo), rows, finals) in alike.items():
        input_, output, read, write, hour, searches, fetches, thought = map(sum, zip(*rows, strict=True))
        usage = Usage(input_, output, read, write, hour, searches, fetches, thought, floor=not all(finals))
        found.append(Call(key, model, usage, None, speed, tier, geo))
    return tuple(found)
