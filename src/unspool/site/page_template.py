"""The frame of every page, and the styles and scripts it refers to."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import jinja2
import jinja2.ext
import msgspec
from markupsafe import Markup

from unspool.prices import PriceTable
from unspool.render.html import elements
from unspool.render.html.elements import visible
from unspool.site.options import SiteOptions

ASSETS_FOLDER = "assets"
STYLES = ("look.css", "search.css")
SCRIPTS = ("page.js", "search.js")
HIGHLIGHTER = "highlight.min.js"
STAGE_STYLES = ("stage.css",)
STAGE_SCRIPTS = ("stage.js", "replay.js")
"""What plays a session: in a page that holds all of it, and in the app."""
_STATIC = Path(__file__).parent / "static"


class Asset(NamedTuple):
    """A file that pages share."""

    path: str
    """Relative to the site's root."""
    data: bytes

    @property
    def policy(self) -> str:
        """How a policy names the content, where it stands inside a page."""
        return f"'sha256-{b64encode(sha256(self.data).digest()).decode()}'"


class PageHead(NamedTuple):
    """What goes into the head of a page."""

    policy: str
    styles: Markup
    scripts: Markup
    highlighter: str
    """Where the page finds the highlighter when it needs it; empty where the page has it in itself."""


@cache
def load_asset(name: str) -> Asset:
    """A static file by its name in the package."""
    data = _STATIC.joinpath(name).read_bytes().replace(b"\r\n", b"\n")
    stem, _, kind = name.partition(".")
    return Asset(f"{ASSETS_FOLDER}/{stem}-{sha256(data).hexdigest()[:12]}.{kind}", data)


@cache
def site_assets() -> tuple[Asset, ...]:
    """Every file that a site whose pages are not self-contained needs below its root."""
    return tuple(load_asset(name) for name in (*STYLES, *SCRIPTS, HIGHLIGHTER))


@cache
def site_page_head(options: SiteOptions, root: str, code: bool = True, plays: bool = False) -> PageHead:
    """The head of a page that lies `root` below the site's root.

    `code` says whether it has any to highlight, `plays` whether it is a whole session in one file.
    """
    styles = [load_asset(name) for name in (*STYLES, *(STAGE_STYLES if plays else ()))]
    scripts = [load_asset(name) for name in (*SCRIPTS, *(STAGE_SCRIPTS if plays else ()))]
    if not options.self_contained:
        return PageHead(
            _policy("'self' file:", "'self' file:", "'self' file: data:"),
            as_markup("".join(elements.stylesheet(root + one.path) for one in styles)),
            as_markup("".join(elements.script(root + one.path) for one in scripts)),
            root + load_asset(HIGHLIGHTER).path,
        )
    scripts += [load_asset(HIGHLIGHTER)] if code else []
    return PageHead(
        _policy(" ".join(one.policy for one in styles), " ".join(one.policy for one in scripts)),
        as_markup("".join(elements.style_inside(one.data.decode()) for one in styles)),
        as_markup("".join(elements.script_inside(one.data.decode()) for one in scripts)),
        "",
    )


