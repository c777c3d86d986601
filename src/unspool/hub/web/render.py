"""The hub's own pages: bodies from its templates, in the site's frame."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app.render import environment
from unspool.export.html.times import Style, when
from unspool.hub.assets import OWN
from unspool.hub.people.person import Person
from unspool.site import look
from unspool.site.frame import Crumb, Frame
from unspool.site.look import Dress
from unspool.site.options import SiteOptions
from unspool.site.sheet import Sheet

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
    frame = Frame("/", tuple(crumbs), ways=ways(request.state.person), dress=dress(tuple(scripts)))
    return HTMLResponse(Sheet(_OPTIONS, frame).page(title, body))


def ways(person: Person) -> tuple[Crumb, ...]:
    """Links to the parts of the hub that a person has a use for."""
    if not person.known:
        return (Crumb("Sign in", "sign-in"),)
    return (*_WAYS, *(_ADMIN if person.admin else ()), Crumb(person.name, "me"))


@cache
def dress(scripts: tuple[str, ...] = ()) -> Dress:
    """What a page wears: the site's look and behaviour, and the hub's."""
    return Dress(
        _POLICY,
        render("styles.html", icon=OWN["icon.svg"], hrefs=(f"/{look.asset('look.css').path}", *map(OWN.get, _STYLES))),
        render("scripts.html", page=f"/{look.asset('page.js').path}", hrefs=[OWN[name] for name in scripts]),
        f"/{look.asset(look.HIGHLIGHTER).path}",
    )


def render(template: str, **values: object) -> Markup:
    """A template of the hub filled in; strings are escaped, markup is not."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  made by a template


@cache
def _environment() -> jinja2.Environment:
    made = environment("unspool.hub")
    made.filters.update(when=_when, size=human.size, count=human.count, tokens=human.tokens)
    return made


def _when(time: int | None, style: Style = "") -> Markup:
    """A time as the hub keeps it."""
    moment = None if time is None else datetime.fromtimestamp(min(time, _LAST) / 1000, UTC)
    return Markup(when(moment, style))  # noqa: S704  a writer's markup
