"""Figures as the dashboard writes them: short to read, exact where one points, marked where they are lower bounds."""

from unspool import human
from unspool.export.html.escape import visible
from unspool.index.schema import PICO
from unspool.index.stats import Told
from unspool.index.sums import ModelSum, Sum, unpriced


def money(cost: int, *, floor: bool = False) -> str:
    """Picodollars as $4.12, as $0.003 where cents would say nothing; with ≥ where it is a lower bound."""
    amount = cost / PICO
    text = f"${amount:,.3f}" if 0 < amount < 0.1 else f"${amount:,.2f}"
    return f"≥{text}" if floor else text


def spent(total: Sum) -> str:
    """What it cost; ? where no price is known."""
    if total.requests and total.unpriced == total.requests:
        return "?"
    return money(total.cost, floor=total.floor)


def told_cost(told: Told) -> str:
    """What a whole session cost."""
    if told.unpriced and not told.cost:
        return "?"
    return money(told.cost, floor=bool(told.open or told.unpriced))


def tokens(total: Sum) -> str:
    """Tokens of every kind; with ≥ where some were never told."""
    return ("≥" if total.open else "") + human.tokens(total.total)


def share(part: float | None) -> str:
    """92.4 %; empty where there is no whole."""
    return "" if part is None else f"{part:.1%}".replace("%", " %")


def notes(total: Sum, models: tuple[ModelSum, ...], untimed: int) -> list[str]:
    """What the figures leave open, in sentences."""
    said = []
    missing = unpriced(models)
    if missing:
        named = ", ".join(
            f"{visible(name) or 'unknown model'} ({human.count(n, 'request')})" for name, n in missing.items()
        )
        said.append(f"No price is known for {named}.")
    if total.open:
        said.append(f"≥: {human.count(total.open, 'request')} never had final figures in the log.")
    if untimed:
        said.append(f"{human.count(untimed, 'request')} without a time left out.")
    return said
