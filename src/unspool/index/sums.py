"""What billed requests add up to. Money is whole picodollars, so that no sum is rounded."""

from collections.abc import Iterable, Mapping, Sequence
from operator import add

import msgspec

from unspool.index.schema import PICO


class Sum(msgspec.Struct, frozen=True):
    """Figures of any number of requests, each counted once."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that lives an hour."""
    web_searches: int = 0
    web_fetches: int = 0
    cost: int = 0
    """Picodollars of the requests that have a price."""
    unpriced: int = 0
    """Requests whose price is not known."""
    open: int = 0
    """Requests whose log never held the final figure, so that their output is a lower bound."""

    @property
    def total(self) -> int:
        """Tokens of every kind."""
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def floor(self) -> bool:
        """True where the cost is a lower bound."""
        return bool(self.unpriced or self.open)

    @property
    def cached(self) -> float | None:
        """How much of what was sent came from the cache; None where nothing was sent."""
        sent = self.input + self.cache_read + self.cache_write
        return self.cache_read / sent if sent else None


class ModelSum(msgspec.Struct, frozen=True):
    """What one model did."""

    model: str
    sum: Sum


COLUMNS = (
    "COUNT(*), SUM(input), SUM(output), SUM(cache_read), SUM(cache_write), SUM(cache_write_1h), "
    "SUM(web_searches), SUM(web_fetches), COALESCE(SUM(cost), 0), SUM(cost IS NULL), SUM(NOT final)"
)
"""The fields of a Sum, of table `request`, in order."""
WIDTH = len(Sum.__struct_fields__)


class Adding:
    """Sums by model, as figures come in."""

    def __init__(self) -> None:
        self._models: dict[str, list[int]] = {}

    def add(self, model: str, figures: Sequence[int]) -> None:
        before = self._models.get(model)
        self._models[model] = list(figures) if before is None else list(map(add, before, figures))

    def models(self) -> tuple[ModelSum, ...]:
        """Each model, the dearest first."""
        sums = [ModelSum(model, Sum(*figures)) for model, figures in self._models.items()]
        return tuple(sorted(sums, key=lambda one: (-one.sum.cost, -one.sum.total, one.model)))

    def sum(self) -> Sum:
        return together(ModelSum(model, Sum(*figures)) for model, figures in self._models.items())


def together(models: Iterable[ModelSum]) -> Sum:
    """All models as one."""
    figures = [0] * WIDTH
    for one in models:
        figures = list(map(add, figures, msgspec.structs.astuple(one.sum)))
    return Sum(*figures)


def unpriced(models: Iterable[ModelSum]) -> Mapping[str, int]:
    """Models with requests that have no known price, with the number of these."""
    return {one.model: one.sum.unpriced for one in models if one.sum.unpriced}


def dollars(cost: int) -> str:
    """Picodollars as dollars, every digit of them: 4.12, 0.000003."""
    whole, part = divmod(cost, PICO)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")
