"""Draws the hub's pages; signing in and out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool import human
from unspool import web as lists
from unspool.hub.auth import COOKIE
from unspool.hub.errors import BadRequest, HubError, NotVisible
from unspool.hub.people import tokens
from unspool.hub.people.rate_limit import count_attempt
from unspool.hub.people.users import Person
from unspool.hub.routes import HubRoute, Needs, client_address, hub
from unspool.hub.store.blobs import now
from unspool.render.html.elements import TimeStyle, time_tag
from unspool.site import page_template
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, PageHead, PageTemplate
from unspool.store.index.times import local_time
from unspool.web.pages import template_environment

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_STATIC = Path(__file__).parents[1] / "static"
_LENT = [
    Path(lists.__file__).parent / "static" / name
    for name in ("app.css", "find.css", "ways.css", "stats.css", "icon.svg")
]
"""What the app's pages wear and the hub's do too."""


def _address(path: Path) -> str:
    return f"/hub/{path.stem}-{sha256(path.read_bytes()).hexdigest()[:10]}{path.suffix}"


_PATHS = [*_LENT, *(path for path in sorted(_STATIC.glob("*.*")) if path.suffix in _TYPES)]
_FILES = {_address(path): path.read_bytes() for path in _PATHS}
OWN = {path.name: _address(path) for path in _PATHS}
"""The addresses of the hub's own files, by their plain names."""
_ALL = {**{f"/{name}": data for name, data in page_template.site_assets()}, **_FILES}


def asset(request: Request) -> Response:
    """A file of the look; nothing else has an address here."""
    path = request.url.path
    kind = _TYPES.get(Path(path).suffix, "application/octet-stream")
    return Response(_ALL[path], media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def icon(request: Request) -> Response:
    """The icon, where browsers look for one of a page that names none."""
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(_ALL[OWN["icon.svg"]], media_type=_TYPES[".svg"], headers=headers)


ROUTES = (
    *(HubRoute(path, asset, Needs.NOTHING, free=True) for path in _ALL),
    HubRoute("/favicon.ico", icon, Needs.NOTHING, free=True),
)


HOME = Crumb("unspool hub", "")
WAYS = tuple(Crumb(name.capitalize(), name) for name in ("sessions", "search", "usage", "shares"))
_ADMIN = (Crumb("People", "people"), Crumb("Audit", "audit"))
_STYLES = ("app.css", "ways.css", "find.css", "stats.css", "hub.css")
_SCRIPTS = {"shares.html": ("copy.js",)}
"""Of pages that have scripts of their own."""
_OPTIONS = SiteOptions(self_contained=True)
"""No search of its own: the hub has a page for that."""
_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)


def page(
    request: Request, title: str, template: str, crumbs: Sequence[Crumb] = (HOME,), status: int = 200, **values: object
) -> HTMLResponse:
    body = render(template, person=request.state.person, **values)
    scripts = _SCRIPTS.get(template, ())
    part = request.url.path.split("/")[1]
    frame = Frame("/", tuple(crumbs), ways=nav_links(request.state.person), part=part, dress=page_assets(scripts))
    return HTMLResponse(PageTemplate(_OPTIONS, frame).page(title, body), status)


def nav_links(person: Person) -> tuple[Crumb, ...]:
    if not person.known:
        return (Crumb("Sign in", "sign-in"),)
    return (*WAYS, *(_ADMIN if person.admin else ()), Crumb(person.name, "me"))


@cache
def page_assets(scripts: tuple[str, ...] = ()) -> PageHead:
    """What a page wears: the site's look and behaviour, and the hub's."""

    def asset_path(name: str) -> str:
        return f"/{page_template.load_asset(name).path}"

    return PageHead(
        _POLICY,
        render("styles.html", icon=OWN["icon.svg"], hrefs=(asset_path("look.css"), *map(OWN.get, _STYLES))),
        render("scripts.html", page=asset_path("page.js"), hrefs=[OWN[name] for name in scripts]),
        asset_path(page_template.HIGHLIGHTER),
    )


