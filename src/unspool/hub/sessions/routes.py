"""The team archive as programs and browsers reach it: lists, files, pages, pushes."""

from typing import Any, cast
from urllib.parse import quote

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, NotVisible, StoreUnavailable
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.policy import policy_of
from unspool.hub.routes import Hub, HubRoute, Needs, blob_response, hub, person, read_json, request_body
from unspool.hub.sessions import listing, session_store
from unspool.hub.sessions.listing import parse_page, story
from unspool.hub.sessions.process_push import make_session
from unspool.hub.sessions.search import search
from unspool.hub.sessions.usage import usage
from unspool.hub.store.database import find_id
from unspool.hub.store.texts import known_parts, texts_of
from unspool.hub.workers import worker_pool
from unspool.hub_client.manifest import LOG, MANIFEST, PACKED, Digest, PushManifest
from unspool.site.build.manifest import fingerprint

_MOST = 10_000
_LONGEST = 2_000
_PUSHES = 6
_ENCODER = msgspec.json.Encoder(order="deterministic")


class HaveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    digests: tuple[Digest, ...] = ()
    states: tuple[Digest, ...] = ()


def json_response(value: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(value), status, media_type="application/json")


def have(request: Request) -> Response:
    wanted = read_json(request, HaveRequest)
    if len(wanted.digests) + len(wanted.states) > _MOST:
        raise BadRequest(f"At most {_MOST:,} are asked for at once.")
    db, who = hub(request).store.db, person(request)
    lacks = session_store.missing_pieces(db, who.id, wanted.digests)
    states = session_store.unknown_states(db, who.id, _project(request), wanted.states)
    return json_response({"lacks": lacks, "states": states})


def piece(request: Request) -> Response:
    session_store.take_piece(hub(request), person(request), request.path_params["digest"], request_body(request))
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
    done = session_store.push(hub(request), person(request), _project(request), read_json(request, PushManifest))
    request.state.target = done.session
    return json_response(done._asdict(), 202 if done.lacks else 200)


def get_policy(request: Request) -> Response:
    """What the hub wants replaced before it is sent, and what it refuses."""
    db, named = hub(request).store.db, request.query_params.get("project", "")
    project = find_id(db, "project", named) if named else ""
    if project is None or (project and right_on_project(db, person(request), project) is Right.NONE):
        raise NotVisible("There is nothing at this address.")
    return json_response(policy_of(db, project))


def list_sessions(request: Request) -> Response:
    """The sessions of a project, or of every project that one may read."""
    given = request.query_params
    part = parse_page(given.get("after", ""), given.get("limit", ""))
    project = _project(request) if "project" in request.path_params else ""
    found = listing.list_sessions(hub(request).store.db, person(request), listing.parse_filters(given), part, project)
    return json_response(found._asdict())


def get_session(request: Request) -> Response:
    return json_response(
        listing.get_session_facts(hub(request).store.db, person(request), request.path_params["session"])
    )


def get_story(request: Request) -> Response:
    found = story(hub(request).store.db, person(request), request.path_params["session"])
    return json_response({"story": found})


def search_sessions(request: Request) -> Response:
    given = request.query_params
    part = parse_page(given.get("after", ""), given.get("limit", ""), 20)
    return json_response(search(hub(request).store, person(request), given.get("q", "")[:_LONGEST], part))


def get_usage(request: Request) -> Response:
    given, db = request.query_params, hub(request).store.db
    return json_response(usage(db, person(request), given.get("by", "week"), listing.parse_filters(given)))


def _project(request: Request) -> str:
    """The project that a path names, on which the right was checked."""
    return cast("str", request.state.project)


_PAGE = "SELECT session_page.digest, session_page.kind, session.made FROM session_page JOIN session"
_LOOKS = 4
"""Sessions whose pages are made at the same time; who asks for others waits where they keep nobody else waiting."""
_TRIES = 5
_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}


async def get_page(request: Request) -> Response:
    """A page as it is kept; the first look at a session makes its pages. Older ones are shown while many are made."""
    kept = await run_in_threadpool(_kept_page, request, fingerprint())
    if kept is not None:
        return kept
    state = request.app.state
    if not hasattr(state, "looks"):
        state.looks = CapacityLimiter(_LOOKS)
    if not state.looks.available_tokens:
        kept = await run_in_threadpool(_kept_page, request)
    if kept is None:
        await to_thread.run_sync(_make_pages, hub(request), request.path_params["session"], limiter=state.looks)
        kept = await run_in_threadpool(_kept_page, request)
    if kept is None:
        raise NotVisible("There is nothing at this address.")
    return kept


