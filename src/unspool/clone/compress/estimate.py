"""What shortening would cost, before anything is sent."""

from datetime import datetime
from decimal import Decimal
from typing import Self

import msgspec

from unspool import human
from unspool.clone.compress.passage import Choice, Chosen
from unspool.clone.compress.request import asked
from unspool.figures.tokens import estimate
from unspool.model import Call, Usage
from unspool.prices import PriceTable

_FRAME = 10
"""Tokens of the JSON around an answer."""


class Estimate(msgspec.Struct, frozen=True):
    """Requests and their tokens where each succeeds at once and meets its target."""

    requests: int
    tokens_in: int
    tokens_out: int
    model: str
    cost: Decimal | None
    """US dollars; None where the model has no known price."""

    @classmethod
    def of(cls, choice: Choice, model: str, prices: PriceTable, now: datetime) -> Self:
        """What it would take to shorten these with a model at today's prices."""
        usages = [_usage(one) for one in choice.chosen]
        each = [prices.price_of(Call("", model, usage, now)) for usage in usages]
        known = [price for price in each if price is not None]
        cost = sum(known, Decimal(0)) if len(known) == len(each) else None
        return cls(len(usages), sum(one.input for one in usages), sum(one.output for one in usages), model, cost)

    def __str__(self) -> str:
        tokens = f"{human.tokens(self.tokens_in)} tokens in, {human.tokens(self.tokens_out)} out"
        return human.joined(human.count(self.requests, "request"), tokens, _money(self.cost))


def _usage(chosen: Chosen) -> Usage:
    ask = asked(chosen)
    return Usage(estimate(ask.system) + estimate(ask.content), chosen.target + _FRAME)


def _money(cost: Decimal | None) -> str:
    """About $4.12; about $0.003 where cents would say nothing."""
    if cost is None:
        return "cost unknown"
    if 0 < cost < Decimal("0.001"):
        return "less than $0.001"
    return f"about {human.money(cost)}"
