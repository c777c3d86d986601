"""Pages of the app: bodies from its own templates, in the site's frame, with what every page of the app wears.

`page` answers a request with a body; `frame` is for whoever has pages of the site to serve. Every page wears
ALL_STYLES and ALL_SCRIPTS; what one page needs besides is given by its name in `app/static`.
"""

from collections.abc import Sequence
from functools import cache

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool.app.assets import OWN
from unspool.app.config.store import current
from unspool.app.standing import standing
from unspool.export.html import when
from unspool.export.html.escape import visible
from unspool.site import look
from unspool.site.frame import Crumb, Frame
from unspool.site.look import Dress
from unspool.site.sheet import Sheet

ALL_STYLES = ("palette.css", "banner.css")
ALL_SCRIPTS = ("palette.js", "banner.js")
"""Modules."""
WAYS = tuple(
    Crumb(name.capitalize(), name) for name in ("sessions", "projects", "live", "search", "stats", "files", "settings")
)
"""Links at the top of every page, relative to the root."""
HOME = Crumb("unspool", "")
_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)


def way(name: str) -> Crumb:
    """The link to a part of the app, as it stands above the pages below it."""
    return next(one for one in WAYS if one.href == name)


def page(
    request: Request,
    title: str,
    body: str,
    crumbs: Sequence[Crumb] = (HOME,),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> HTMLResponse:
    """A whole page around a body that is markup already."""
    sheet = Sheet(request.app.state.desk.options, frame(crumbs, styles, scripts))
    return HTMLResponse(sheet.page(title, banner(request) + body))


def banner(request: Request) -> Markup:
    """What a reader should know of the whole, above whatever page."""
    return render("banner.html", standing=standing(request))


def frame(crumbs: Sequence[Crumb] = (HOME,), styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> Frame:
    """Where pages of the app lie: at the root of a server, with links to its other parts."""
    return Frame("/", tuple(crumbs), ways=WAYS, dress=dress((*styles, *current().styles), tuple(scripts)))


@cache
def dress(styles: tuple[str, ...] = (), scripts: tuple[str, ...] = ()) -> Dress:
    """What a page wears: the site's look and behaviour, the app's, and its own. The palette is its search."""
    shared = (f"/{look.asset('look.css').path}", *(OWN[name] for name in (*ALL_STYLES, *styles)))
    return Dress(
        _POLICY,
        render("styles.html", icon=OWN["icon.svg"], hrefs=shared),
        render(
            "scripts.html", page=f"/{look.asset('page.js').path}", hrefs=[OWN[one] for one in (*ALL_SCRIPTS, *scripts)]
        ),
        f"/{look.asset(look.HIGHLIGHTER).path}",
    )


def render(template: str, **values: object) -> Markup:
    """A template of the app filled in; strings are escaped, markup is not."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  made by a template


@cache
def _environment() -> jinja2.Environment:
    made = environment("unspool.app")
    made.filters["when"] = lambda time, style="": Markup(when(time, style))  # noqa: S704  a writer's markup
    return made


def environment(package: str) -> jinja2.Environment:
    """The templates of a package whose pages are served: text is escaped, and what cannot be seen in it is marked."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        auto_reload=False,
    )
