"""Figures as the dashboard writes them: short to read, exact where one points, marked where they are lower bounds."""

from unspool import human
from unspool.index.sums import Sum


def tokens(total: Sum) -> str:
    """Tokens of every kind; with ≥ where some were never told."""
    return ("≥" if total.open else "") + human.tokens(total.total)


def share(part: float | None) -> str:
    """92.4 %; empty where there is no whole."""
    return "" if part is None else f"{part:.1%}".replace("%", " %")
