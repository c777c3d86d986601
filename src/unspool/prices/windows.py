"""What is known of models besides their prices: how many tokens their windows hold, and how dense their tokens are."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.prices.table import names_model, plain_name

_LARGER = "[1m]"
"""How a name asks for the larger window."""


class _Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `windows.json`."""

    model: str
    window: int
    larger: int = 0
    """The window that has to be asked for."""
    density: float = 1.0
    """Tokens of a text in parts of those that the newest models make of it."""


class ModelWindow(NamedTuple):
    """What the table knows of one model."""

    window: int
    larger: int = 0
    density: float = 1.0


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


@cache
def _known(model: str) -> ModelWindow | None:
    name = plain_name(model)
    fits = [row for row in _rows() if names_model(plain_name(row.model), name)]
    row = max(fits, key=lambda one: len(one.model), default=None)
    return None if row is None else ModelWindow(row.window, row.larger, row.density)


@cache
def _rows() -> tuple[_Model, ...]:
    return msgspec.json.decode(Path(__file__).with_name("windows.json").read_bytes(), type=tuple[_Model, ...])
