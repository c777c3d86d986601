"""Styles and scripts: the site's own and the app's, by their hashed names, kept by browsers for good."""

from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.site import look

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_OWN = Path(__file__).parent / "static"


def name_of(path: Path) -> str:
    """The address of one of the app's own files: it changes with its content."""
    return f"/app/{path.stem}-{sha256(path.read_bytes()).hexdigest()[:10]}{path.suffix}"


_FILES = {name_of(path): path for path in sorted(_OWN.glob("*.*")) if path.suffix in _TYPES}
OWN = {path.name: name for name, path in _FILES.items()}
"""The addresses of the app's own files, by their plain names."""
_SITE = {f"/{name}": data for name, data in look.assets()}


def asset(request: Request) -> Response:
    """A file of the look; nothing else has an address here."""
    path = request.url.path
    data = _SITE.get(path) if path in _SITE else _FILES[path].read_bytes()
    kind = _TYPES.get(Path(path).suffix, "application/octet-stream")
    return Response(data, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


ROUTES = [Route(path, asset) for path in (*_SITE, *_FILES)]
