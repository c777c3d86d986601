"""Billed requests of a session as the index takes them: priced, and with the log each was met in."""

from collections.abc import Mapping

from unspool.index.requests import Request
from unspool.prices import PriceTable
from unspool.prices.pico import Picodollars
from unspool.turns.ledger import Ledger


def requests(ledger: Ledger, owners: Mapping[int, int], prices: PriceTable) -> list[Request]:
    """The rows of a ledger; `owners` tells the number of the subagent's log that a message is of."""
    price = Picodollars(prices)
    return [
        Request(message, request, time, terms, figures, final, owners.get(message, 0), price.of(terms, time, figures))
        for message, request, time, terms, figures, final in ledger.rows()
    ]
