"""What calls cost, in exact US dollars, at the public list prices as of October 2026.

A price that is not known is not known: such calls are named and counted, never taken for free. Prices depend on
the single request (length of its prompt, day, speed, tier), so price calls first and add up the money after:
`Spend` does so one call at a time. What the agent wrote itself, without a model, costs nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import blake2b
from math import prod
from operator import add
from pathlib import Path
from typing import NamedTuple, Self, cast

import msgspec

from unspool.model import Call, Usage
from unspool.prices.table import ModelPrice, PriceSheet, Rates, builtin_sheet, read_sheet

SYNTHETIC = "<synthetic>"
_DAY = 86_400
_NOTHING = Decimal(0)
_LAST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()

CallTerms = tuple[str, str, str, str]
"""Model, speed, tier and place."""
CallFigures = tuple[int, int, int, int, int, int, int, int]
"""Input, output, cache read, cache write, the part of it that lives an hour, searches, fetches, reasoning."""
CallRates = tuple[ModelPrice, Decimal, Decimal | None]
"""The prices of tokens, what multiplies them, and the price of a web search."""
BilledCall = tuple[int, int, float | None, CallTerms, CallFigures, bool]
"""Message, request, time, terms, figures, and whether these are final; as a ledger tells them."""


class Cost(msgspec.Struct, frozen=True, omit_defaults=True):
    """Money spent: the sum of what has a price, and what has none."""

    amount: Decimal = Decimal(0)
    unpriced: tuple[tuple[str, int], ...] = ()
    """Models without a price, each with its number of calls, in order of name."""
    floor: bool = False
    """True where some usage is a lower bound."""

    @property
    def known(self) -> bool:
        """True when `amount` is the whole cost."""
        return not self.unpriced and not self.floor

    def __add__(self, other: "Cost") -> "Cost":
        unpriced = self.unpriced or other.unpriced
        if self.unpriced and other.unpriced:
            unpriced = tuple(sorted((Counter(dict(self.unpriced)) + Counter(dict(other.unpriced))).items()))
        return Cost(self.amount + other.amount, unpriced, self.floor or other.floor)


class PriceParts(msgspec.Struct, frozen=True):
    """What requests cost, in dollars, by what was paid for."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    read: Decimal = Decimal(0)
    write: Decimal = Decimal(0)
    searches: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return self.input + self.output + self.read + self.write + self.searches

    def __add__(self, other: "PriceParts") -> "PriceParts":
        return PriceParts(*map(add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


class PriceTable:
    """Prices by model and day."""

    def __init__(self, sheet: PriceSheet) -> None:
        self._sheet = sheet
        self._fitting: dict[str, tuple[ModelPrice, ...]] = {}
        self._known: dict[tuple[CallTerms, date | None], CallRates | None] = {}
        self._picodollars: Picodollars | None = None
        self.date = sheet.date
        self.source = sheet.source

    @classmethod
    def load(cls, override: Path | None = None) -> Self:
        """The built-in prices, with a user's own laid over them."""
        sheet = builtin_sheet()
        return cls(sheet if override is None else sheet.under(read_sheet(override)))

    @property
    def digest(self) -> str:
        """Equal for tables that price alike."""
        return blake2b(msgspec.json.encode(self._sheet), digest_size=8).hexdigest()

    @property
    def picodollars(self) -> "Picodollars":
        """The same prices for many requests; what it has looked up stays known."""
        if self._picodollars is None:
            self._picodollars = Picodollars(self)
        return self._picodollars

    def price_of(self, call: Call) -> Decimal | None:
        """What one request cost; None when any part of it has no known price."""
        if call.model == SYNTHETIC:
            return _NOTHING
        found = self.rates(call)
        return None if found is None else _amount(call, found, long=_is_long(call, found[0]))

    def price_parts(self, call: Call) -> "PriceParts | None":
        """What one request cost, by what was paid for; None when any part of it has no known price."""
        if call.model == SYNTHETIC:
            return PriceParts()
        found = self.rates(call)
        if found is None:
            return None
        price, factor, search = found
        shares = _shares(call, price.above if price.above is not None and _is_long(call, price) else price)
        searches = _share(call.usage.web_searches, search)
        if shares is None or searches is None:
            return None
        input_, output, read, write, hour = (share.scaleb(-6) * factor for share in shares)
        return PriceParts(input_, output, read, write + hour, searches)

    def rates(self, call: Call) -> "CallRates | None":
        """What holds for a request, looked up once for its day and terms; None where it has no known price."""
        day = call.time.date() if call.time else None
        key = (call.model, call.speed, call.tier, call.geo), day
        if key not in self._known:
            price = self._find(call.model, day)
            factor = self._factor(call, price) if price else None
            known = None if price is None or factor is None else (price, factor, self._sheet.web_search)
            self._known[key] = known
        return self._known[key]

    def cost(self, calls: Iterable[Call]) -> Cost:
        """What requests cost together; each call must be a single request, not a sum of several."""
        spend = Spend(self)
        for call in calls:
            spend.add(call)
        return spend.total()

    def total(self, calls: Iterable[BilledCall]) -> Cost:
        """What requests of a ledger cost together. Those of a day with the same terms are priced alike, as long as
        none of their prices is missing, and so are added up before they are priced."""
        spend, floor = Spend(self), False
        alike: defaultdict[tuple[CallTerms, int | None, bool], list[tuple[int, ...]]] = defaultdict(list)
        known: dict[tuple[CallTerms, int | None], ModelPrice | None] = {}
        for _, _, time, terms, figures, final in calls:
            floor = floor or not final
            day = terms, None if time is None else int(time // _DAY)
            if day not in known:
                known[day] = self._whole_price(priced_call(terms, time, Usage()))
            price = known[day]
            if price is None:
                spend.add(priced_call(terms, time, Usage(*figures)))
                continue
            long = price.above is not None and figures[0] + figures[2] + figures[3] > price.above.tokens
            sound = figures[4] <= figures[3]  # no more can live an hour than was written
            alike[*day, long].append(figures if sound else (*figures[:4], figures[3], *figures[5:]))
        for (terms, number, long), group in alike.items():
            input_, output, read, write, hour, searches, fetches, thought = map(sum, zip(*group, strict=True))
            used = Usage(input_, output, read, write, hour, searches, fetches, thought)
            spend.add_sum(priced_call(terms, None if number is None else number * _DAY, used), long=long)
        total = spend.total()
        return Cost(total.amount, total.unpriced, floor)

    def _whole_price(self, call: Call) -> ModelPrice | None:
        """The price that holds for such a call, where no part of it is missing."""
        found = self.rates(call)
        if found is None or found[2] is None or call.model == SYNTHETIC:
            return None
        price = found[0]
        rates = [price, *([price.above] if price.above is not None else [])]
        whole = all(None not in (one.input, one.output, one.read, one.write, one.write_1h) for one in rates)
        return price if whole else None

    def _find(self, model: str, day: date | None) -> ModelPrice | None:
        if model not in self._fitting:
            self._fitting[model] = self._sheet.fitting(model)
        return next((price for price in self._fitting[model] if price.covers(day)), None)

    def _factor(self, call: Call, price: ModelPrice) -> Decimal | None:
        """What speed, tier and place multiply the price of tokens by; None where one has no price."""
        factors = [
            price.fast if call.speed == "fast" else Decimal(1),
            self._sheet.batch if call.tier == "batch" else Decimal(1),
            self._sheet.geo.get(call.geo, Decimal(1)),
        ]
        known = [factor for factor in factors if factor is not None]
        return prod(known, start=Decimal(1)) if len(known) == len(factors) else None


class Spend:
    """Adds up what calls cost, each priced by itself."""

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        self._amount = _NOTHING
        self._unpriced: dict[str, int] = {}
        self._floor = False

    def add(self, call: Call) -> None:
        price = self._table.price_of(call)
        self._floor = self._floor or call.usage.floor
        if price is None:
            self._unpriced[call.model] = self._unpriced.get(call.model, 0) + 1
        else:
            self._amount += price

    def add_sum(self, call: Call, *, long: bool) -> None:
        """Add calls that are priced alike, by their sum; `long`: each at the rates of long prompts."""
        found = self._table.rates(call)
        amount = None if found is None else _amount(call, found, long=long)
        if amount is not None:
            self._amount += amount

    def total(self) -> Cost:
        """What has been spent so far."""
        return Cost(self._amount, tuple(sorted(self._unpriced.items())), self._floor)


def priced_call(terms: CallTerms, time: float | None, usage: Usage) -> Call:
    """A request as a price is looked up for it."""
    model, speed, tier, geo = terms
    moment = None if time is None else datetime.fromtimestamp(min(time, _LAST), UTC)
    return Call("", model, usage, moment, speed, tier, geo)


def _is_long(call: Call, price: ModelPrice) -> bool:
    """Whether the rates of long prompts hold for a request."""
    return price.above is not None and call.usage.context > price.above.tokens


def _amount(call: Call, found: CallRates, *, long: bool) -> Decimal | None:
    """What a request cost by its rates; None when any part of it has no known price."""
    price, factor, search = found
    millionths, searches = _NOTHING, _share(call.usage.web_searches, search)
    for count, rate in _counted(call.usage, price.above if long and price.above is not None else price):
        if count:
            if rate is None:
                return None
            millionths += count * rate
    return None if searches is None else millionths.scaleb(-6) * factor + searches


def _counted(usage: Usage, rates: Rates) -> tuple[tuple[int, Decimal | None], ...]:
    """Tokens with their rates: of input, output, cache read, cache write, and what lives an hour."""
    hour = min(usage.cache_write_1h, usage.cache_write)
    return (
        (usage.input, rates.input),
        (usage.output, rates.output),
        (usage.cache_read, rates.read),
        (usage.cache_write - hour, rates.write),
        (hour, rates.write_1h),
    )


def _shares(call: Call, rates: Rates) -> list[Decimal] | None:
    """Millionths of a dollar, of each that is counted."""
    shares = [_share(count, rate) for count, rate in _counted(call.usage, rates)]
    known = [share for share in shares if share is not None]
    return known if len(known) == len(shares) else None


def _share(count: int, rate: Decimal | None) -> Decimal | None:
    """None only where something without a price was used."""
    if not count:
        return _NOTHING
    return None if rate is None else count * rate


PICO = 10**12
"""Picodollars of a dollar."""
MOST = 2**63 - 1
"""What a database holds: nine million dollars, which no request costs."""

_Vector = tuple[int | None, ...]
_AllKnown = tuple[int, int, int, int, int]


class _Day(NamedTuple):
    """Picodollars a token: of input, output, cache read, cache write, and what lives an hour."""

    usual: _Vector
    above: int | None
    """Tokens sent, above which the others hold."""
    long: _Vector
    search: int | None


class Picodollars:
    """What requests cost in whole picodollars, many of them in little time.

    A price holds for all requests of a day with the same terms, so it is looked up once for these; what is left for
    each are a few products of whole numbers. The answer is that of `PriceTable.price_of`, to the last digit, but for
    figures that no request can have.
    """

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        self._days: dict[tuple[CallTerms, float | None], _Day | None] = {}

    def of(self, terms: CallTerms, time: float | None, figures: CallFigures) -> int | None:
        """What a request cost; None when any part of it has no known price, or its figures are beyond belief."""
        key = terms, None if time is None else time // _DAY
        try:
            day = self._days[key]
        except KeyError:
            day = self._days[key] = self._day(priced_call(terms, time, Usage()))
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
    input_, output, read, write, hour, searches, _, _ = figures
    sent = input_ + read + write
    rates = day.long if day.above is not None and sent > day.above else day.usual
    hour = min(hour, write)
    fee = day.search if searches else 0
    if fee is not None and None not in rates:
        of_input, of_output, of_read, of_write, of_hour = cast("_AllKnown", rates)
        sent_cost = input_ * of_input + read * of_read + (write - hour) * of_write + hour * of_hour
        return sent_cost + output * of_output + searches * fee
    counts, known = (input_, output, read, write - hour, hour, searches), (*rates, fee)
    total = 0
    for count, rate in zip(counts, known, strict=True):
        if count:
            if rate is None:
                return None
            total += count * rate
    return total
