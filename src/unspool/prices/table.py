"""The price table: dated list prices, and how a user's own file changes them.

A user's file has the shape of `table.json`, with any part left out. Its entries for a model replace all the
built-in entries of that model; its other figures replace the built-in ones.
"""

import datetime as dt
from decimal import Decimal
from functools import cache
from pathlib import Path

import msgspec

from unspool.errors import Unreadable
from unspool.prices.names import names_model, plain_name


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens of each kind; None where no price is known."""

    input: Decimal
    output: Decimal
    write: Decimal | None = None
    write_1h: Decimal | None = None
    read: Decimal | None = None


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every token of a request costs when its prompt has more tokens than this."""

    tokens: int


class Price(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of one model over a span of days: `since` is its first day, `until` the day after its last."""

    model: str
    above: LongRates | None = None
    fast: Decimal | None = None
    """What fast mode multiplies by; None where it has no price."""
    since: dt.date | None = msgspec.field(name="from", default=None)
    until: dt.date | None = None
    note: str = ""

    def covers(self, day: dt.date | None) -> bool:
        """True when this was the price that day; without a day, when it is the price now."""
        if day is None:
            return self.until is None
        return (self.since is None or self.since <= day) and (self.until is None or day < self.until)


class Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A price file as it is read."""

    date: str = ""
    source: str = ""
    web_search: Decimal | None = None
    batch: Decimal | None = None
    geo: dict[str, Decimal] = {}
    models: tuple[Price, ...] = ()

    def under(self, other: "Sheet") -> "Sheet":
        """This sheet with another laid over it."""
        named = {plain_name(price.model) for price in other.models}
        kept = tuple(price for price in self.models if plain_name(price.model) not in named)
        return Sheet(
            date=other.date or self.date,
            source=other.source or self.source,
            web_search=self.web_search if other.web_search is None else other.web_search,
            batch=self.batch if other.batch is None else other.batch,
            geo={**self.geo, **other.geo},
            models=kept + other.models,
        )

    def fitting(self, model: str) -> tuple[Price, ...]:
        """The prices of a model, whatever the day: those under the longest name that fits."""
        name = plain_name(model)
        fits = [price for price in self.models if names_model(plain_name(price.model), name)]
        longest = max((len(plain_name(price.model)) for price in fits), default=0)
        return tuple(price for price in fits if len(plain_name(price.model)) == longest)


def read_sheet(path: Path) -> Sheet:
    """A price file; one that cannot be read or has another shape is an `Unreadable`."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sheet)
    except OSError as problem:
        raise Unreadable(f"The price file {path} cannot be read: {problem.strerror}.") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Unreadable(f"The price file {path} is not a price table: {problem}.") from problem


@cache
def builtin_sheet() -> Sheet:
    """The prices that come with unspool."""
    return read_sheet(Path(__file__).with_name("table.json"))
