"""A session as it was found at one look, ready to be told."""

from typing import NamedTuple

from unspool.app.reading.extras import mark
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.site.scene import Scene


class Look(NamedTuple):
    """A session, and how far it had come."""

    scene: Scene
    mark: str


def looked(session: Session, prices: PriceTable, options: SiteOptions, skipped: int) -> Look:
    """A look at a session; `skipped` are bytes of its logs that were not read again."""
    scene = Scene(session, figures(session, prices), options, Frame("/", prices=prices))
    return Look(scene, mark(session, skipped))
