"""The price table: dated list prices by model name, and how a user's own file changes them."""

import datetime as dt
import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import msgspec

from unspool.errors import Unreadable

_TAIL = re.compile(r"(?:\[[^\]]*\]|@[^/]*|-\d{8}|-20\d\d-\d\d-\d\d|-v\d+(?::\d+)?)$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")


def plain_name(model: str) -> str:
    """The bare name: no provider, region, date, revision or window size, dashes for dots."""
    name = model.strip().lower()
    name = name.rpartition("/")[2].rpartition("anthropic.")[2]
    while (shorter := _TAIL.sub("", name)) != name:
        name = shorter
    return _DOTTED.sub("-", name)


def names_model(prefix: str, name: str) -> bool:
    """True when the name is that model or a variant of it; a further version number is another model."""
    if not name.startswith(prefix):
        return False
    rest = name[len(prefix) :]
    return not rest or (rest.startswith("-") and not rest[1:2].isdigit())


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


class ModelPrice(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class PriceSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A price file as it is read."""

    date: str = ""
    source: str = ""
    web_search: Decimal | None = None
    batch: Decimal | None = None
    geo: dict[str, Decimal] = {}
    models: tuple[ModelPrice, ...] = ()

    def under(self, other: "PriceSheet") -> "PriceSheet":
        """This sheet with another laid over it."""
        named = {plain_name(price.model) for price in other.models}
        kept = tuple(price for price in self.models if plain_name(price.model) not in named)
        return PriceSheet(
            date=other.date or self.date,
            source=other.source or self.source,
            web_search=self.web_search if other.web_search is None else other.web_search,
            batch=self.batch if other.batch is None else other.batch,
            geo={**self.geo, **other.geo},
            models=kept + other.models,
        )

    def fitting(self, model: str) -> tuple[ModelPrice, ...]:
        """The prices of a model, whatever the day: those under the longest name that fits."""
        name = plain_name(model)
        fits = [price for price in self.models if names_model(plain_name(price.model), name)]
        longest = max((len(plain_name(price.model)) for price in fits), default=0)
        return tuple(price for price in fits if len(plain_name(price.model)) == longest)


def read_sheet(path: Path) -> PriceSheet:
    """A price file; one that cannot be read or has another shape is an `Unreadable`."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=PriceSheet)
    except OSError as problem:
        raise Unreadable(f"The price file {path} cannot be read: {problem.strerror}.") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Unreadable(f"The price file {path} is not a price table: {problem}.") from problem


@cache
def builtin_sheet() -> PriceSheet:
    """The prices that come with unspool: those of Anthropic's models, kept by hand, and those of others, which
    `bench/prices.py` makes."""
    here = Path(__file__)
    return read_sheet(here.with_name("others.json")).under(read_sheet(here.with_name("table.json")))


_LARGER = "[1m]"
"""How a name asks for the larger window."""


class _Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: str
    window: int
    larger: int = 0
    """The window that has to be asked for."""
    density: float = 1.0
    """Tokens of a text in parts of those that the newest models make of it."""


def window_size(model: str, sent: int = 0) -> int | None:
    """Tokens that a model's window holds; None where that is not known, or where more were sent than it can be.

    The larger window of a model that has two is what a name asks for, or what a request of that many tokens shows.
    """
    known = _known(model)
    if known is None:
        return None
    asked = bool(known.larger) and (_LARGER in model.lower() or sent > known.window)
    found = known.larger if asked else known.window
    return found if sent <= found else None


def token_density(model: str) -> float:
    """Tokens that a model makes of a text, in parts of those that the newest make; 1 where it is not known."""
    known = _known(model)
    return 1.0 if known is None else known.density


def model_provider(model: str) -> str:
    """Who offers a model, as OpenTelemetry calls providers; empty where its name does not tell."""
    return _providers().get(plain_name(model).partition("-")[0], "")


@cache
def _providers() -> dict[str, str]:
    return msgspec.json.decode(Path(__file__).with_name("providers.json").read_bytes(), type=dict[str, str])


@cache
def _known(model: str) -> _Model | None:
    name = plain_name(model)
    fits = [row for row in _rows() if names_model(plain_name(row.model), name)]
    return max(fits, key=lambda one: len(one.model), default=None)


@cache
def _rows() -> tuple[_Model, ...]:
    files = (Path(__file__).with_name(name) for name in ("windows.json", "other_windows.json"))
    return tuple(row for file in files for row in msgspec.json.decode(file.read_bytes(), type=tuple[_Model, ...]))
