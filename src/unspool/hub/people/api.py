"""The JSON API about people: operations as routes, and what only programs ask for."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.people import erasure, holds, operations, projects, tokens, users
from unspool.hub.people.audit import AuditFilters, audit_as_json_lines, list_audit, mark_head, verify_audit
from unspool.hub.people.operations import Done, Operation, as_json, rows_as_json
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.people.rate_limit import count_attempt
from unspool.hub.people.users import Person
from unspool.hub.routes import HubRoute, Needs, client_address, hub, person, read_json, request_body
from unspool.hub.store.database import Database

_TRIES, _SPAN = 30, 3600
"""Invitations that one address may try in so many seconds."""
T = TypeVar("T", bound=msgspec.Struct)


def json_response(data: Any, status: int = 200) -> Response:
    return JSONResponse(data, status, {"Cache-Control": "no-store"})


def parse_body(request: Request, kind: type[T], path: Mapping[str, str] | None = None) -> T:
    """What was sent, with what the path says; BadRequest with the reason where it is not as it should be."""
    sent = read_json(request) if request_body(request) else {}
    try:
        return msgspec.convert({**sent, **(path or {})} if isinstance(sent, dict) else sent, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"What was sent is not as it should be: {error}.") from None


def run_operation(request: Request, operation: Operation, args: dict[str, Any], *, by_name: bool = False) -> Done:
    """Run an operation for whoever asks, and tell the audit log what it was about."""
    here = hub(request)
    url = here.terms.url or f"{request.url.scheme}://{request.headers.get('host', '')}"
    with here.store.db.transaction():
        done = operation(operations.Actor(here.store.db, person(request), by_name, url), **args)
    request.state.target, request.state.detail = done.target, done.detail
    return done


def route(method: str, path: str, operation: Operation, needs: Needs, scopes: tuple[str, ...] = ("all",)) -> HubRoute:
    def handler(request: Request) -> Response:
        args = parse_body(request, operations.arguments_of(operation), request.path_params)
        done = run_operation(request, operation, msgspec.structs.asdict(args))
        if done.data is None:
            return Response(status_code=204)
        return json_response(done.data, 201 if method == "POST" else 200)

    return HubRoute(path, handler, needs, operations.ACTS[operation], method, scopes)


def reading(path: str, read: Callable[[Request, Database], dict[str, Any]], needs: Needs, **more: Any) -> HubRoute:
    return HubRoute(path, lambda request: json_response(read(request, hub(request).store.db)), needs, **more)


def listing(
    path: str, rows: Callable[[Request, Database], Sequence[Any]], needs: Needs, key: str = "", **more: Any
) -> HubRoute:
    """An address of the API that lists rows, under `key` or the last word of its path."""
    name = key or path.rpartition("/")[2]
    return reading(path, lambda request, db: rows_as_json(name, rows(request, db)), needs, **more)


def _rows(rows: Callable[..., Sequence[Any]], word: str) -> Callable[[Request, Database], Sequence[Any]]:
    """Rows that are in force; all of them where the address says `all=1`, which `rows` takes as `word`."""
    return lambda request, db: rows(db, **{word: request.query_params.get("all") == "1"})


def _me(request: Request, db: Database) -> dict[str, Any]:
    who = person(request)
    return {
        "id": who.id,
        "name": who.name,
        "admin": who.admin,
        "scope": who.scope,
        "teams": [{"id": team.id, "name": team.name} for team in projects.list_teams(db, who.id)],
        **rows_as_json("projects", projects.list_projects(db, who)),
        "kept": users.bytes_kept(db, who.id),
        "quota": users.bytes_allowed(db, who.id, hub(request).terms.quota),
    }


def _teams(request: Request, db: Database) -> dict[str, Any]:
    """One's own, or all for admins."""
    who = person(request)
    return {"teams": [operations.team_as_json(team) for team in projects.list_teams(db, "" if who.admin else who.id)]}


def _person(request: Request, db: Database) -> dict[str, Any]:
    who = users.get_user(db, request.path_params["person"])
    return {**as_json(who), "kept": users.bytes_kept(db, who.id)}


def _tokens_of(request: Request, db: Database) -> list[tokens.Token]:
    return tokens.list_tokens(db, users.get_user(db, request.path_params["person"]).id)


def _rights(request: Request, db: Database) -> list[projects.Grant]:
    return projects.list_grants(db, projects.find_project(db, request.path_params["project"]))


class Acceptance(msgspec.Struct, forbid_unknown_fields=True):
    invitation: Annotated[str, Meta(max_length=200)]
    name: str = ""


def accept_invitation(request: Request) -> Response:
    """Become a person: the answer is the only one that holds the token."""
    db, wanted = hub(request).store.db, parse_body(request, Acceptance)
    try:
        tokens.check_nameable(hub(request).terms.header, tokens.open_invitation(db, wanted.invitation))
    except NotVisible:
        count_attempt(db, f"join address {client_address(request, hub(request).terms)}", _TRIES, _SPAN)
        raise
    taken = tokens.accept_invitation(db, wanted.invitation, wanted.name)
    request.state.target = taken.person
    return json_response({"person": taken.person, "name": taken.name, "token": taken.secret}, 201)


def audit(request: Request) -> Response:
    """Lines of the audit log that fit what is asked for, newest first; `before` in the answer leads to older ones."""
    query = request.query_params
    found = list_audit(hub(request).store.db, parse_audit_filters(query), parse_number(query, "limit") or 100)
    return json_response({"lines": [line.data() for line in found], "before": found[-1].seq if found else None})


