"""A share to send: as a gist, or as the bundle that session-share's service takes and `unspool import` reads."""

import gzip
import io
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from unspool.errors import UnspoolError
from unspool.files import scratch_folder, write_atomically
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.share.pages import SharePages
from unspool.share.prepare import PreparedShare, SharedSession
from unspool.site.build import gist
from unspool.site.build.gist import Gist
from unspool.site.options import SiteOptions

_LOG, _PLANNING, _META, _REPORT = "session.jsonl", "source-session.jsonl", "metadata.txt", "report.json"
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
    yield _REPORT, share.report.json()
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
        "GENERATED_AT": _clock(session.ended),
        "GIT_REMOTE": "",
    }
    return "".join(f"{name}={' '.join(value.split())}\n" for name, value in pairs.items())


def _clock(time: datetime | None) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time is not None else ""


def _member(name: str, size: int, when: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, when, 0o644
    return info


def publish_share_gist(share: PreparedShare, options: SiteOptions, prices: PriceTable, *, public: bool) -> Gist:
    """Publish the session that is meant; secret unless it is to be public."""
    with scratch_folder() as folder:
        one = replace(options, self_contained=True, single_page=True)
        files = SharePages(share, one, prices).write_pages(folder / "one")
        if gist.fits(files) and not options.single_page:
            files = SharePages(share, replace(one, single_page=False), prices).write_pages(folder / "several")
        if unfit := gist.fits(files):
            left = "--no-tools and --no-images of `unspool share` make it smaller."
            raise UnspoolError(f"This session is too large for a gist. {unfit} {left}")
        return gist.publish(files, share.main.session.title[:200], public=public)
