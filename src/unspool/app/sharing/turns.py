"""The turns of a session, each of which can be left out."""

from typing import NamedTuple

from unspool.app.reading.told import Reading
from unspool.app.sharing.decide import turns_out
from unspool.share.choices import Choices
from unspool.site.brief import flat
from unspool.site.options import SiteOptions


class Row(NamedTuple):
    """A turn that can be left out."""

    number: int
    words: str
    href: str
    out: bool


def rows(told: Reading, choices: Choices, options: SiteOptions) -> list[Row]:
    """Every turn that was asked for, on the branch that is shared."""
    out, addresses = turns_out(choices), told.addresses(options)
    return [
        Row(
            turn.number,
            flat(turn.prompt.text or turn.prompt.command, 200),
            addresses.turn(turn.number),
            turn.number in out,
        )
        for turn in told.session.turns
        if turn.prompt is not None
    ]


def summed(turns: list[Row]) -> str:
    """How many are left out, in a sentence."""
    out = sum(row.out for row in turns)
    return f"{out} of {len(turns)} left out." if out else "All of them are shared."
