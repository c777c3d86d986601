"""Billed requests of a session as the index takes them: priced, and with what each of them wrote again."""

from collections.abc import Iterator
from itertools import groupby

from unspool.figures.rewriting import Again, Sent, rewritten
from unspool.index.requests import Request, Rewrite
from unspool.model import Event
from unspool.prices import PriceTable
from unspool.prices.pico import Picodollars
from unspool.turns.ledger import Ledger, stable

_INPUT, _READ, _WRITE, _HOUR = 0, 2, 3, 4


class Bill:
    """Hears every event of a session's logs, and knows its requests afterwards."""

    def __init__(self) -> None:
        self._owners: dict[int, int] = {}
        """The number of the subagent's log that a message is of."""
        self._aside: set[int] = set()
        """Messages of subagents that stand in their session's own log."""
        self._fresh: set[int] = set()
        """Messages that came first after a compaction."""

    def heard(self, events: Iterator[Event], number: int) -> Iterator[Event]:
        """The events of a log, noting what their requests belong to."""
        compacted = False
        for event in events:
            compacted = compacted or event.boundary
            if event.part is not None and event.part.usage is not None:
                if number or compacted or event.sidechain:
                    self._note(stable(event.part.message), number, event.sidechain, compacted)
                compacted = False
            yield event

    def _note(self, message: int, number: int, aside: bool, compacted: bool) -> None:
        if number:
            self._owners.setdefault(message, number)
        elif aside:
            self._aside.add(message)
        if compacted:
            self._fresh.add(message)

    def requests(self, ledger: Ledger, prices: PriceTable) -> list[Request]:
        """The rows of a ledger that heard the same events."""
        price = Picodollars(prices)
        rows = [
            Request(message, one, time, terms, figures, final, self._owners.get(message, 0),
                    price.of(terms, time, figures))
            for message, one, time, terms, figures, final in ledger.rows()
        ]  # fmt: skip
        return list(self._with_rewrites(rows, price))

    def _with_rewrites(self, rows: list[Request], price: Picodollars) -> Iterator[Request]:
        rows.sort(key=self._conversation)
        for _, same in groupby(rows, self._conversation):
            talk = list(same)
            for row, again in zip(talk, rewritten(map(self._sent, talk)), strict=True):
                yield row if again is None else row._replace(again=_rewrite(row, again, price))

    def _conversation(self, row: Request) -> tuple[int, bool]:
        return row.agent, row.message in self._aside

    def _sent(self, row: Request) -> Sent:
        figures = row.figures
        return Sent(
            row.terms[0], row.time, figures[_INPUT], figures[_READ], figures[_WRITE], figures[_HOUR],
            row.message in self._fresh,
        )  # fmt: skip


def _rewrite(row: Request, again: Again, price: Picodollars) -> Rewrite:
    """What was written again, and what that cost more than reading it."""
    input_, output, read, write, hour, *rest = row.figures
    instead = (input_, output, read + again.tokens, write - again.tokens, hour - again.hour, *rest)
    cost = price.of(row.terms, row.time, instead)  # type: ignore[arg-type]
    lost = None if cost is None or row.cost is None else max(0, row.cost - cost)
    return Rewrite(again.cause, again.tokens, lost)
