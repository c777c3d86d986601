"""JSON API: oneself and one's tokens; parsing of bodies and making of responses."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unspool.hub.errors import BadRequest, Forbidden
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as archive
from unspool.hub.people.users import get_user
from unspool.hub.routes import HubRoute, Needs, hub, person, request_body
from unspool.hub.store.blobs import DAY, now

_TIMES = frozenset({"at", "created", "ended", "expires", "taken", "used"})
T = TypeVar("T", bound=msgspec.Struct)


class RequestBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is sent; a field that is not meant is a mistake worth telling."""


def parse_body(request: Request, kind: type[T]) -> T:
    """What was sent, as it should be; Unfit with the reason where it is not."""
    try:
        return msgspec.json.decode(request_body(request) or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"What was sent is not as it should be: {error}.") from None


def as_json(found: Any) -> dict[str, Any]:
    """A row as JSON has it, its times as text."""
    said = found._asdict()
    return {name: json_time(value) if name in _TIMES else value for name, value in said.items()}


def json_time(value: int | None) -> str | None:
    """A time as JSON has it."""
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")


def json_response(said: Any, status: int = 200) -> Response:
    """An answer that nobody keeps."""
    return JSONResponse(said, status, {"Cache-Control": "no-store"})


def no_content() -> Response:
    """It is done, and there is nothing to say."""
    return Response(status_code=204)


def set_audit_target(request: Request, what: str) -> None:
    """Tell the audit log what was meant, where the path does not."""
    request.state.target = what


def set_audit_detail(request: Request, **said: str) -> None:
    """Tell the audit log more: ids and words of the hub's own, never a name."""
    request.state.detail = said


_EVERY = ("all", "read", "push")


class NewToken(RequestBody, frozen=True):
    """A token that is wanted."""

    label: str = ""
    scope: str = "all"
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    """Until it expires; none: never."""


def get_me(request: Request) -> Response:
    who, db = person(request), hub(request).store.db
    return json_response(
        {
            "id": who.id,
            "name": who.name,
            "admin": who.admin,
            "scope": who.scope,
            "teams": [{"id": team.id, "name": team.name} for team in projects.list_teams(db, who.id)],
            "projects": [as_json(project) for project in archive.list_projects(db, who)],
            "kept": users.bytes_kept(db, who.id),
            "quota": users.bytes_allowed(db, who.id, hub(request).terms.quota),
        }
    )


def list_own_tokens(request: Request) -> Response:
    """One's own tokens, without their secrets."""
    return json_response(
        {"tokens": [as_json(token) for token in tokens.list_tokens(hub(request).store.db, person(request).id)]}
    )


def create_own_token(request: Request) -> Response:
    """A token of one's own: the answer is the only one that holds it."""
    return json_response(issue_token(request, person(request).id), 201)


def issue_token(request: Request, owner: str) -> dict[str, str]:
    """A token of somebody, who may be the one who asks."""
    wanted = parse_body(request, NewToken)
    expires = None if wanted.days is None else now() + wanted.days * DAY
    if person(request).scope != "all":
        raise Forbidden("A token of another scope makes no tokens.")
    if wanted.scope == "metrics" and not person(request).admin:
        raise Forbidden("Only admins make tokens for the hub's figures.")
    wish = tokens.NewTokenOptions(owner, wanted.label, scope=wanted.scope, expires=expires)
    secret = tokens.create_token(hub(request).store.db, wish)
    set_audit_target(request, owner)
    return {"token": secret, "person": owner, "scope": wanted.scope}


def revoke_any_token(request: Request) -> Response:
    """Revoke a token: one's own, or anybody's for admins."""
    who = person(request)
    tokens.revoke_token(hub(request).store.db, request.path_params["token"], "" if who.admin else who.id)
    return no_content()


def list_tokens_of(request: Request) -> Response:
    db = hub(request).store.db
    return json_response(
        {"tokens": [as_json(token) for token in tokens.list_tokens(db, get_user(db, request.path_params["person"]).id)]}
    )


def create_token_of(request: Request) -> Response:
    """A token of somebody else, such as a service, for admins."""
    return json_response(issue_token(request, get_user(hub(request).store.db, request.path_params["person"]).id), 201)


ROUTES = (
    HubRoute("/api/me", get_me, Needs.PERSON, scopes=_EVERY),
    HubRoute("/api/tokens", list_own_tokens, Needs.PERSON),
    HubRoute("/api/tokens", create_own_token, Needs.PERSON, "token.make", "POST", ("all",)),
    HubRoute("/api/tokens/{token}", revoke_any_token, Needs.PERSON, "token.revoke", "DELETE", ("all",)),
    HubRoute("/api/people/{person}/tokens", list_tokens_of, Needs.ADMIN),
    HubRoute("/api/people/{person}/tokens", create_token_of, Needs.ADMIN, "token.make", "POST", ("all",)),
)
