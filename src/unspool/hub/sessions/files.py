"""The files of a pushed session, given back byte for byte as they were sent."""

from collections.abc import Iterator
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unspool.hub.asked import hub
from unspool.hub.hub import Hub
from unspool.hub.sessions import versions
from unspool.hub.trouble import Hidden
from unspool.remote.manifest import LOG, Piece

_LINES = "application/x-ndjson"
_BYTES = "application/octet-stream"


def listed(request: Request) -> Response:
    """The files of a session; earlier versions that a later push did not go on from have a `~` in their names."""
    here, session = hub(request), request.path_params["session"]
    files = versions.kept(here.store.db, session)
    told = [{"name": name, "size": sum(piece.size for piece in parts)} for name, parts in files.items()]
    return JSONResponse({"session": session, "files": told})


def log(request: Request) -> Response:
    """The log."""
    here, session = hub(request), request.path_params["session"]
    row = here.store.db.row("SELECT key FROM session WHERE id = ?", session)
    return _given(here, session, f"{row[0]}{LOG}" if row else "")


def one(request: Request) -> Response:
    """Any file, by its name."""
    return _given(hub(request), request.path_params["session"], request.path_params["name"])


def _given(here: Hub, session: str, name: str) -> Response:
    parts = versions.kept(here.store.db, session).get(name)
    if parts is None:
        raise Hidden("There is nothing at this address.")
    kind = _LINES if LOG in name else _BYTES
    headers = {
        "Content-Length": str(sum(piece.size for piece in parts)),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rsplit('/', 1)[-1])}",
        "Cache-Control": "private, no-cache",
    }
    return StreamingResponse(_stream(here, parts), media_type=kind, headers=headers)


def _stream(here: Hub, parts: tuple[Piece, ...]) -> Iterator[bytes]:
    return (chunk for piece in parts for chunk in here.store.blobs.read(piece.digest))
