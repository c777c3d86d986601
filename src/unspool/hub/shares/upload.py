"""Uploads: spooled to a private file within limits of size and time, and made into pages by a worker."""

import asyncio
import mmap
import os
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from itertools import chain
from pathlib import Path, PurePosixPath

import msgspec
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from unspool.errors import UnspoolError
from unspool.figures import Figures, figures
from unspool.files import scratch_folder
from unspool.hub.errors import NO_ROOM, BadRequest, HubError, PolicyViolation, StoreFull, TooLarge
from unspool.hub.policy import findings_sentence, is_packed, policy_findings
from unspool.hub.shares.share import BUNDLE, DOCUMENT, ShareFacts
from unspool.hub.store.blobs import MadeFile, make_file
from unspool.hub.web.render import render
from unspool.prices import PriceTable
from unspool.redact.policy import RedactionPolicy
from unspool.render.html import elements
from unspool.render.sessionshare import SessionShareWriter
from unspool.render.view import View
from unspool.share.choices import ShareChoices
from unspool.share.prepare import PreparedShare, SharedSession, sessions_around, without_paths
from unspool.share.publish import SharePages
from unspool.share.redact_files import RedactionReport
from unspool.share.select_files import LeftOutCounts
from unspool.site import page_template
from unspool.site.build.manifest import fingerprint
from unspool.site.options import SiteOptions
from unspool.site.page_template import Asset, Frame
from unspool.site.story_card import describe_session
from unspool.store.library import Library
from unspool.store.library.bundle import unpack_bundle
from unspool.web.guard import check_size

_FIELD = "file"
_HEAD, _PARTS = 16 * 1024, 100
"""Bytes in front of a part, and parts of a form."""
_MISSING = "Missing file in form data"
_BOUNDARY = re.compile(
    r""";[ \t]*boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'+_.-]{1,70}))[ \t]*(?:;|$)""", re.IGNORECASE
)
_NAME = re.compile(
    r"""^content-disposition:[^;\r\n]*(?:;[^;\r\n]*)*?;[ \t]*name=(?:"([^"\r\n]*)"|([^\s;"]+))""",
    re.IGNORECASE | re.MULTILINE,
)
_CHUNK = 1024 * 1024


def file_from_form(form: Path, kind: str, to: Path) -> Path:
    """The field `file` of a form, as a file of its own; BadRequest where there is none."""
    boundary = _BOUNDARY.search(kind)
    if boundary is None:
        raise BadRequest("The form does not say where its parts end.")
    edge = b"--" + (boundary[1] or boundary[2]).encode()
    if form.stat().st_size == 0:
        raise BadRequest(_MISSING)
    with form.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, end = _extent(data, edge)
        with to.open("xb") as out:
            for at in range(start, end, _CHUNK):
                out.write(data[at : min(at + _CHUNK, end)])
    return to


def _extent(data: mmap.mmap, edge: bytes) -> tuple[int, int]:
    at = data.find(edge)
    for _ in range(_PARTS):
        head = data.find(b"\r\n\r\n", at, at + _HEAD) if at >= 0 else -1
        if head < 0:
            break
        end = data.find(b"\r\n" + edge, head + 2)
        if end < 0:
            raise BadRequest("The form breaks off.")
        name = _NAME.search(data[at + len(edge) : head].decode("utf-8", "replace"))
        if name is not None and (name[1] or name[2]) == _FIELD:
            return head + 4, max(end, head + 4)
        at = end + 2
    raise BadRequest(_MISSING)


PACKED = ("application/gzip", "application/x-gzip", "application/octet-stream")
FORM = "multipart/form-data"
SILENT, GRACE, SLOWEST = 15.0, 20.0, 4096
"""Seconds without a byte; seconds after which fewer bytes a second than these are too few."""
_LOT = 1024 * 1024


class UnsupportedKind(HubError):
    status = 415


class TooSlow(HubError):
    status = 408


async def spool_upload(request: Request, folder: Path, most: int) -> Path:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (*PACKED, FORM):
        raise UnsupportedKind(f"Send a bundle as {', '.join(PACKED)} or {FORM}.")
    refusal = check_size(request.scope, most)
    if refusal is not None:
        raise (TooLarge if refusal.status == 413 else BadRequest)(refusal.reason)
    sent = folder / "sent"
    await _write(request, sent, most)
    if kind != FORM:
        return sent
    with _tell_full_disk():
        return await run_in_threadpool(file_from_form, sent, request.headers["content-type"], folder / "file")


