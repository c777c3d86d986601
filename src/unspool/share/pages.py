"""A share as pages: one HTML file that needs nothing beside it, or a folder."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.figures import Figures, figures
from unspool.prices import PriceTable
from unspool.share import picture, place
from unspool.share.prepare import Share, Shared
from unspool.site import look
from unspool.site.address import INDEX
from unspool.site.build.disk import encoded, replace
from unspool.site.build.one import session_folder
from unspool.site.frame import Frame, Preview
from unspool.site.options import SiteOptions
from unspool.site.pages import session_pages

PICTURE, REPORT = "preview.svg", place.REPORT


class Pages:
    """The pages of a share; `address` is where they will be found, if anybody knows."""

    def __init__(self, share: Share, options: SiteOptions, prices: PriceTable, address: str = "") -> None:
        self._share, self._options, self._prices = share, options, prices
        self._address = address

    def write_file(self, file: Path) -> list[Path]:
        """One file a session: the one that is meant, and beside it those around it in its chain."""
        places = {one.session.id: file.with_name(f"{file.stem}{name}{file.suffix}") for one, name in self._named("-")}
        names = {session: path.name for session, path in places.items()}
        options = msgspec.structs.replace(self._options, single_page=True, self_contained=True)
        for one in self._share.all:
            counted = figures(one.session, self._prices)
            frame = Frame(sessions=names, prices=self._prices, preview=self._preview(one, counted))
            (page,) = session_pages(one.session, counted, options, frame)
            replace(places[one.session.id], encoded(page.html))
        return list(places.values())

    def write_folder(self, folder: Path) -> Path:
        """A folder in place of what an earlier share left there; Exists where it holds something else."""
        return place.put(folder, self.files())

    def write_pages(self, folder: Path) -> list[Path]:
        """Only the pages of the session that is meant, each of which needs nothing beside it."""
        session = self._share.main.session
        counted = figures(session, self._prices)
        frame = Frame(prices=self._prices, preview=self._preview(self._share.main, counted))
        for page in session_pages(session, counted, self._options, frame):
            replace(folder / page.path, encoded(page.html))
        return sorted(folder.iterdir())

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of every file of the folder."""
        yield from () if self._options.self_contained else look.assets()
        yield REPORT, self._share.report.json()
        yield PICTURE, picture.picture(self._share.main.session, figures(self._share.main.session, self._prices))
        main, *others = ((one, name and f"{name}/") for one, name in self._named())
        for one, inside in (*others, main):
            yield from self._session(one, inside)

    def _session(self, one: Shared, inside: str) -> Iterator[tuple[str, bytes]]:
        addresses = {other.session.id: f"{name and f'{name}/'}{INDEX}" for other, name in self._named()}
        counted = figures(one.session, self._prices)
        frame = Frame(
            root="../" if inside else "",
            sessions=addresses,
            prices=self._prices,
            preview=self._preview(one, counted, f"{'../' if inside else ''}{PICTURE}"),
        )
        for name, data in session_folder(one.session, counted, self._options, frame):
            yield inside + name, data

    def _preview(self, one: Shared, counted: Figures, drawn: str = "") -> Preview:
        """What a page says of itself; a picture stands in the page where there is no file of it."""
        report, address = self._share.report, self._address
        if drawn and address:
            drawn = f"{address.rstrip('/')}/{PICTURE}"
        return Preview(
            picture.described(counted),
            drawn or picture.inside(picture.picture(one.session, counted)),
            address,
            f"shared: {report.note()}",
            report.json().decode(),
        )

    def _named(self, lead: str = "") -> Iterator[tuple[Shared, str]]:
        """Every session and what it is called beside the one that is meant, whose name is empty."""
        yield self._share.main, ""
        for word, others in (("before", self._share.before), ("after", self._share.after)):
            for number, one in enumerate(others, 1):
                yield one, f"{lead}{word}-{number}"
