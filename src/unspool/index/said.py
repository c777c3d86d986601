"""Money and what figures leave open, as people read it on every screen: marked where it is a lower bound."""

from collections.abc import Callable

from unspool import human
from unspool.index.schema import PICO
from unspool.index.sums import ModelSum, Sum, unpriced


def money(cost: int, *, floor: bool = False) -> str:
    """Picodollars as $4.12, as $0.003 where cents would say nothing; with ≥ where it is a lower bound."""
    return human.money(cost / PICO, floor=floor)


def spent(total: Sum) -> str:
    """What requests cost; ? where no price is known."""
    if total.requests and total.unpriced == total.requests:
        return "?"
    return money(total.cost, floor=total.floor)


def priced(cost: int, *, unpriced: int, open: int = 0) -> str:  # noqa: A002  the word of the tables
    """What something cost of which some has no price, or no final figure; ? where nothing has a price."""
    return "?" if unpriced and not cost else money(cost, floor=bool(open or unpriced))


def notes(total: Sum, models: tuple[ModelSum, ...], untimed: int, shown: Callable[[str], str]) -> list[str]:
    """What the figures leave open, in sentences; `shown` makes the name of a model fit for the screen."""
    said = []
    missing = unpriced(models)
    if missing:
        named = (f"{shown(name) or 'unknown model'} ({human.count(n, 'request')})" for name, n in missing.items())
        said.append(f"No known price: {', '.join(named)}.")
    if total.open:
        said.append(f"≥: {human.count(total.open, 'request')} never had final figures in the log.")
    if untimed:
        said.append(f"{human.count(untimed, 'request')} without a time left out.")
    return said
