"""Makes the reviewed share: an HTML file, a folder of pages, a bundle or a gist."""

import io
import secrets
import shutil
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote
from weakref import WeakKeyDictionary

from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.app import share_selection
from unspool.app.context import AppContext
from unspool.app.render import HOME, render_page, render_template
from unspool.app.review_store import current_rules, get_review_store
from unspool.app.session_cache import get_session
from unspool.app.share_selection import make_secret, parse_seal
from unspool.errors import NotFound, UsageProblem
from unspool.files import scratch_folder
from unspool.human import size
from unspool.share.choices import ShareSettings
from unspool.share.encryption import ShareSecret
from unspool.share.pages import SharePages, write_encrypted
from unspool.share.prepare import PreparedShare, prepare_shares
from unspool.share.publish import make_bundle, publish_share_gist
from unspool.site.address import slug
from unspool.site.page_template import Crumb
from unspool.web.forms import read_form

_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a folder that is packed: the same share gives the same bytes."""
_PAGE, _ZIP, _TAR = "text/html; charset=utf-8", "application/zip", "application/gzip"


class SharedFile(NamedTuple):
    """What was made."""

    ending: str
    type: str
    data: bytes


class ShareFormat(NamedTuple):
    """A way to share; `sealed` makes the same so that only a secret opens it, where that can be."""

    name: str
    label: str
    about: str
    many: str
    """The same of several sessions."""
    make: Callable[[PreparedShare, AppContext], SharedFile]
    sealed: Callable[[PreparedShare, AppContext, ShareSecret], SharedFile] | None = None


def parse_format(name: str) -> ShareFormat:
    """The way of that name; UsageProblem where there is none."""
    for one in SHARE_FORMATS:
        if one.name == name:
            return one
    raise UsageProblem("A session is shared as html, site, bundle or gist.")


def make_file(way: ShareFormat, share: PreparedShare, desk: AppContext, secret: ShareSecret | None) -> SharedFile:
    """The file; UsageProblem where it is to be sealed and cannot be."""
    if secret is None:
        return way.make(share, desk)
    if way.sealed is None:
        raise UsageProblem("Only a page can be encrypted: make one HTML file, which holds all pages.")
    return way.sealed(share, desk, secret)


def _html(share: PreparedShare, desk: AppContext) -> SharedFile:
    """One page a session: where there are several, packed."""
    with scratch_folder() as folder:
        files = SharePages(share, desk.options, desk.prices).write_file(folder / "session.html")
        if len(files) == 1:
            return SharedFile(".html", _PAGE, files[0].read_bytes())
        return SharedFile(".zip", _ZIP, _zipped((file.name, file.read_bytes()) for file in files))


def _locked(share: PreparedShare, desk: AppContext, secret: ShareSecret) -> SharedFile:
    with scratch_folder() as folder:
        return SharedFile(
            ".html", _PAGE, write_encrypted(share, desk.prices, folder / "session.html", secret).read_bytes()
        )


def _site(share: PreparedShare, desk: AppContext) -> SharedFile:
    return SharedFile(".zip", _ZIP, _zipped(SharePages(share, desk.options, desk.prices).files()))


def _bundle(share: PreparedShare, _: AppContext) -> SharedFile:
    return SharedFile(".tar.gz", _TAR, make_bundle(share))


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


SHARE_FORMATS = (
    ShareFormat(
        "html",
        "One HTML file",
        "Needs nothing beside it: mail it, or put it anywhere.",
        "One a session, zipped; needs nothing beside it.",
        _html,
        _locked,
    ),
    ShareFormat(
        "site",
        "A folder of pages",
        "Zipped, for a web server; with search.",
        "All of them, zipped, for a web server; with search.",
        _site,
    ),
    ShareFormat(
        "bundle",
        "A bundle",
        "For “unspool import”, to go on elsewhere.",
        "For “unspool import”, to go on elsewhere, with the plan that it carries out.",
        _bundle,
    ),
)


MAX_RESULTS = 2
"""Results held at once; each is forgotten with the app."""


class ShareResult(NamedTuple):
    """A file with its key, or the two addresses of a gist."""

    session: str
    file: SharedFile | None = None
    name: str = ""
    key: str = ""
    addresses: tuple[tuple[str, str], ...] = ()


class ShareResults:
    """The last results of a desk, by names that nobody can guess."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, ShareResult] = OrderedDict()

    def keep(self, result: ShareResult) -> str:
        """Hold a result; what it is called."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._held[name] = result
            while len(self._held) > MAX_RESULTS:
                self._held.popitem(last=False)
        return name

    def find(self, session: str, name: str) -> ShareResult:
        """The result of that name; NotFound where it is no longer held, or is of another session."""
        found = self._held.get(name)
        if found is None or found.session != session:
            raise NotFound("This was made too long ago; make it again.")
        return found


def result_page(request: Request) -> HTMLResponse:
    """The page that tells of a result."""
    key, found = _found(request)
    review = f"s/{quote(key, safe='')}/share"
    about = size(len(found.file.data)) if found.file is not None else ""
    body = render_template("share_made.html", review=f"/{review}", here=request.url.path, made=found, size=about)
    return render_page(request, "Made", body, (HOME, Crumb("Share", review)), ("app.css", "share.css"), ("share.js",))


def download_result(request: Request) -> Response:
    """The file of a result."""
    _, found = _found(request)
    if found.file is None:
        raise NotFound("There is no file to download.")
    return file_response(found.file, found.name)


def file_response(file: SharedFile, name: str) -> Response:
    """A file that a browser saves."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.type, headers=headers)


def _found(request: Request) -> tuple[str, ShareResult]:
    key: str = request.path_params["key"]
    return key, get_results(request.app.state.desk).find(key, request.path_params["name"])


_DESKS: "WeakKeyDictionary[AppContext, ShareResults]" = WeakKeyDictionary()
_ONE = threading.Lock()


def get_results(desk: AppContext) -> ShareResults:
    """What was made at a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, ShareResults())


GIST = "gist"


def can_publish_gist() -> bool:
    """Whether the program that publishes it is there."""
    return shutil.which("gh") is not None


def publish_gist(
    key: str, share: PreparedShare, desk: AppContext, secret: ShareSecret | None, *, public: bool
) -> ShareResult:
    """Publish it: the two addresses that it has then. UsageProblem where only a secret was to open it."""
    if secret is not None:
        raise UsageProblem("A gist is not encrypted, so none was made: whoever has its address can read it.")
    gist = publish_share_gist(share, desk.options, desk.prices, public=public)
    return ShareResult(key, addresses=(("Gist", gist.address), ("As pages", gist.preview)))


async def make_share(request: Request) -> Response:
    """Make it: the file, or the page that tells how it opens or where it is."""
    sent, key = await read_form(request), request.path_params["key"]
    answer = await run_sync(_made, request.app.state.desk, key, sent)
    if answer.file is not None and not answer.key:
        return file_response(answer.file, answer.name)
    name = get_results(request.app.state.desk).keep(answer)
    return RedirectResponse(f"/s/{quote(key, safe='')}/share/made/{name}", 303)


def _made(desk: AppContext, key: str, sent: Mapping[str, str]) -> ShareResult:
    wanted = sent.get("as", "")
    way = None if wanted == GIST else parse_format(wanted)
    seal = parse_seal(sent.get("seal", "open"))
    secret = make_secret(seal, sent)
    session, table = get_session(desk, key).session, get_review_store(desk)
    wish = table.wish(key, session.cwd)
    ask = ShareSettings(lambda _: wish.choices, current_rules(), wish.title, names=table.names(key))
    with prepare_shares(desk.library(), table.meant(desk, key, wish), ask) as share:
        if way is None:
            return publish_gist(key, share, desk, secret, public="public" in sent)
        file = make_file(way, share, desk, secret)
    share_selection.save_habit(session.cwd, replace(share_selection.load_habit(session.cwd), seal=seal))
    fragment = secret.fragment if secret is not None else ""
    return ShareResult(key, file, f"session-{slug(key)[:8]}{file.ending}", fragment)