async def _write(request: Request, path: Path, most: int) -> None:
    """Write what comes to a file, as long as it comes and is not too much."""
    held, size, begun = bytearray(), 0, time.monotonic()
    stream = aiter(request.stream())
    with _tell_full_disk(), path.open("xb") as file:
        while (piece := await _next_piece(stream)) is not None:
            held += piece
            size += len(piece)
            took = time.monotonic() - begun
            if took > GRACE and size < took * SLOWEST:
                raise TooSlow("What was sent comes too slowly.")
            if size > most:
                raise TooLarge(f"More than {most:,} bytes were sent.")
            if len(held) >= _LOT:
                await run_in_threadpool(file.write, bytes(held))
                held.clear()
        await run_in_threadpool(file.write, bytes(held))


async def _next_piece(stream: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(SILENT):
            return await anext(stream)
    except StopAsyncIteration:
        return None
    except TimeoutError:
        raise TooSlow(f"Nothing came for {SILENT:g} seconds.") from None
    except ClientDisconnect:
        raise BadRequest("What was sent broke off.") from None


@contextmanager
def _tell_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFull("The hub has no room for this now.") from None
        raise


_REPORT, _REPORT_MOST = "report.json", 1024 * 1024
_WORDS = 500


@contextmanager
def read_bundle(bundle: Path, title: str, policy: RedactionPolicy | None) -> Iterator[PreparedShare]:
    """What a bundle shares; HubError says why not, in words that name nothing of this machine.

    `title` is shown in place of the session's own; with no policy nothing is kept out.
    """
    with scratch_folder() as root, _as_hub_errors(root):
        logs = unpack_bundle(bundle, root, "The bundle")
        files = sorted(path for path in root.rglob("*") if path.is_file())
        if any(is_packed(path.name, path) for path in files):
            raise BadRequest("A log in the bundle is packed once more; send plain lines.")
        named = ((_name(path, root, logs), path) for path in files)
        if policy is not None and (found := policy_findings(named, policy)):
            raise PolicyViolation(findings_sentence(found))
        yield _share(logs, title, _report(root / "bundle" / _REPORT))


def _name(path: Path, root: Path, logs: list[Path]) -> str:
    if path == logs[0]:
        return "session.jsonl"
    parts = path.relative_to(root).parts
    return PurePosixPath(*(parts[2:] if parts[0] == "projects" else parts[1:])).as_posix()


def _share(logs: list[Path], title: str, report: RedactionReport) -> PreparedShare:
    library = Library((logs[0].parents[1],))
    main, *others = (_read(library, log) for log in logs)
    if title:
        titles = msgspec.structs.replace(main.session.titles, custom=title)
        main = main._replace(session=msgspec.structs.replace(main.session, titles=titles))
    before, after = sessions_around(main, others)
    return PreparedShare(main, before, after, report, ShareChoices(), {}, "")


def _read(library: Library, log: Path) -> SharedSession:
    session = without_paths(library.open(log))
    if not session.turns and not session.messages:
        raise BadRequest("The bundle holds no session that can be read.")
    return SharedSession(msgspec.structs.replace(session, project=session.cwd), log)


def _report(path: Path) -> RedactionReport:
    nothing = RedactionReport("", "", [], LeftOutCounts())
    if not path.is_file() or path.stat().st_size > _REPORT_MOST:
        return nothing
    try:
        return msgspec.json.decode(path.read_bytes(), type=RedactionReport)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return nothing


@contextmanager
def _as_hub_errors(root: Path) -> Iterator[None]:
    """Errors of ours in words for whoever sent it: short, inert, and with no place of this machine."""
    try:
        yield
    except HubError:
        raise
    except UnspoolError as error:
        if any(os.strerror(code) in str(error) for code in NO_ROOM):
            raise StoreFull("The hub has no room to unpack this now.") from None
        reason = str(error).replace(str(root / "bundle"), "").replace(str(root), "")
        raise BadRequest("".join(one if one.isprintable() else "?" for one in reason)[:_WORDS]) from None


_STATIC = Path(__file__).parents[1] / "static"
_LENT = Path(__file__).parents[2] / "web" / "static"
_SCRIPTS, _STYLE, _ICON = ("shared.js", "follow.js"), "shared.css", "icon.svg"
_UNUSED = "records.words"
"""Only an archive's index reads it."""


class HubSharePages(SharePages):
    """The pages of a share as the hub shows them; `address` is where they are found, if the hub knows its own name."""

    def __init__(self, share: PreparedShare, prices: PriceTable, address: str, *, raw: bool) -> None:
        super().__init__(share, SiteOptions(), prices, address)
        self._raw = raw

    def files(self) -> Iterator[tuple[str, bytes]]:
        yield from page_template.site_assets()
        yield from (_own(name) for name in (_STYLE, *_SCRIPTS, _ICON))
        for name, data in self.content():
            if PurePosixPath(name).name != _UNUSED:
                yield name, data

    def frame(self, one: SharedSession, counted: Figures, inside: str) -> Frame:
        usual = super().frame(one, counted, inside)
        head, report = page_template.site_page_head(self.options, usual.root), self.share.report
        styles = render("styles.html", icon=usual.root + _own(_ICON).path, hrefs=[usual.root + _own(_STYLE).path])
        scripts = Markup("".join(elements.script(usual.root + _own(name).path) for name in _SCRIPTS))  # noqa: S704  made by a writer
        note = f"shared: {report.note()}" if report.rules else "shared"
        return msgspec.structs.replace(
            usual,
            dress=head._replace(
                styles=head.styles + styles,
                scripts=head.scripts + scripts,
            ),
            inset=str(render("shared_bar.html", root=usual.root, raw=self._raw)),
            preview=usual.preview and usual.preview._replace(note=note, data=""),
        )


def _own(name: str) -> Asset:
    """A file of the hub's look, with a name that changes with its content."""
    data = (_LENT if name == _ICON else _STATIC).joinpath(name).read_bytes().replace(b"\r\n", b"\n")
    stem, _, kind = name.partition(".")
    return Asset(f"{page_template.ASSETS_FOLDER}/{stem}-{sha256(data).hexdigest()[:12]}.{kind}", data)


KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".gz": "application/gzip",
}
_TITLE = 300
"""Letters of a title in lists."""