def _kept_page(request: Request, made: str = "") -> Response | None:
    """A page, if it is there; with `made`, if that version made it."""
    session, name = request.path_params["session"], request.path_params.get("page") or "index.html"
    sql = f"{_PAGE} ON session.id = session_page.session WHERE session_page.session = ? AND session_page.name = ?"
    row = hub(request).store.db.row(sql, session, name)
    if row is None or made not in ("", row[2]):
        return None
    digest, kind, _ = row
    return blob_response(request, digest, f"{kind}; charset=utf-8", {**_HEADERS, "ETag": f'"{digest}"'})


def _make_pages(here: Hub, session: str) -> None:
    """Have the pages of a session as this version makes them, and as it was pushed last."""
    for _ in range(_TRIES):
        if _write_pages(here, session):
            return
    raise StoreUnavailable("This session is pushed again and again at the moment; try again.")


def _write_pages(here: Hub, session: str) -> bool:
    """Make the pages and words of a session as this version does, whoever else does so too; of its figures, those stay
    that prices change. False where it was pushed again meanwhile, and nothing was written."""
    db, blobs = here.store.db, here.store.blobs
    row = db.row("SELECT key, state, made FROM session WHERE id = ?", session)
    if row is None or row[2] == fingerprint():
        return True
    key, state, before = row
    there = known_parts(db, session)
    known = {} if before else there  # those of another version may tell less
    with scratch_folder() as folder:
        session_store.assemble_session(here.store, session, folder)
        made = worker_pool().run(make_session, folder, key, known, None, pages=True)
        session_store.keep_made(here.store, made)
        former = texts_of(db, session)
        with db.transaction():
            db.alone(f"session {session}")
            same = (session_store.state_of(db, session), known_parts(db, session)) == (state, there)
            written = same and blobs.held(one.digest for one in made.contents)
            if written:
                db.run("DELETE FROM session_page WHERE session = ?", session)
                session_store.write_pages(db, session, made.pages)
                session_store.write_made_texts(here.store, session, made, folder)
                names = (
                    "errors",
                    "refused",
                    "interrupted",
                    "unanswered",
                    "forked",
                    "commits",
                    "files",
                    "added",
                    "removed",
                )
                columns = ", ".join(f"{name} = ?" for name in ("made", "asked", *names))
                values: list[str | int] = [made.facts.asked, *(int(getattr(made.facts, name)) for name in names)]
                db.run(f"UPDATE session SET {columns} WHERE id = ?", fingerprint(), *values, session)  # noqa: S608
    blobs.drop(former)
    return written


_LINES = "application/x-ndjson"
_BYTES = "application/octet-stream"


def list_files(request: Request) -> Response:
    """The files of a session; earlier versions that a later push did not go on from have a `~` in their names."""
    here, session = hub(request), request.path_params["session"]
    files = session_store.kept_files(here.store.db, session)
    sizes = [{"name": name, "size": sum(piece.size for piece in parts)} for name, parts in files.items()]
    return JSONResponse({"session": session, "files": sizes})


def get_log(request: Request) -> Response:
    here, session = hub(request), request.path_params["session"]
    row = here.store.db.row("SELECT key FROM session WHERE id = ?", session)
    return _given(here, session, f"{row[0]}{LOG}" if row else "")


def get_file(request: Request) -> Response:
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
    body = (chunk for piece in parts for chunk in here.store.blobs.read(piece.digest))
    return StreamingResponse(body, media_type=kind, headers=headers)


_PUSH = ("all", "push")
_PROJECT = "/api/projects/{project}"
_SESSION = "/api/archive/{session}"

ROUTES = (
    HubRoute("/api/policy", get_policy, Needs.PERSON, scopes=("all", "read", "push")),
    HubRoute(f"{_PROJECT}/have", have, Needs.WRITE, method="POST", scopes=_PUSH, body=2 * 1024 * 1024),
    HubRoute(f"{_PROJECT}/blobs/{{digest}}", piece, Needs.WRITE, method="PUT", scopes=_PUSH, body=PACKED),
    HubRoute(f"{_PROJECT}/sessions", take_push, Needs.WRITE, "session.push", "POST", _PUSH, MANIFEST),
    HubRoute(f"{_PROJECT}/sessions", list_sessions, Needs.READ, "session.list"),
    HubRoute("/api/archive", list_sessions, Needs.PERSON, "session.list"),
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
