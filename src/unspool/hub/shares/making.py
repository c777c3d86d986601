"""What is made of a bundle that somebody sent, in a process of its own.

Everything made lies in a folder that the caller named, packed as it will be kept.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath

import msgspec

from unspool.export.sessionshare import SessionShare
from unspool.figures import figures
from unspool.hub.policy import Policy
from unspool.hub.shares.pages import SharePages
from unspool.hub.shares.reading import share_of
from unspool.hub.shares.share import BUNDLE, DOCUMENT, Facts
from unspool.hub.store.packing import packed
from unspool.prices import PriceTable
from unspool.share import picture
from unspool.share.prepare import Share
from unspool.site.build.fingerprint import fingerprint
from unspool.transcript import View

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".gz": "application/gzip",
}
_CHUNK = 1024 * 1024
_TITLE = 300
"""Letters of a title in lists."""


class Job(msgspec.Struct, frozen=True):
    """What is to be made."""

    bundle: Path
    folder: Path
    """Where what is made lies."""
    url: str = ""
    """Where the share will be found, with a slash at its end; empty where the hub does not know its name."""
    title: str = ""
    raw: bool = False
    policy: Policy | None = None
    """What is kept out; None where nothing is."""


class Piece(msgspec.Struct, frozen=True):
    """A file that was made: packed, proved, ready to be kept."""

    name: str
    path: Path
    digest: str
    size: int
    encoding: str
    kind: str


class Made(msgspec.Struct, frozen=True):
    """A share, made."""

    title: str
    facts: Facts
    pieces: list[Piece]

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(piece.path.stat().st_size for piece in self.pieces)


def make(job: Job) -> Made:
    """All of a share; HubError says why there is none."""
    job.folder.mkdir()
    with share_of(job.bundle, job.title, job.policy) as share:
        prices, session = PriceTable.load(), share.main.session
        counted = figures(session, prices)
        began = session.started.isoformat() if session.started else ""
        facts = Facts(
            picture.described(counted), session.agent, session.id, began, counted.turns,
            own_title=bool(job.title), made=made_by(job.url),
        )  # fmt: skip
        files = _files(SharePages(share, prices, job.url, raw=job.raw), share)
        pieces = [_piece(job, number, name, data) for number, (name, data) in enumerate(files)]
        return Made(" ".join(session.title.split())[:_TITLE], facts, [*pieces, _sent(job)])


def made_by(url: str) -> str:
    """What pages are made by; another one whenever they may come out differently."""
    return f"{fingerprint()} {url}"


def _files(pages: SharePages, share: Share) -> Iterator[tuple[str, bytes]]:
    yield from pages.files()
    yield DOCUMENT, b"".join(SessionShare().chunks(share.main.session, View()))


def _piece(job: Job, number: int, name: str, data: bytes) -> Piece:
    path = job.folder / str(number)
    path.write_bytes(packed(data, "gzip"))
    kind = KINDS.get(PurePosixPath(name).suffix, "application/octet-stream")
    return Piece(name, path, sha256(data).hexdigest(), len(data), "gzip", kind)


def _sent(job: Job) -> Piece:
    """The bundle as it came."""
    digest = sha256()
    with job.bundle.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return Piece(BUNDLE, job.bundle, digest.hexdigest(), job.bundle.stat().st_size, "", KINDS[".gz"])
