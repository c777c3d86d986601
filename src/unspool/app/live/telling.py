"""Turns of a session as its pages tell them, each by itself."""

from hashlib import blake2b

import msgspec

from unspool.model import Turn
from unspool.site import brief
from unspool.site.scene import Scene
from unspool.site.turns import Narrator


class Told(msgspec.Struct, frozen=True):
    """A turn as markup, and its line in the rail."""

    number: int
    html: str
    words: str

    @property
    def digest(self) -> str:
        """Another one whenever the turn is told otherwise."""
        return blake2b(self.html.encode(errors="replace"), digest_size=12).hexdigest()


def tell(scene: Scene, first: int) -> list[Told]:
    """The turns from a number on, each as its own page tells it."""
    found = []
    for leaf in scene.addresses.live.leaves:
        if leaf.turns and leaf.turns[-1].number >= first:
            found += _leaf(leaf.turns, Narrator(scene))
    return [one for one in found if one.number >= first]


def _leaf(turns: tuple[Turn, ...], narrator: Narrator) -> list[Told]:
    return [Told(turn.number, narrator.turn(turn), brief.line(turn.prompt)) for turn in turns]