def _policy(styles: str, scripts: str, images: str = "'self' data:") -> Markup:
    return as_markup(  # apostrophes stay as they are between quotes, and there is nothing else to escape
        f"default-src 'none'; img-src {images}; style-src {styles}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


class Crumb(NamedTuple):
    """One step of the way from the site's top to the page."""

    text: str
    href: str
    """Relative to the site's root."""


_POST_TO = (
    ("X", "https://x.com/intent/post?text={title}&url={url}"),
    ("Bluesky", "https://bsky.app/intent/compose?text={title}%20{url}"),
    ("LinkedIn", "https://www.linkedin.com/sharing/share-offsite/?url={url}"),
    ("Hacker News", "https://news.ycombinator.com/submitlink?u={url}&t={title}"),
    ("Reddit", "https://www.reddit.com/submit?url={url}&title={title}"),
    ("mail", "mailto:?subject={title}&body={url}"),
)
"""Where a link can be posted, each by a page that is asked for nothing until somebody goes there."""


class Preview(NamedTuple):
    """What a page that is shown to others says of itself: to programs that show a link, and at its foot."""

    description: str
    picture: str = ""
    """Address of a picture; empty where there is none."""
    address: str = ""
    """Where the session's first page will be found."""
    note: str = ""
    data: str = ""
    """JSON that comes with the first page."""

    def posts(self, title: str) -> list[tuple[str, str]]:
        """Names and links of the places where the session can be posted; none where nobody knows its address."""
        if not self.address:
            return []
        about = {"title": quote(title[:200], safe=""), "url": quote(self.address, safe="")}
        return [(name, href.format(**about)) for name, href in _POST_TO]


class HtmlPage(NamedTuple):
    """A page to be written or served."""

    path: str
    """Relative to the folder that the page's maker speaks of: the session's, or the site's root."""
    html: str


class Frame(msgspec.Struct, frozen=True):
    """Where a page lies in its site."""

    root: str = ""
    """What leads from the page's folder to the site's root: empty, or `../` for each folder."""
    crumbs: tuple[Crumb, ...] = ()
    """The pages above, the topmost first; the page itself is not among them."""
    sessions: Mapping[str, str] = {}
    """Addresses of other sessions of this site, relative to the root, by id."""
    search: str = ""
    """Folder of the search index, relative to the root; empty where there is none."""
    prices: PriceTable | None = None
    """What tokens cost; the built-in list where none is given."""
    ways: tuple[Crumb, ...] = ()
    """Links to other parts, at the top of the page; their addresses are relative to the root."""
    part: str = ""
    """Which of those the page is of, by its address; empty for none of them."""
    dress: PageHead | None = None
    """What the page wears; the site's own styles and scripts where none is given."""
    bare: bool = False
    """Whether pages are nothing but their body: no bar above it, no foot below."""
    card: str = ""
    """Address of the story as a picture, beside the session's first page; empty where there is none."""
    picture_href: Callable[[str, str], str] = elements.picture_inside
    """Where pictures and documents of a session lie, relative to its pages, as `HtmlOptions` wants it."""
    inset: str = ""
    """Markup that stands below the head of a session's first page."""
    beside: Markup = Markup()
    """What stands beside the page, left of all else."""
    preview: Preview | None = None
    """What the pages say of themselves, where they are made for others."""


_BODY = "\x02"
"""Where the body goes; no text has this character once it has been made visible."""


class PageTemplate:
    """What goes around a body: the same for all pages of one place."""

    def __init__(self, options: SiteOptions, frame: Frame, session: str = "") -> None:
        self._options, self._frame, self._session = options, frame, session

    def page(
        self, title: str, body: str, *, rail: str = "", up: Crumb | None = None, here: str = "", found: str = ""
    ) -> str:
        """The whole HTML of a page: `up` is the page above it in its own folder, `found` the JSON it can search."""
        code, options = 'class="language-' in body, self._options
        plays = options.self_contained and options.single_page and bool(self._session)
        data = self._frame.preview.data if self._frame.preview is not None else ""
        before, after = fill_template(
            "page.html",
            theme=options.theme,
            dress=self._frame.dress or site_page_head(options, self._frame.root, code, plays),
            frame=self._frame,
            session=self._session,
            title=title,
            here=here or title,
            up=up,
            rail=as_markup(rail),
            body=as_markup(_BODY),
            found=as_markup(found),
            report=as_markup(data.replace("<", "\\u003c").replace(_BODY, "")),  # JSON as it may stand inside a page
            find=not options.self_contained or bool(found),
        ).split(_BODY, 1)
        return f"{before}{body}{after}"


def fill_template(template: str, **values: object) -> str:
    """A template filled in; strings are escaped, markup is not."""
    return _environment().get_template(template).render(values)


def as_markup(markup: str) -> Markup:
    """Markup that was made by the writers of this package."""
    return Markup(markup)  # noqa: S704


class _Unindented(jinja2.ext.Extension):
    """Templates without what their lines begin with: it is for those who read them, and stands on every page."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _INDENT.sub("", source)


_INDENT = re.compile("^[ \t]+", re.MULTILINE)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        extensions=(_Unindented,),
        loader=jinja2.PackageLoader("unspool.site"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,  # markup is as it should be
        auto_reload=False,
    )
