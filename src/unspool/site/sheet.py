"""A page put together: its frame from a template, around a body that was made before."""

from functools import cache

import jinja2
from markupsafe import Markup

from unspool.export.html.escape import visible
from unspool.site.frame import Crumb, Frame
from unspool.site.look import dress
from unspool.site.options import SiteOptions

_BODY = "\x02"
"""Where the body goes; no text has this character once it has been made visible."""


class Sheet:
    """What goes around a body: the same for all pages of one place."""

    def __init__(self, options: SiteOptions, frame: Frame, session: str = "") -> None:
        self._options, self._frame, self._session = options, frame, session

    def page(
        self, title: str, body: str, *, rail: str = "", up: Crumb | None = None, here: str = "", found: str = ""
    ) -> str:
        """The whole HTML of a page: `up` is the page above it in its own folder, `found` the JSON it can search."""
        code = 'class="language-' in body
        before, after = render(
            "page.html",
            theme=self._options.theme,
            dress=self._frame.dress or dress(self._options, self._frame.root, code),
            frame=self._frame,
            session=self._session,
            title=title,
            here=here or title,
            up=up,
            rail=safe(rail),
            body=safe(_BODY),
            found=safe(found),
            report=safe(_inside(self._frame.preview.data)) if self._frame.preview is not None else "",
            find=not self._options.self_contained or bool(found),
        ).split(_BODY, 1)
        return f"{before}{body}{after}"


def render(template: str, **values: object) -> str:
    """A template filled in; strings are escaped, markup is not."""
    return _environment().get_template(template).render(values)


def _inside(data: str) -> str:
    """JSON as it may stand inside a page."""
    return data.replace("<", "\\u003c").replace(_BODY, "")


def safe(markup: str) -> Markup:
    """Markup that was made by the writers of this package."""
    return Markup(markup)  # noqa: S704


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("unspool.site"),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_seen,
        auto_reload=False,
    )


def _seen(value: object) -> object:
    """Text from logs with marks for what cannot be seen; markup as it is."""
    return visible(value) if type(value) is str else value
