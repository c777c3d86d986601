"""What a program asks of the archive, in JSON."""

from typing import Any

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.policy import policy_of
from unspool.hub.routes import hub, person
from unspool.hub.sessions import listing
from unspool.hub.sessions import push as pieces
from unspool.hub.sessions.listing import parse_page, story
from unspool.hub.sessions.push import push
from unspool.hub.sessions.search import search
from unspool.hub.sessions.usage import usage
from unspool.hub_client.manifest import Digest, PushManifest

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
