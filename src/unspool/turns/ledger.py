"""Requests counted once, whatever number of lines, branches and files repeat them."""

from collections.abc import Iterable, Iterator

from unspool.model import Call, Event, Usage
from unspool.turns.merge import larger


class Ledger:
    """Billed requests by key. A repetition keeps the larger figures."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._first_request: dict[str, str] = {}

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls.values())

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, calls: Iterable[Call]) -> None:
        for call in calls:
            before = self._calls.get(call.key)
            self._calls[call.key] = call if before is None else _joined(before, call)

    def see(self, event: Event) -> None:
        """Take in the usage of one line as it comes by."""
        part = event.part
        if part is None or part.usage is None or part.synthetic:
            return
        request = part.request or self._first_request.get(part.message, "")
        if request and part.message not in self._first_request:
            self._adopt(part.message, request)
        usage = part.usage
        if not part.stop:
            usage = _floor(usage)
        self.add([Call(f"{part.message}:{request}", part.model, usage, event.time, part.speed, part.tier, part.geo)])

    def _adopt(self, message: str, request: str) -> None:
        """Lines of a message that came before its request was named belong to that request."""
        self._first_request[message] = request
        early = self._calls.pop(f"{message}:", None)
        if early is not None:
            key = f"{message}:{request}"
            self._calls[key] = Call(key, early.model, early.usage, early.time, early.speed, early.tier, early.geo)

    @property
    def usage(self) -> Usage:
        total = Usage()
        for call in self:
            total = total + call.usage
        return total


def _floor(usage: Usage) -> Usage:
    return Usage(
        usage.input, usage.output, usage.cache_read, usage.cache_write,
        usage.cache_write_1h, usage.web_searches, usage.web_fetches, floor=True,
    )  # fmt: skip


def _joined(before: Call, after: Call) -> Call:
    usage = larger(before.usage, after.usage)
    if usage is before.usage:
        return before
    return Call(before.key, after.model, usage, before.time, after.speed, after.tier, after.geo)


def by_model(calls: Iterable[Call]) -> tuple[Call, ...]:
    """The calls summed where model, speed, tier and place agree; the key is what they have in common."""
    sums: dict[str, Call] = {}
    for call in calls:
        key = ":".join(filter(None, (call.model, call.speed, call.tier, call.geo)))
        before = sums.get(key)
        usage = call.usage if before is None else before.usage + call.usage
        sums[key] = Call(key, call.model, usage, None, call.speed, call.tier, call.geo)
    return tuple(sums.values())