def render(template: str, **values: object) -> Markup:
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  made by a template


@cache
def _environment() -> jinja2.Environment:
    made = template_environment("unspool.hub")
    made.filters.update(when=time_markup, size=human.size, count=human.count, tokens=human.tokens)
    return made


def moment_of(time: int | None) -> datetime | None:
    """A time as the hub keeps it, in milliseconds; a log may be made up to be beyond the calendar."""
    return None if time is None else local_time(time / 1000, UTC)


def time_markup(time: int | None, style: TimeStyle = "") -> Markup:
    return Markup(time_tag(moment_of(time), style))  # noqa: S704  a writer's markup


_MOST = 100


def form_fields(request: Request) -> dict[str, str]:
    """The fields of a form, which `auth` has read; of several with one name, the last."""
    try:
        found = parse_qs(request.state.body.decode(), keep_blank_values=True, max_num_fields=_MOST)
    except ValueError:
        raise BadRequest("This form was not sent by a page of the hub.") from None
    return {name: values[-1].strip() for name, values in found.items()}


def given_fields(request: Request, names: Sequence[str]) -> dict[str, str]:
    """What an address says for each of some names; empty where it says nothing."""
    return {name: request.query_params.get(name, "").strip() for name in names}


def query_of(asked: dict[str, str], **more: str) -> str:
    """The same as an address has it, without what is empty."""
    return urlencode({name: value for name, value in {**asked, **more}.items() if value})


def redirect(place: str) -> RedirectResponse:
    return RedirectResponse(place, 303)


_TRIES = 20
"""Of one address in a quarter of an hour."""
_QUARTER = 900
_WRONG = "This token is unknown, was revoked or has expired. Tokens begin with uns_."


def sign_in_page(request: Request) -> Response:
    return page(request, "Sign in", "sign_in.html", wrong="")


def sign_in(request: Request) -> Response:
    db, token = hub(request).store.db, form_fields(request).get("token", "")
    who = tokens.person_of_token(db, token)
    if who is None:
        _failed(request)
        return page(request, "Sign in", "sign_in.html", status=401, wrong=_WRONG)
    request.state.target = who.id
    return _let_in(request, tokens.create_browser(db, who.id, scope=who.scope, parent=who.token))


def sign_out(request: Request) -> Response:
    db = hub(request).store.db
    db.run("UPDATE token SET ended = ? WHERE digest = ?", now(), tokens.token_digest(request.cookies.get(COOKIE, "")))
    answer = redirect("/")
    answer.delete_cookie(COOKIE, path="/")
    return answer


def invitation_page(request: Request) -> Response:
    offer = tokens.open_invitation(hub(request).store.db, request.path_params["secret"])
    return page(request, "Join", "join.html", offer=offer, wrong="")


def join(request: Request) -> Response:
    db, secret = hub(request).store.db, request.path_params["secret"]
    try:
        offer = tokens.open_invitation(db, secret)
    except NotVisible:
        _failed(request)
        raise
    try:
        tokens.check_nameable(hub(request).terms.header, offer)
        taken = tokens.accept_invitation(db, secret, form_fields(request).get("name", ""), "browser")
    except HubError as error:
        return page(request, "Join", "join.html", status=error.status, offer=offer, wrong=str(error))
    request.state.target = taken.person
    return _let_in(request, taken.secret)


def _failed(request: Request) -> None:
    """Count a secret that fits nothing; one that does is let in, whatever others tried from the same address."""
    here = hub(request)
    who = f"address {client_address(request, here.terms)}"
    count_attempt(here.store.db, who, _TRIES, _QUARTER)


def _let_in(request: Request, secret: str) -> RedirectResponse:
    answer = redirect("/")
    secure = hub(request).terms.url.startswith("https:") or request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, tokens.BROWSER * 86_400, path="/", secure=secure, httponly=True, samesite="lax")
    return answer
