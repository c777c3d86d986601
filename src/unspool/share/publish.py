"""The pages of a share, and where they are published."""

import gzip
import io
import tarfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from unspool.errors import Exists, UnspoolError
from unspool.figures import Figures, figures
from unspool.files import scratch_folder, write_atomically
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.share.encryption import ShareSecret, encrypted_page, is_sealed
from unspool.share.prepare import PreparedShare, SharedSession
from unspool.site import page_template
from unspool.site.address import INDEX
from unspool.site.build import disk
from unspool.site.build.disk import Gist, encode_html, swap_folder, write_if_changed
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, Preview
from unspool.site.png import to_png
from unspool.site.story_card import describe_session, image_data_url, story_card, view_for_card
from unspool.site.turn_pages import session_folder, session_pages

PICTURE, PICTURE_PNG, REPORT = "preview.svg", "preview.png", "report.json"


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
    return not names or (folder / REPORT).is_file() or (names == {INDEX} and is_sealed(folder / INDEX))


class SharePages:
    """The pages of a share; `address` is where they will be found, if anybody knows."""

    def __init__(self, share: PreparedShare, options: SiteOptions, prices: PriceTable, address: str = "") -> None:
        self.share, self.options, self._prices, self._address = share, options, prices, address

    @cached_property
    def _card(self) -> tuple[bytes, bytes | None]:
        """The story of the session that is meant as a picture, and as PNG where something can draw that: most programs
        that show a link show no SVG."""
        drawn = story_card(view_for_card(self.share.main.session, self._prices))
        return drawn, to_png(drawn)

    def write_file(self, file: Path) -> list[Path]:
        """One file a session: the one that is meant, and beside it those around it in its chain."""
        places = {one.session.id: file.with_name(f"{file.stem}{name}{file.suffix}") for one, name in self._named("-")}
        names = {session: path.name for session, path in places.items()}
        options = replace(self.options, single_page=True, self_contained=True)
        for one in self.share.all:
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
        session = self.share.main.session
        counted = figures(session, self._prices)
        frame = Frame(prices=self._prices, preview=self._preview(self.share.main, counted))
        for page in session_pages(session, counted, self.options, frame):
            write_if_changed(folder / page.path, encode_html(page.html))
        return sorted(folder.iterdir())

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of every file of the folder."""
        yield from () if self.options.self_contained else page_template.site_assets()
        yield REPORT, self.share.report.json()
        yield from self.content()

    def content(self) -> Iterator[tuple[str, bytes]]:
        """The pictures and the pages of every session, the one that is meant last."""
        drawn, png = self._card
        yield PICTURE, drawn
        if png is not None:
            yield PICTURE_PNG, png
        main, *others = self._named()
        for one, name in (*others, main):
            inside, counted = name and f"{name}/", figures(one.session, self._prices)
            for path, data in session_folder(one.session, counted, self.options, self.frame(one, counted, inside)):
                yield inside + path, data

    def frame(self, one: SharedSession, counted: Figures, inside: str) -> Frame:
        """Where the pages of a session lie that are `inside` a folder of the share, or not."""
        root = "../" if inside else ""
        addresses = {other.session.id: f"{name and f'{name}/'}{INDEX}" for other, name in self._named()}
        return Frame(root, sessions=addresses, prices=self._prices, preview=self._preview(one, counted, root))

    def _preview(self, one: SharedSession, counted: Figures, root: str | None = None) -> Preview:
        """What a page says of itself; a picture stands in the page where no folder has a file of it."""
        report, address = self.share.report, self._address
        if root is None:
            picture = image_data_url(story_card(view_for_card(one.session, self._prices)))
        else:
            name = PICTURE if self._card[1] is None else PICTURE_PNG
            picture = f"{address.rstrip('/')}/{name}" if address else root + name
        return Preview(
            describe_session(counted),
            picture,
            address,
            f"shared: {report.note()}",
            report.json().decode(),
        )

    def _named(self, lead: str = "") -> Iterator[tuple[SharedSession, str]]:
        """Every session and what it is called beside the one that is meant, whose name is empty."""
        yield self.share.main, ""
        for word, others in (("before", self.share.before), ("after", self.share.after)):
            for number, one in enumerate(others, 1):
                yield one, f"{lead}{word}-{number}"


def write_encrypted(
    share: PreparedShare, prices: PriceTable, place: Path, secret: ShareSecret, *, folder: bool = False
) -> Path:
    """Write the one page that holds all of it; in a `folder` it is the only one: how many are inside is not told."""
    pages = SharePages(share, SiteOptions(self_contained=True), prices)
    page = encrypted_page(dict(pages.files()), secret)
    if folder:
        return write_share_folder(place, [(INDEX, page)])
    write_if_changed(place, page)
    return place


_LOG, _PLANNING, _META = "session.jsonl", "source-session.jsonl", "metadata.txt"
_CHAIN = "chain"
"""Where the other sessions of a chain are; session-share looks at the top alone."""


def make_bundle(share: PreparedShare) -> bytes:
    """The bundle of a share: a gzipped tar."""
    held = io.BytesIO()
    when = int(share.main.session.ended.timestamp()) if share.main.session.ended is not None else 0
    with (
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=held, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in bundle_members(share):
            archive.addfile(_member(name, len(data), max(0, when)), io.BytesIO(data))
    return held.getvalue()


def write_bundle(share: PreparedShare, path: Path) -> Path:
    """Write the bundle, whole or not at all."""
    write_atomically(path, [make_bundle(share)])
    return path


def bundle_members(share: PreparedShare) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of the bundle."""
    yield _META, _metadata(share.main.session).encode()
    yield REPORT, share.report.json()
    yield _LOG, share.main.log.read_bytes()
    yield from _beside(share.main, "")
    for one in (*share.before, *share.after):
        name = one.log.stem
        yield _PLANNING if one is share.planning else f"{_CHAIN}/{name}.jsonl", one.log.read_bytes()
        yield from _beside(one, f"{_CHAIN}/{name}/")


def _beside(one: SharedSession, place: str) -> Iterator[tuple[str, bytes]]:
    """What goes along with a log."""
    home = one.log.with_suffix("")
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        yield place + path.relative_to(home).as_posix(), path.read_bytes()


def _metadata(session: Session) -> str:
    """What the bundle is of, a line each; the time is the session's own."""
    pairs = {
        "BUNDLE_VERSION": "1",
        "SESSION_ID": session.id,
        "AGENT": "CC",
        "AGENT_VERSION": session.versions[-1] if session.versions else "",
        "GENERATED_AT": session.ended.strftime("%Y-%m-%dT%H:%M:%SZ") if session.ended is not None else "",
        "GIT_REMOTE": session.remote,
    }
    return "".join(f"{name}={' '.join(value.split())}\n" for name, value in pairs.items())


def _member(name: str, size: int, when: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, when, 0o644
    return info


def publish_share_gist(share: PreparedShare, options: SiteOptions, prices: PriceTable, *, public: bool) -> Gist:
    """Publish the session that is meant; secret unless it is to be public."""
    with scratch_folder() as folder:
        one = replace(options, self_contained=True, single_page=True)
        files = SharePages(share, one, prices).write_pages(folder / "one")
        if disk.fits(files) and not options.single_page:
            files = SharePages(share, replace(one, single_page=False), prices).write_pages(folder / "several")
        if unfit := disk.fits(files):
            left = "--no-tools and --no-images of `unspool share` make it smaller."
            raise UnspoolError(f"This session is too large for a gist. {unfit} {left}")
        return disk.publish(files, share.main.session.title[:200], public=public)
