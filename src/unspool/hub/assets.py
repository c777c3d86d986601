"""The look of the pages that are the hub's own, by hashed names, kept by browsers for good."""

from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from unspool import app as lists
from unspool.hub.ways import Needs, Way
from unspool.site import look

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_STATIC = Path(__file__).parent / "static"
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
_ALL = {**{f"/{name}": data for name, data in look.assets()}, **_FILES}


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


WAYS = (
    *(Way(path, asset, Needs.NOTHING, free=True) for path in _ALL),
    Way("/favicon.ico", icon, Needs.NOTHING, free=True),
)
