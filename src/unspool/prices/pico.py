"""What requests cost in whole picodollars, many of them in little time.

A price holds for all requests of a day with the same terms, so it is looked up once for these; what is left for each
request are a few products of whole numbers. The answer is that of `PriceTable.price_of`, to the last digit, but for
figures that no request can have.
"""

from decimal import Decimal
from typing import NamedTuple

from unspool.model import Call, Usage
from unspool.prices import CallFigures, CallTerms, PriceTable, priced_call
from unspool.prices.table import Rates

PICO = 10**12
"""Picodollars of a dollar."""
MOST = 2**63 - 1
"""What a database holds: nine million dollars, which no request costs."""
_DAY = 86_400

_Vector = tuple[int | None, ...]


class _Day(NamedTuple):
    """Picodollars a token: of input, output, cache read, cache write, and what lives an hour."""

    usual: _Vector
    above: int | None
    """Tokens sent, above which the others hold."""
    long: _Vector
    search: int | None


class Picodollars:
    """Prices requests by a table."""

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        self._days: dict[tuple[CallTerms, int | None], _Day | None] = {}

    def of(self, terms: CallTerms, time: float | None, figures: CallFigures) -> int | None:
        """What a request cost; None when any part of it has no known price, or its figures are beyond belief."""
        key = terms, None if time is None else int(time // _DAY)
        if key not in self._days:
            self._days[key] = self._day(priced_call(terms, time, Usage()))
        day = self._days[key]
        if day is None:
            price = self._table.price_of(priced_call(terms, time, Usage(*figures)))
            cost = None if price is None else int((price * PICO).to_integral_value())
        else:
            cost = _cost(day, figures)
        return cost if cost is None or cost <= MOST else None

    def _day(self, call: Call) -> _Day | None:
        """The prices of a day; None where there is none, or none that whole picodollars can tell."""
        found = self._table.rates(call)
        if found is None:
            return None
        price, factor, search = found
        usual = _vector(price, factor)
        long = _vector(price.above, factor) if price.above is not None else usual
        fee = _whole(search, PICO)
        if usual is None or long is None or fee == -1:
            return None
        return _Day(usual, price.above.tokens if price.above is not None else None, long, fee)


def _vector(rates: Rates, factor: Decimal) -> _Vector | None:
    """Picodollars a token, from dollars a million; None where one of them is no whole number."""
    known = (rates.input, rates.output, rates.read, rates.write, rates.write_1h)
    found = tuple(_whole(None if rate is None else rate * factor, PICO // 10**6) for rate in known)
    return None if -1 in found else found


def _whole(amount: Decimal | None, unit: int) -> int | None:
    """An amount in a unit; None where it is not known, -1 where it is no whole number of them."""
    if amount is None:
        return None
    scaled = amount * unit
    return int(scaled) if scaled == scaled.to_integral_value() else -1


def _cost(day: _Day, figures: CallFigures) -> int | None:
    input_, output, read, write, hour, searches, _ = figures
    sent = input_ + read + write
    rates = day.long if day.above is not None and sent > day.above else day.usual
    hour = min(hour, write)
    total = 0
    for count, rate in zip((input_, output, read, write - hour, hour, searches), (*rates, day.search), strict=True):
        if count:
            if rate is None:
                return None
            total += count * rate
    return total
