"""The team archive as programs and browsers reach it: lists, files, pages, pushes."""

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.policy import policy_of
from unspool.hub.routes import Hub, HubRoute, Needs, hub, person
from unspool.hub.sessions import listing, session_store
from unspool.hub.sessions import push as pieces
from unspool.hub.sessions.listing import parse_page, story
from unspool.hub.sessions.process_push import SENT, remake_pages
from unspool.hub.sessions.push import push
from unspool.hub.sessions.search import search
from unspool.hub.sessions.session_store import assemble_file, keep_pages
from unspool.hub.sessions.usage import usage
from unspool.hub.store.blobs import unpack
from unspool.hub.workers import worker_pool
from unspool.hub_client.manifest import LOG, MANIFEST, PACKED, Digest, FilePiece, PushManifest
from unspool.site.build.manifest import fingerprint

_MOST = 10_000
_LONGEST = 2_000
_PUSHES = 6
_ENCODER = msgspec.json.Encoder(order="deterministic")


class HaveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody is about to send: pieces, and whole sessions by their states."""

    digests: tuple[Digest, ...] = ()
    states: tuple[Digest, ...] = ()


def json_response(value: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(value), status, media_type="application/json")


def request_body(request: Request) -> bytes:
    """What was sent, which `door` has read whole."""
    return request._body


def have(request: Request) -> Response:
    """Which of some pieces and sessions this person has to send."""
    asked = _decoded(request_body(request), HaveRequest)
    if len(asked.digests) + len(asked.states) > _MOST:
        raise BadRequest(f"At most {_MOST:,} are asked for at once.")
    db, who = hub(request).store.db, person(request)
    lacks = pieces.missing_pieces(db, who.id, asked.digests)
    return json_response({"lacks": lacks, "states": pieces.unknown_states(db, who.id, _project(request), asked.states)})


def piece(request: Request) -> Response:
    pieces.take_piece(hub(request), person(request), request.path_params["digest"], request_body(request))
    return Response(status_code=204)


async def take_push(request: Request) -> Response:
    """Take a session in; 202 and what is lacking, where pieces have to be sent first and nothing was done.

    A few are taken in at a time; the others wait where they keep nobody else waiting.
    """
    state = request.app.state
    if not hasattr(state, "pushes"):
        state.pushes = CapacityLimiter(_PUSHES)
    return await to_thread.run_sync(_pushed, request, limiter=state.pushes)


def _pushed(request: Request) -> Response:
    done = push(hub(request), person(request), _project(request), _decoded(request_body(request), PushManifest))
    request.state.target = done.session
    return json_response(done._asdict(), 202 if done.lacks else 200)


def get_policy(request: Request) -> Response:
    """What the hub wants replaced before it is sent, and what it refuses."""
    db, named = hub(request).store.db, request.query_params.get("project", "")
    if not named:
        return json_response(policy_of(db))
    found = db.row("SELECT id FROM project WHERE id = ? OR name = ?", named, named)
    if found is None or right_on_project(db, person(request), found[0]) is Right.NONE:
        raise NotVisible("There is nothing at this address.")
    return json_response(policy_of(db, found[0]))


def list_project_sessions(request: Request) -> Response:
    """The sessions of a project."""
    return _listed(request, _project(request))


def list_all_sessions(request: Request) -> Response:
    """The sessions of every project that one may read."""
    return _listed(request, "")


def get_session(request: Request) -> Response:
    """What is known of a session."""
    return json_response(listing.get_session_facts(hub(request).store.db, request.path_params["session"]))


def get_story(request: Request) -> Response:
    """The story that a session is of."""
    found = story(hub(request).store.db, person(request), request.path_params["session"])
    return json_response({"story": found})


def search_sessions(request: Request) -> Response:
    given = request.query_params
    part = parse_page(given.get("after", ""), given.get("limit", ""), 20)
    return json_response(search(hub(request).store.db, person(request), given.get("q", "")[:_LONGEST], part))


def get_usage(request: Request) -> Response:
    given = request.query_params
    return json_response(
        usage(hub(request).store.db, person(request), given.get("by", "week"), listing.parse_filters(given))
    )


def _listed(request: Request, project: str) -> Response:
    given = request.query_params
    part = parse_page(given.get("after", ""), given.get("limit", ""))
    found = listing.list_sessions(hub(request).store.db, person(request), listing.parse_filters(given), part, project)
    return json_response(found._asdict())


def _project(request: Request) -> str:
    """The id of the project that the path names, which `door` has found already."""
    db, named = hub(request).store.db, request.path_params["project"]
    found = db.row("SELECT id FROM project WHERE id = ? OR name = ?", named, named)
    if found is None:
        raise NotVisible("There is nothing at this address.")
    return str(found[0])


def _decoded(data: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"What was sent is not what it should be: {error}.") from None


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


_PUSH = ("all", "push")
_PROJECT = "/api/projects/{project}"
_SESSION = "/api/archive/{session}"

ROUTES = (
    HubRoute("/api/policy", get_policy, Needs.PERSON, scopes=("all", "read", "push")),
    HubRoute(f"{_PROJECT}/have", have, Needs.WRITE, method="POST", scopes=_PUSH, body=2 * 1024 * 1024),
    HubRoute(f"{_PROJECT}/blobs/{{digest}}", piece, Needs.WRITE, method="PUT", scopes=_PUSH, body=PACKED),
    HubRoute(f"{_PROJECT}/sessions", take_push, Needs.WRITE, "session.push", "POST", _PUSH, MANIFEST),
    HubRoute(f"{_PROJECT}/sessions", list_project_sessions, Needs.READ, "session.list"),
    HubRoute("/api/archive", list_all_sessions, Needs.PERSON, "session.list"),
    HubRoute(_SESSION, get_session, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/story", get_story, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/files", list_files, Needs.READ, "session.read"),
    HubRoute(f"{_SESSION}/files/{{name:path}}", get_file, Needs.READ, "session.download"),
    HubRoute(f"{_SESSION}/log", get_log, Needs.READ, "session.download"),
    HubRoute("/api/search", search_sessions, Needs.PERSON, "session.search"),
    HubRoute("/api/usage", get_usage, Needs.PERSON, "session.usage"),
    HubRoute("/sessions/{session}/", get_page, Needs.READ, "session.view"),
    HubRoute("/sessions/{session}/{page:path}", get_page, Needs.READ, "session.view"),
)