class ShareJob(msgspec.Struct, frozen=True):
    bundle: Path
    folder: Path
    """Where what is made lies."""
    url: str = ""
    """Where the share will be found, with a slash at its end; empty where the hub does not know its name."""
    title: str = ""
    raw: bool = False
    policy: RedactionPolicy | None = None
    """What is kept out; None where nothing is."""


class MadeShare(msgspec.Struct, frozen=True):
    title: str
    facts: ShareFacts
    pieces: list[MadeFile]

    @property
    def size(self) -> int:
        return sum(piece.path.stat().st_size for piece in self.pieces)


def make_share(job: ShareJob) -> MadeShare:
    job.folder.mkdir()
    with read_bundle(job.bundle, job.title, job.policy) as share:
        prices, session = PriceTable.load(), share.main.session
        counted = figures(session, prices)
        began = session.started.isoformat() if session.started else ""
        facts = ShareFacts(
            describe_session(counted), session.agent, session.id, began, counted.turns,
            own_title=bool(job.title), made=made_by(job.url),
        )  # fmt: skip
        document = DOCUMENT, b"".join(SessionShareWriter().chunks(session, View()))
        files = chain(HubSharePages(share, prices, job.url, raw=job.raw).files(), [document])
        pieces = []
        for number, (name, data) in enumerate(files):
            kind = KINDS.get(PurePosixPath(name).suffix, "application/octet-stream")
            pieces.append(make_file(name, data, job.folder / str(number), kind))
        with job.bundle.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        pieces.append(MadeFile(BUNDLE, job.bundle, digest, job.bundle.stat().st_size, "", KINDS[".gz"]))
        return MadeShare(" ".join(session.title.split())[:_TITLE], facts, pieces)


def made_by(url: str) -> str:
    """What pages are made by; another one whenever they may come out differently."""
    return f"{fingerprint()} {url}"
