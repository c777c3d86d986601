"""A session as one file: what session-share's service takes, and what `unspool import` goes on with.

The same session, choices and rules make the same bytes, whoever packs them and when.
"""

import gzip
import io
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from unspool.files import write_atomically
from unspool.model import Session
from unspool.share.prepare import Share, Shared

_LOG, _PLANNING, _META, _REPORT = "session.jsonl", "source-session.jsonl", "metadata.txt", "report.json"
_CHAIN = "chain"
"""Where the other sessions of a chain are; session-share looks at the top alone."""


def bundled(share: Share) -> bytes:
    """The bundle of a share: a gzipped tar."""
    held = io.BytesIO()
    when = int(share.main.session.ended.timestamp()) if share.main.session.ended is not None else 0
    with (
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=held, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in members(share):
            archive.addfile(_member(name, len(data), max(0, when)), io.BytesIO(data))
    return held.getvalue()


def write_bundle(share: Share, path: Path) -> Path:
    """Write the bundle, whole or not at all."""
    write_atomically(path, [bundled(share)])
    return path


def members(share: Share) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of the bundle."""
    yield _META, _metadata(share.main.session).encode()
    yield _REPORT, share.report.json()
    yield _LOG, share.main.log.read_bytes()
    yield from _beside(share.main, "")
    for one in (*share.before, *share.after):
        name = one.log.stem
        yield _PLANNING if one is share.planning else f"{_CHAIN}/{name}.jsonl", one.log.read_bytes()
        yield from _beside(one, f"{_CHAIN}/{name}/")


def _beside(one: Shared, place: str) -> Iterator[tuple[str, bytes]]:
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
