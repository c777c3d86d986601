"""A share as HTML: one file, a folder, or an encrypted page."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from unspool.errors import Exists
from unspool.figures import Figures, figures
from unspool.prices import PriceTable
from unspool.share import preview_image
from unspool.share.encryption import ShareSecret, encrypted_page, is_sealed
from unspool.share.prepare import PreparedShare, SharedSession
from unspool.site import assets
from unspool.site.address import INDEX
from unspool.site.build.disk import encode_html, swap_folder, write_if_changed
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, Preview
from unspool.site.session_pages import session_folder, session_pages

REPORT_FILE = "report.json"


def write_share_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write a share's folder in place of an earlier one; its first page. Exists where it holds something else."""
    if folder.exists() and not _ours(folder):
        raise Exists(f"{folder} holds something else than a share; nothing was written.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with swap_folder(folder) as part:
        for name, data in files:
            write_if_changed(part / name, data)
    return folder / INDEX


def _ours(folder: Path) -> bool:
    """Whether a folder is empty, or holds a share; one that is encrypted has one page and no report to be known by."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or (folder / REPORT_FILE).is_file() or (names == {INDEX} and is_sealed(folder / INDEX))


PICTURE, REPORT = "preview.svg", REPORT_FILE


class SharePages:
    """The pages of a share; `address` is where they will be found, if anybody knows."""

    def __init__(self, share: PreparedShare, options: SiteOptions, prices: PriceTable, address: str = "") -> None:
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
            write_if_changed(places[one.session.id], encode_html(page.html))
        return list(places.values())

    def write_folder(self, folder: Path) -> Path:
        """A folder in place of what an earlier share left there; Exists where it holds something else."""
        return write_share_folder(folder, self.files())

    def write_pages(self, folder: Path) -> list[Path]:
        """Only the pages of the session that is meant, each of which needs nothing beside it."""
        session = self._share.main.session
        counted = figures(session, self._prices)
        frame = Frame(prices=self._prices, preview=self._preview(self._share.main, counted))
        for page in session_pages(session, counted, self._options, frame):
            write_if_changed(folder / page.path, encode_html(page.html))
        return sorted(folder.iterdir())

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of every file of the folder."""
        yield from () if self._options.self_contained else assets.site_assets()
        yield REPORT, self._share.report.json()
        yield (
            PICTURE,
            preview_image.preview_image(self._share.main.session, figures(self._share.main.session, self._prices)),
        )
        main, *others = ((one, name and f"{name}/") for one, name in self._named())
        for one, inside in (*others, main):
            yield from self._session(one, inside)

    def _session(self, one: SharedSession, inside: str) -> Iterator[tuple[str, bytes]]:
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

    def _preview(self, one: SharedSession, counted: Figures, drawn: str = "") -> Preview:
        """What a page says of itself; a picture stands in the page where there is no file of it."""
        report, address = self._share.report, self._address
        if drawn and address:
            drawn = f"{address.rstrip('/')}/{PICTURE}"
        return Preview(
            preview_image.describe_session(counted),
            drawn or preview_image.image_data_url(preview_image.preview_image(one.session, counted)),
            address,
            f"shared: {report.note()}",
            report.json().decode(),
        )

    def _named(self, lead: str = "") -> Iterator[tuple[SharedSession, str]]:
        """Every session and what it is called beside the one that is meant, whose name is empty."""
        yield self._share.main, ""
        for word, others in (("before", self._share.before), ("after", self._share.after)):
            for number, one in enumerate(others, 1):
                yield one, f"{lead}{word}-{number}"


def encrypted_share(share: PreparedShare, prices: PriceTable, secret: ShareSecret) -> bytes:
    """The one page that holds all of it."""
    pages = SharePages(share, SiteOptions(self_contained=True), prices)
    return encrypted_page(dict(pages.files()), secret)


def write_encrypted(share: PreparedShare, prices: PriceTable, file: Path, secret: ShareSecret) -> Path:
    """Write the page, whole or not at all."""
    write_if_changed(file, encrypted_share(share, prices, secret))
    return file


def write_encrypted_folder(share: PreparedShare, prices: PriceTable, folder: Path, secret: ShareSecret) -> Path:
    """Write a folder in which the page is the first and the only one: how many are inside is nobody's business."""
    return write_share_folder(folder, [(INDEX, encrypted_share(share, prices, secret))])
