"""Renders pages of the app: templates, page frame, styles and scripts, and the banner above every page."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import apsw
import jinja2
import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.config.settings import current_settings
from unspool.errors import UnspoolError
from unspool.model import Session
from unspool.render.html.elements import time_tag
from unspool.site import page_template
from unspool.site.page_template import Crumb, Frame, PageHead, PageTemplate
from unspool.web.pages import template_environment

if TYPE_CHECKING:
    from unspool.app.background_sync import SyncState
    from unspool.app.context import AppContext

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
STATIC = Path(__file__).parent / "static"


_FILES = {
    f"/app/{path.stem}-{sha256(path.read_bytes()).hexdigest()[:10]}{path.suffix}": path
    for folder in (STATIC, Path(__file__).parents[1] / "web" / "static")
    for path in sorted(folder.glob("*.*"))
    if path.suffix in _TYPES
}
_LENT = ("search.css", *page_template.STAGE_STYLES, *page_template.STAGE_SCRIPTS)
_STAGE = {name: page_template.load_asset(name) for name in _LENT}
ASSET_URLS = {path.name: name for name, path in _FILES.items()} | {name: f"/{one.path}" for name, one in _STAGE.items()}
"""The addresses of the app's own files, by their plain names, and of those that play a session."""
_SITE = {f"/{name}": data for name, data in (*page_template.site_assets(), *_STAGE.values())}


def serve_asset(request: Request) -> Response:
    """A file of the look; nothing else has an address here."""
    path = request.url.path
    data = _SITE.get(path) if path in _SITE else _FILES[path].read_bytes()
    kind = _TYPES.get(Path(path).suffix, "application/octet-stream")
    return Response(data, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


LOOK = f"/{page_template.load_asset('look.css').path}"
MANIFEST = "/manifest.webmanifest"
_ICONS = (("app-icon-192.png", "192x192", "any"), ("app-icon-512.png", "512x512", "any"),
          ("app-icon-maskable.png", "512x512", "maskable"), ("app-icon.svg", "any", "any"))  # fmt: skip
PUBLIC_URLS = frozenset({LOOK, MANIFEST, *(ASSET_URLS[name] for name in ("icon.svg", *(icon[0] for icon in _ICONS)))})
"""What a browser asks for without being let in: what the app is called and looks like, the same for everybody."""


def serve_manifest(_: Request) -> Response:
    """What lets a browser install the app: its name, its pictures, its colours."""
    icons = [
        {"src": ASSET_URLS[name], "sizes": sizes, "type": _TYPES[Path(name).suffix], "purpose": purpose}
        for name, sizes, purpose in _ICONS
    ]
    names = {"name": "unspool", "short_name": "unspool", "description": "The sessions of your coding agents"}
    look = {"display": "standalone", "background_color": "#fbfbfa", "theme_color": "#fbfbfa"}
    return JSONResponse(
        {**names, "id": "/", "start_url": "/", "scope": "/", **look, "icons": icons},
        headers={"Cache-Control": "no-cache"},
        media_type="application/manifest+json",
    )


def nav_link(name: str) -> Crumb:
    """The link to a part of the app, relative to the root."""
    return Crumb(name.capitalize(), name)


ALL_STYLES = ("search.css", "ways.css", "banner.css")
ALL_SCRIPTS = ("palette.js", "banner.js", "came-from.js")
"""Modules."""
NAV_LINKS = tuple(map(nav_link, ("sessions", "projects", "live", "search", "stats", "files", "settings")))
"""Links at the top of every page, relative to the root."""
HOME = Crumb("unspool", "")
_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'"
)


class LinkChoice(NamedTuple):
    """A link to another list or view, among others of which some are chosen."""

    text: str
    href: str
    chosen: bool = False
    about: str = ""
    number: int | None = None


def session_href(key: str) -> str:
    return f"/s/{quote(key, safe='', errors='replace')}/"


def session_crumbs(key: str, session: Session) -> tuple[Crumb, Crumb]:
    """The way back from a page below a session."""
    return HOME, Crumb(session.title[:120], session_href(key).removeprefix("/"))


