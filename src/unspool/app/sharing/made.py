"""What was made and has more to tell than a file: the key that opens it, or the address it has now."""

import secrets
import threading
from collections import OrderedDict
from typing import NamedTuple
from urllib.parse import quote
from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from unspool.app.desk import Desk
from unspool.app.render import HOME, page, render
from unspool.app.sharing.ways import File
from unspool.errors import NotFound
from unspool.human import size
from unspool.site.frame import Crumb

HELD = 2
"""Results held at once; each is forgotten with the app."""


class Result(NamedTuple):
    """A file with its key, or the two addresses of a gist."""

    session: str
    file: File | None = None
    name: str = ""
    key: str = ""
    addresses: tuple[tuple[str, str], ...] = ()


class Results:
    """The last results of a desk, by names that nobody can guess."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Result] = OrderedDict()

    def keep(self, result: Result) -> str:
        """Hold a result; what it is called."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._held[name] = result
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        return name

    def find(self, session: str, name: str) -> Result:
        """The result of that name; NotFound where it is no longer held, or is of another session."""
        found = self._held.get(name)
        if found is None or found.session != session:
            raise NotFound("This was made too long ago; make it again.")
        return found


def result(request: Request) -> HTMLResponse:
    """The page that tells of a result."""
    key, found = _found(request)
    review = f"s/{quote(key, safe='')}/share"
    about = size(len(found.file.data)) if found.file is not None else ""
    body = render("share_made.html", review=f"/{review}", here=request.url.path, made=found, size=about)
    return page(request, "Made", body, (HOME, Crumb("Share", review)), ("app.css", "share.css"), ("share.js",))


def download(request: Request) -> Response:
    """The file of a result."""
    _, found = _found(request)
    if found.file is None:
        raise NotFound("There is no file to download.")
    return downloaded(found.file, found.name)


def downloaded(file: File, name: str) -> Response:
    """A file that a browser saves."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.type, headers=headers)


def _found(request: Request) -> tuple[str, Result]:
    key: str = request.path_params["key"]
    return key, results_of(request.app.state.desk).find(key, request.path_params["name"])


_DESKS: "WeakKeyDictionary[Desk, Results]" = WeakKeyDictionary()
_ONE = threading.Lock()


def results_of(desk: Desk) -> Results:
    """What was made at a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, Results())
