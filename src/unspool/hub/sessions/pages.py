"""Pages and files of pushed sessions, served from the object store."""

import threading
from collections.abc import Iterator
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unspool.files import scratch_folder
from unspool.hub.errors import NotVisible
from unspool.hub.routes import Hub, hub
from unspool.hub.sessions import session_store
from unspool.hub.sessions.process_push import SENT, remake_pages
from unspool.hub.sessions.session_store import assemble_file, keep_pages
from unspool.hub.store.blobs import unpack
from unspool.hub.workers import worker_pool
from unspool.hub_client.manifest import LOG, FilePiece
from unspool.site.build.manifest import fingerprint

_PAGE = "SELECT session_page.digest, session_page.kind, session.made FROM session_page JOIN session"
_ROOM = threading.BoundedSemaphore(4)
"""Sessions whose pages are made anew at the same time."""
_AT_ONCE = 1024 * 1024
"""Bytes up to which a page is sent whole: a piece at a time costs a change of threads each."""
_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}


def get_page(request: Request) -> Response:
    """A page of a session."""
    here, session, name = hub(request), request.path_params["session"], request.path_params.get("page") or "index.html"
    found = _found(here, session, name)
    if found is None or found[2] != fingerprint():
        found = _renewed(here, session, name) or found
    if found is None:
        raise NotVisible("There is nothing at this address.")
    digest, kind, _ = found
    headers = {**_HEADERS, "ETag": f'"{digest}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return _answer(here, digest, kind, headers, packed="gzip" in request.headers.get("accept-encoding", ""))


def _answer(here: Hub, digest: str, kind: str, headers: dict[str, str], *, packed: bool) -> Response:
    blob, data = here.store.blobs.packed(digest)
    as_is = packed and blob.encoding == "gzip"
    headers = headers | ({"Content-Encoding": "gzip", "Content-Length": str(blob.stored)} if as_is else {})
    body = data if as_is else unpack(data, blob.encoding)
    if (blob.stored if as_is else blob.size) <= _AT_ONCE:
        return Response(b"".join(body), media_type=f"{kind}; charset=utf-8", headers=headers)
    return StreamingResponse(body, media_type=f"{kind}; charset=utf-8", headers=headers)


def _found(here: Hub, session: str, name: str) -> tuple[str, str, str] | None:
    sql = f"{_PAGE} ON session.id = session_page.session WHERE session_page.session = ? AND session_page.name = ?"
    row = here.store.db.row(sql, session, name)
    return (row[0], row[1], row[2]) if row else None


def _renewed(here: Hub, session: str, name: str) -> tuple[str, str, str] | None:
    """A page as this version makes it; None while so many are made already that others would have to wait."""
    if not _ROOM.acquire(blocking=False):
        return None
    try:
        _made_anew(here, session)
        return _found(here, session, name)
    finally:
        _ROOM.release()


def _made_anew(here: Hub, session: str) -> None:
    """Make the pages of a session as this version does, whoever else does so too; its words and figures stay."""
    db, blobs = here.store.db, here.store.blobs
    row = db.row("SELECT key, state, made FROM session WHERE id = ?", session)
    if row is None or row[2] == fingerprint():
        return
    key, state, _ = row
    with scratch_folder() as folder:
        for name, parts in session_store.kept_files(db, session).items():
            if "~" not in name:
                assemble_file(blobs, parts, folder / SENT / name)
        made = worker_pool().run(remake_pages, folder, key)
        keep_pages(blobs, made, folder)
        with db.transaction():
            db.alone(f"session {session}")
            if session_store.state_of(db, session) == state and blobs.held(page.digest for page in made):
                db.run("DELETE FROM session_page WHERE session = ?", session)
                session_store.write_pages(db, session, made)
                db.run("UPDATE session SET made = ? WHERE id = ?", fingerprint(), session)


_LINES = "application/x-ndjson"
_BYTES = "application/octet-stream"


def list_files(request: Request) -> Response:
    """The files of a session; earlier versions that a later push did not go on from have a `~` in their names."""
    here, session = hub(request), request.path_params["session"]
    files = session_store.kept_files(here.store.db, session)
    told = [{"name": name, "size": sum(piece.size for piece in parts)} for name, parts in files.items()]
    return JSONResponse({"session": session, "files": told})


def get_log(request: Request) -> Response:
    here, session = hub(request), request.path_params["session"]
    row = here.store.db.row("SELECT key FROM session WHERE id = ?", session)
    return _given(here, session, f"{row[0]}{LOG}" if row else "")


def get_file(request: Request) -> Response:
    """Any file, by its name."""
    return _given(hub(request), request.path_params["session"], request.path_params["name"])


def _given(here: Hub, session: str, name: str) -> Response:
    parts = session_store.kept_files(here.store.db, session).get(name)
    if parts is None:
        raise NotVisible("There is nothing at this address.")
    kind = _LINES if LOG in name else _BYTES
    headers = {
        "Content-Length": str(sum(piece.size for piece in parts)),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rsplit('/', 1)[-1])}",
        "Cache-Control": "private, no-cache",
    }
    return StreamingResponse(_stream(here, parts), media_type=kind, headers=headers)


def _stream(here: Hub, parts: tuple[FilePiece, ...]) -> Iterator[bytes]:
    return (chunk for piece in parts for chunk in here.store.blobs.read(piece.digest))
