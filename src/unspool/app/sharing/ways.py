"""The ways to share: what each makes of a prepared session, as one file."""

import io
import zipfile
from collections.abc import Callable, Iterable
from typing import NamedTuple

from unspool.app.desk import Desk
from unspool.errors import UsageProblem
from unspool.library.scratch import scratch
from unspool.share.bundle import bundled
from unspool.share.locked import write_locked
from unspool.share.pages import Pages
from unspool.share.prepare import Share
from unspool.share.sealing import Secret

_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a folder that is packed: the same share gives the same bytes."""
_PAGE, _ZIP, _TAR = "text/html; charset=utf-8", "application/zip", "application/gzip"


class File(NamedTuple):
    """What was made."""

    ending: str
    type: str
    data: bytes


class Way(NamedTuple):
    """A way to share; `sealed` makes the same so that only a secret opens it, where that can be."""

    name: str
    label: str
    about: str
    many: str
    """The same of several sessions."""
    make: Callable[[Share, Desk], File]
    sealed: Callable[[Share, Desk, Secret], File] | None = None


def way_of(name: str) -> Way:
    """The way of that name; UsageProblem where there is none."""
    for one in WAYS:
        if one.name == name:
            return one
    raise UsageProblem("A session is shared as html, site, bundle or gist.")


def made(way: Way, share: Share, desk: Desk, secret: Secret | None) -> File:
    """The file; UsageProblem where it is to be sealed and cannot be."""
    if secret is None:
        return way.make(share, desk)
    if way.sealed is None:
        raise UsageProblem("Only a page can be encrypted: make one HTML file, which holds all pages.")
    return way.sealed(share, desk, secret)


def _html(share: Share, desk: Desk) -> File:
    """One page a session: where there are several, packed."""
    with scratch() as folder:
        files = Pages(share, desk.options, desk.prices).write_file(folder / "session.html")
        if len(files) == 1:
            return File(".html", _PAGE, files[0].read_bytes())
        return File(".zip", _ZIP, _zipped((file.name, file.read_bytes()) for file in files))


def _locked(share: Share, desk: Desk, secret: Secret) -> File:
    with scratch() as folder:
        return File(".html", _PAGE, write_locked(share, desk.prices, folder / "session.html", secret).read_bytes())


def _site(share: Share, desk: Desk) -> File:
    return File(".zip", _ZIP, _zipped(Pages(share, desk.options, desk.prices).files()))


def _bundle(share: Share, _: Desk) -> File:
    return File(".tar.gz", _TAR, bundled(share))


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            packed.writestr(_member(name), data)
    return held.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


WAYS = (
    Way(
        "html",
        "One HTML file",
        "Needs nothing beside it: mail it, or put it anywhere.",
        "One a session, zipped; needs nothing beside it.",
        _html,
        _locked,
    ),
    Way(
        "site",
        "A folder of pages",
        "Zipped, for a web server; with search.",
        "All of them, zipped, for a web server; with search.",
        _site,
    ),
    Way(
        "bundle",
        "A bundle",
        "For “unspool import”, to go on elsewhere.",
        "For “unspool import”, to go on elsewhere, with the plan that it carries out.",
        _bundle,
    ),
)
