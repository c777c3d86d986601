"""What the review offers besides choices: its chain, its seals, the ways to make it."""

from collections.abc import Sequence
from typing import NamedTuple

from unspool.app.sharing import decide, gists, habits, seals, wish
from unspool.app.sharing.ways import WAYS, Way
from unspool.model import Session
from unspool.share.sealing import SHORTEST
from unspool.site.brief import flat

_CHAIN = frozenset({"source", "follow-up"})


class Offer(NamedTuple):
    """What there is to choose from, and what was chosen last."""

    chain: Sequence[str]
    """The sessions next to it, by their titles; none where it stands alone."""
    seals: dict[seals.Seal, str]
    seal: seals.Seal
    ways: Sequence[Way]
    gist: bool
    """Whether a gist can be made here."""
    shortest: int
    """Characters of a passphrase at least."""
    title: int
    """Characters of a title at most."""
    term: int
    """Characters of a term at most."""


def offer(session: Session) -> Offer:
    """What is offered for a session."""
    near = [flat(one.title or one.prompt, 80) or one.session for one in session.links if one.relation in _CHAIN]
    return Offer(
        near, seals.LABELS, habits.habit(session.cwd).seal, WAYS, gists.there(), SHORTEST, wish.LONGEST, decide.LONGEST
    )