def audit_file(request: Request) -> Response:
    """Every line that fits, oldest first, a JSON object each."""
    made = audit_as_json_lines(hub(request).store.db, parse_audit_filters(request.query_params))
    return StreamingResponse(made, media_type="application/jsonl", headers={"Cache-Control": "no-store"})


def audit_proof(request: Request) -> Response:
    """Whether the audit log is whole, and the head of its chain, to be kept elsewhere; `known` is one that was."""
    store = hub(request).store
    problems = verify_audit(store, request.query_params.get("known", ""))
    head = mark_head(store)
    return json_response({"whole": not problems, "problems": problems, "head": head._asdict()})


def parse_audit_filters(query: Mapping[str, str]) -> AuditFilters:
    words = {name: query.get(name, "") for name in ("person", "what", "target", "outcome")}
    since, until = parse_moment(query, "since"), parse_moment(query, "until")
    return AuditFilters(**words, since=since, until=until, before=parse_number(query, "before"))


def parse_moment(query: Mapping[str, str], name: str) -> int | None:
    """Milliseconds of the epoch; None where nothing is asked for."""
    if name not in query:
        return None
    try:
        found = datetime.fromisoformat(query[name])
    except ValueError:
        raise BadRequest(f"`{name}` is a date or a time, such as 2026-01-31T12:00Z.") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def parse_number(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise BadRequest(f"`{name}` is a whole number.")
    return int(text)


class ErasureRequest(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    id: str


def erase_thing(request: Request) -> Response:
    wanted, who, store = parse_body(request, ErasureRequest), person(request), hub(request).store
    request.state.target = wanted.id
    if not may_erase(store.db, who, wanted.kind, wanted.id):
        raise NotVisible("There is nothing of that kind and id that you could erase.")
    return json_response(erasure.erase_permanently(store, who, wanted.kind, wanted.id))


def may_erase(db: Database, who: Person, kind: str, target: str) -> bool:
    if kind == "share":
        row = db.row("SELECT owner FROM share WHERE address = ?", target)
        return row is not None and (who.admin or row[0] == who.id)
    if kind == "session":
        row = db.row("SELECT person, project FROM session WHERE id = ?", target)
        return row is not None and (row[0] == who.id or right_on_project(db, who, row[1]) is Right.OWN)
    if kind == "project":
        row = db.row("SELECT 1 FROM project WHERE id = ?", target)
        return row is not None and right_on_project(db, who, target) is Right.OWN
    return who.admin and db.row("SELECT 1 FROM person WHERE id = ?", target) is not None and kind == "person"


_ADMIN, _PERSON, _OWN = Needs.ADMIN, Needs.PERSON, Needs.OWN
_ANY = ("all", "read", "push")
_MEMBER = "/api/teams/{team}/members/{person}"
_PERMIT = "/api/permits/{project}/{kind}/{subject}"

ROUTES = (
    reading("/api/me", _me, _PERSON, scopes=_ANY),
    listing("/api/tokens", lambda request, db: tokens.list_tokens(db, person(request).id), _PERSON),
    route("POST", "/api/tokens", operations.add_own_token, _PERSON),
    route("DELETE", "/api/tokens/{token}", operations.end_token, _PERSON),
    listing("/api/people/{person}/tokens", _tokens_of, _ADMIN),
    route("POST", "/api/people/{person}/tokens", operations.add_token, _ADMIN),
    listing("/api/people", _rows(users.list_users, "everybody"), _ADMIN),
    route("POST", "/api/people", operations.add_person, _ADMIN),
    reading("/api/people/{person}", _person, _ADMIN),
    route("PATCH", "/api/people/{person}", operations.change_person, _ADMIN),
    route("DELETE", "/api/people/{person}", operations.end_person, _ADMIN),
    listing("/api/invitations", _rows(tokens.list_invitations, "everything"), _ADMIN),
    route("POST", "/api/invitations", operations.add_invitation, _ADMIN),
    route("DELETE", "/api/invitations/{id}", operations.end_invitation, _ADMIN),
    HubRoute("/api/join", accept_invitation, Needs.NOTHING, "invitation.take", "POST"),
    reading("/api/teams", _teams, _PERSON),
    route("POST", "/api/teams", operations.add_team, _ADMIN),
    route("DELETE", "/api/teams/{team}", operations.end_team, _ADMIN),
    route("PUT", _MEMBER, operations.join_team, _ADMIN),
    route("DELETE", _MEMBER, operations.leave_team, _ADMIN),
    listing("/api/projects", lambda request, db: projects.list_projects(db, person(request)), _PERSON, scopes=_ANY),
    route("POST", "/api/projects", operations.add_project, _PERSON, scopes=("all", "push")),
    listing("/api/permits/{project}", _rights, _OWN, "permits"),
    route("PUT", _PERMIT, operations.give_right, _OWN),
    route("DELETE", _PERMIT, operations.take_right, _OWN),
    HubRoute("/api/audit", audit, _ADMIN, "audit.read"),
    HubRoute("/api/audit.jsonl", audit_file, _ADMIN, "audit.read"),
    HubRoute("/api/audit/proof", audit_proof, _ADMIN),
    listing("/api/holds", _rows(holds.list_holds, "everything"), _ADMIN),
    route("POST", "/api/holds", operations.add_hold, _ADMIN),
    route("DELETE", "/api/holds/{id}", operations.end_hold, _ADMIN),
    listing("/api/erase", lambda _, db: erasure.list_tombstones(db), _ADMIN, "erased"),
    HubRoute("/api/erase", erase_thing, _PERSON, "erase", "POST", ("all",)),
    route("POST", "/api/erase/again", operations.allow_push_again, _ADMIN),
)
