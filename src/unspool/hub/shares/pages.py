"""The pages of a share on the hub: the site's, with a line that copies the link, and a picture for previews."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from unspool.export.html import worn
from unspool.figures import Figures, figures
from unspool.hub.web.render import render
from unspool.prices import PriceTable
from unspool.share import picture
from unspool.share.prepare import Share, Shared
from unspool.site import look
from unspool.site.address import INDEX
from unspool.site.build.one import session_folder
from unspool.site.frame import Frame, Preview
from unspool.site.look import Asset, Dress
from unspool.site.options import SiteOptions

PICTURE = "preview.svg"
_STATIC = Path(__file__).parents[1] / "static"
_LENT = Path(__file__).parents[2] / "app" / "static"
_SCRIPT, _STYLE, _ICON = "shared.js", "shared.css", "icon.svg"
_UNUSED = "records.words"
"""Only an archive's index reads it."""


class SharePages:
    """The pages of a share; `address` is where they are found, if the hub knows its own name."""

    def __init__(self, share: Share, prices: PriceTable, address: str, *, raw: bool) -> None:
        self._share, self._prices, self._address, self._raw = share, prices, address, raw
        self._options = SiteOptions()

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of every file."""
        yield from look.assets()
        yield from (_own(name) for name in (_STYLE, _SCRIPT, _ICON))
        main = self._share.main.session
        yield PICTURE, picture.picture(main, figures(main, self._prices))
        for one, place in self._placed():
            counted = figures(one.session, self._prices)
            for name, data in session_folder(one.session, counted, self._options, self._frame(one, counted, place)):
                if name != _UNUSED:
                    yield place + name, data

    def _frame(self, one: Shared, counted: Figures, place: str) -> Frame:
        root = "../" if place else ""
        return Frame(
            root=root,
            sessions={other.session.id: f"{where}{INDEX}" for other, where in self._placed()},
            prices=self._prices,
            dress=self._dress(root),
            inset=str(render("shared_bar.html", root=root, raw=self._raw)),
            preview=self._preview(counted, root),
        )

    def _dress(self, root: str) -> Dress:
        worn_before = look.dress(self._options, root)
        return worn_before._replace(
            styles=worn_before.styles
            + render("styles.html", icon=root + _own(_ICON).path, hrefs=[root + _own(_STYLE).path]),
            scripts=worn_before.scripts + _markup(worn.script(root + _own(_SCRIPT).path)),
        )

    def _preview(self, counted: Figures, root: str) -> Preview:
        drawn = f"{self._address}{PICTURE}" if self._address else f"{root}{PICTURE}"
        report = self._share.report
        note = f"shared: {report.note()}" if report.rules else "shared"
        return Preview(picture.described(counted), drawn, self._address, note)

    def _placed(self) -> Iterator[tuple[Shared, str]]:
        """Every session and the folder that it lies in, below the one that is meant."""
        yield self._share.main, ""
        for word, others in (("before", self._share.before), ("after", self._share.after)):
            for number, one in enumerate(others, 1):
                yield one, f"{word}-{number}/"


def _own(name: str) -> Asset:
    """A file of the hub's look, with a name that changes with its content."""
    data = (_LENT if name == _ICON else _STATIC).joinpath(name).read_bytes().replace(b"\r\n", b"\n")
    stem, _, kind = name.partition(".")
    return Asset(f"{look.FOLDER}/{stem}-{sha256(data).hexdigest()[:12]}.{kind}", data)


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704  made by a writer