def render_page(
    request: Request,
    title: str,
    body: str,
    crumbs: Sequence[Crumb] = (HOME,),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> HTMLResponse:
    """A whole page around a body that is markup already."""
    template = PageTemplate(request.app.state.context.options, page_frame(crumbs, styles, scripts))
    return HTMLResponse(template.page(title, _banner(request) + body))


def render_stage(
    request: Request, title: str, body: str, styles: Sequence[str], scripts: Sequence[str]
) -> HTMLResponse:
    """A page that is nothing but its body, which is markup already, on the whole width."""
    frame = page_frame((), ("stage.css", *styles), ("stage.js", *scripts))
    template = PageTemplate(request.app.state.context.options, msgspec.structs.replace(frame, bare=True))
    return HTMLResponse(template.page(title, body))


def _banner(request: Request) -> Markup:
    return render_template("banner.html", standing=app_status(request))


def page_frame(crumbs: Sequence[Crumb] = (HOME,), styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> Frame:
    """Where pages of the app lie: at the root of a server, with links to its other parts."""
    dress = page_head((*styles, *current_settings().styles), tuple(scripts))
    return Frame("/", tuple(crumbs), ways=NAV_LINKS, dress=dress)


@cache
def page_head(styles: tuple[str, ...] = (), scripts: tuple[str, ...] = ()) -> PageHead:
    """What a page wears: the site's look and behaviour, the app's, and its own. The palette is its search."""
    shared = (LOOK, *(ASSET_URLS[name] for name in (*ALL_STYLES, *styles)))
    return PageHead(
        _POLICY,
        render_template("styles.html", icon=ASSET_URLS["icon.svg"], hrefs=shared)
        + render_template("install.html", manifest=MANIFEST),
        render_template(
            "scripts.html",
            page=f"/{page_template.load_asset('page.js').path}",
            hrefs=[ASSET_URLS[one] for one in (*ALL_SCRIPTS, *scripts)],
        ),
        f"/{page_template.load_asset(page_template.HIGHLIGHTER).path}",
    )


def render_template(template: str, **values: object) -> Markup:
    """A template of the app filled in; strings are escaped, markup is not."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  made by a template


@cache
def _environment() -> jinja2.Environment:
    made = template_environment("unspool.app")
    made.filters["when"] = lambda time, style="": Markup(time_tag(time, style))  # noqa: S704  a writer's markup
    return made


_LITTLE = 64 * 1024 * 1024
"""Bytes on the archive's disk below which it is said."""
_WORTH_A_WORD = 8 * 1024 * 1024
"""Bytes of a sync that is told of though everything older is there."""


class StatusNotice(NamedTuple):
    words: str
    tone: str = ""
    """`warn` or `bad` where something should be done."""
    done: int | None = None
    """Parts of a hundred, of what goes on."""


class AppStatus(NamedTuple):
    notices: tuple[StatusNotice, ...] = ()
    round: int = 0
    """Another number, and there is something new to show."""
    busy: bool = False
    """Whether sessions are missing that will be there soon."""


def app_status(request: Request) -> AppStatus:
    """How it stands now. It costs next to nothing, and never fails."""
    state, context = request.app.state, request.app.state.context
    gone = [source for source in context.sources if not source.is_dir()]
    missing = [StatusNotice(f"{source} is not there. What was kept of it is shown.", "warn") for source in gone]
    if state.background is None or state.own_context is not None:
        return AppStatus((*missing,))
    if state.read_only:
        notice = StatusNotice("Started with --read-only: nothing is kept and nothing can be changed.")
        return AppStatus((notice, *missing))
    now: SyncState = state.background.state
    whole = _complete(context)
    notices = (*missing, *_writing(context.folder), *_syncing(now, whole))
    return AppStatus(notices, now.round, busy=now.state == "syncing" and not whole)


def _writing(folder: Path) -> list[StatusNotice]:
    """Whether the archive can grow."""
    with suppress(OSError):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            words = f"{folder} cannot be written to: nothing new is kept, and nothing can be marked."
            return [StatusNotice(words, "warn")]
        left = shutil.disk_usage(folder).free
        if left < _LITTLE:
            return [StatusNotice(f"The disk of {folder} is full: {human.size(left)} are left.", "bad")]
    return []


def _syncing(now: "SyncState", whole: bool) -> list[StatusNotice]:
    if now.state == "failed":
        return [StatusNotice(f"The last sync failed: {now.failure}", "bad")]
    if now.state != "syncing" or (whole and now.total < _WORTH_A_WORD):
        return []
    read = f"{human.size(now.done)} of {human.size(now.total)}" if now.total else "looking for logs"
    more = "" if whole else " Sessions that are missing come as they are read."
    done = min(100, 100 * now.done // now.total) if now.total else 0
    return [StatusNotice(f"Reading logs: {read}.{more}", done=done)]


def _complete(context: "AppContext") -> bool:
    """Whether a sync has come to its end since the index was made."""
    try:
        with context.index() as index:
            return bool(index.meta("synced"))
    except (UnspoolError, apsw.Error, OSError):
        return False


def serve_banner(request: Request) -> HTMLResponse:
    return HTMLResponse(_banner(request))


ROUTES = [
    *(Route(path, serve_asset) for path in (*_SITE, *_FILES)),
    Route(MANIFEST, serve_manifest),
    Route("/banner", serve_banner),
]
