"""A session that is being read, with what all its pages need."""

import copy

from unspool.figures import Figures, family, figures
from unspool.formats import Found
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import Addresses
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.site.scene import Scene


class Reading:
    """A session with what all its pages need; `part` is said of one whose log was read only at its beginning."""

    def __init__(self, found: Found, session: Session, prices: PriceTable, *, part: bool = False) -> None:
        self.found, self.session, self.part = found, session, part
        self.counted: Figures = figures(session, prices)
        self.size = sum(member.log.size for member in family(session))
        self._prices = prices
        self._scenes: dict[tuple[SiteOptions, str], Scene] = {}

    def scene(self, options: SiteOptions, frame: Frame | None = None, base: str = "") -> Scene:
        """The session ready to be told in a frame; all that no frame changes is made once.

        `base` leads to its folder, for whoever tells it elsewhere.
        """
        scene = copy.copy(self._scene(options, base))
        scene.frame = frame or scene.frame
        return scene

    def addresses(self, options: SiteOptions) -> Addresses:
        """Where everything in the session is told."""
        return self._scene(options).addresses

    def _scene(self, options: SiteOptions, base: str = "") -> Scene:
        if (options, base) not in self._scenes:
            frame, addresses = Frame("/", prices=self._prices), Addresses(self.session, options, base)
            made = Scene(self.session, self.counted, options, frame, addresses)
            same = {name: one for name, one in self._scenes.items() if name[0] == options}
            self._scenes = {**same, (options, base): made}
        return self._scenes[options, base]
