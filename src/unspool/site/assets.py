"""What pages wear: styles and scripts, as hashed files shared by a site or inside each page, and the policy that
lets a browser run exactly these.

A file's name changes with its content, so a site never shows old styles with new pages. `file:` stands beside
`'self'` in the policy because browsers differ in whether a page on disk is its own origin; served over the web
it permits nothing.
"""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from unspool.render.html import elements
from unspool.site.options import SiteOptions

ASSETS_FOLDER = "assets"
STYLES = ("look.css", "search.css")
SCRIPTS = ("page.js", "search.js")
HIGHLIGHTER = "highlight.min.js"
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
def site_page_head(options: SiteOptions, root: str, code: bool = True) -> PageHead:
    """The head of a page that lies `root` below the site's root; `code` says whether it has any to highlight."""
    styles, scripts = [load_asset(name) for name in STYLES], [load_asset(name) for name in SCRIPTS]
    if not options.self_contained:
        return PageHead(
            _policy("'self' file:", "'self' file:"),
            _joined(elements.stylesheet(root + one.path) for one in styles),
            _joined(elements.script(root + one.path) for one in scripts),
            root + load_asset(HIGHLIGHTER).path,
        )
    scripts += [load_asset(HIGHLIGHTER)] if code else []
    return PageHead(
        _policy(" ".join(one.policy for one in styles), " ".join(one.policy for one in scripts)),
        _joined(elements.style_inside(one.data.decode()) for one in styles),
        _joined(elements.script_inside(one.data.decode()) for one in scripts),
        "",
    )


def _joined(parts: Iterable[str]) -> Markup:
    return Markup("".join(parts))  # noqa: S704


def _policy(styles: str, scripts: str) -> str:
    return (
        f"default-src 'none'; img-src 'self' data:; style-src {styles}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )
