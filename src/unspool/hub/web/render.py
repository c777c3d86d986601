"""Renders the hub's own pages, and serves their assets."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from unspool import human
from unspool import web as lists
from unspool.hub.people.users import Person
from unspool.hub.routes import HubRoute, Needs
from unspool.render.html.elements import TimeStyle, time_tag
from unspool.site import assets
from unspool.site.assets import PageHead
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, PageTemplate
from unspool.web.templates import template_environment

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_STATIC = Path(__file__).parents[1] / "static"
_LENT = [
    Path(lists.__file__).parent / "static" / name
    for name in ("app.css", "find.css", "palette.css", "stats.css", "icon.svg")
]
"""What the app's pages wear and the hub's do too."""


def _address(path: Path) -> str:
    return f"/hub/{path.stem}-{sha256(path.read_bytes()).hexdigest()[:10]}{path.suffix}"


_PATHS = [*_LENT, *(path for path in sorted(_STATIC.glob("*.*")) if path.suffix in _TYPES)]
_FILES = {_address(path): path.read_bytes() for path in _PATHS}
OWN = {path.name: _address(path) for path in _PATHS}
"""The addresses of the hub's own files, by their plain names."""
_ALL = {**{f"/{name}": data for name, data in assets.site_assets()}, **_FILES}


def asset(request: Request) -> Response:
    """A file of the look; nothing else has an address here."""
    path = request.url.path
    kind = _TYPES.get(Path(path).suffix, "application/octet-stream")
    return Response(_ALL[path], media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def icon(request: Request) -> Response:
    """The icon, where browsers look for one of a page that names none."""
    return Response(
        _ALL[OWN["icon.svg"]], media_type=_TYPES[".svg"], headers={"Cache-Control": "public, max-age=86400"}
    )


ROUTES = (
    *(HubRoute(path, asset, Needs.NOTHING, free=True) for path in _ALL),
    HubRoute("/favicon.ico", icon, Needs.NOTHING, free=True),
)


HOME = Crumb("unspool hub", "")
_WAYS = tuple(Crumb(name.capitalize(), name) for name in ("sessions", "search", "usage", "shares"))
_ADMIN = (Crumb("People", "people"), Crumb("Audit", "audit"))
_STYLES = ("app.css", "palette.css", "find.css", "stats.css", "hub.css")
_OPTIONS = SiteOptions(self_contained=True)
"""No search of its own: the hub has a page for that."""
_LAST = 253_402_300_799_000
"""The last moment that a calendar has; a log may be made up to be rounded beyond it."""
_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)


def page(
    request: Request,
    title: str,
    template: str,
    crumbs: Sequence[Crumb] = (HOME,),
    scripts: Sequence[str] = (),
    **values: object,
) -> HTMLResponse:
    """A whole page: a template filled in, in the frame of the hub's pages."""
    body = render(template, person=request.state.person, **values)
    frame = Frame("/", tuple(crumbs), ways=nav_links(request.state.person), dress=page_assets(tuple(scripts)))
    return HTMLResponse(PageTemplate(_OPTIONS, frame).page(title, body))


def nav_links(person: Person) -> tuple[Crumb, ...]:
    """Links to the parts of the hub that a person has a use for."""
    if not person.known:
        return (Crumb("Sign in", "sign-in"),)
    return (*_WAYS, *(_ADMIN if person.admin else ()), Crumb(person.name, "me"))


@cache
def page_assets(scripts: tuple[str, ...] = ()) -> PageHead:
    """What a page wears: the site's look and behaviour, and the hub's."""
    return PageHead(
        _POLICY,
        render(
            "styles.html",
            icon=OWN["icon.svg"],
            hrefs=(f"/{assets.load_asset('look.css').path}", *map(OWN.get, _STYLES)),
        ),
        render("scripts.html", page=f"/{assets.load_asset('page.js').path}", hrefs=[OWN[name] for name in scripts]),
        f"/{assets.load_asset(assets.HIGHLIGHTER).path}",
    )


def render(template: str, **values: object) -> Markup:
    """A template of the hub filled in; strings are escaped, markup is not."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  made by a template


@cache
def _environment() -> jinja2.Environment:
    made = template_environment("unspool.hub")
    made.filters.update(when=_when, size=human.size, count=human.count, tokens=human.tokens)
    return made


def _when(time: int | None, style: TimeStyle = "") -> Markup:
    """A time as the hub keeps it."""
    moment = None if time is None else datetime.fromtimestamp(min(time, _LAST) / 1000, UTC)
    return Markup(time_tag(moment, style))  # noqa: S704  a writer's markup
