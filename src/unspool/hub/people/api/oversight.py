"""JSON API: audit log, legal holds and erasure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.people import erasure, holds
from unspool.hub.people.api.account import RequestBody, as_json, json_response, no_content, parse_body, set_audit_target
from unspool.hub.people.audit import AuditFilters, audit_as_json_lines, list_audit, seal_audit, verify_audit
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.people.users import Person
from unspool.hub.routes import HubRoute, Needs, hub, person
from unspool.hub.store.database import Database


class NewHold(RequestBody, frozen=True):
    """What is to be held: a person, project, session or share by its id."""

    kind: str
    id: str
    reason: Annotated[str, Meta(max_length=1000)] = ""


def audit(request: Request) -> Response:
    """Lines of the audit log that fit what is asked for, newest first; `before` in the answer leads to older ones."""
    asked = request.query_params
    found = list_audit(hub(request).store.db, parse_audit_filters(asked), parse_number(asked, "limit") or 100)
    more = found[-1].seq if found else None
    return json_response({"lines": [line.data() for line in found], "before": more})


def audit_file(request: Request) -> Response:
    """Every line that fits, oldest first, a JSON object each."""
    made = audit_as_json_lines(hub(request).store.db, parse_audit_filters(request.query_params))
    return StreamingResponse(made, media_type="application/jsonl", headers={"Cache-Control": "no-store"})


def audit_proof(request: Request) -> Response:
    """Whether the audit log is whole, and the head of its chain, to be kept elsewhere; `known` is one that was."""
    db = hub(request).store.db
    problems = verify_audit(db, request.query_params.get("known", ""))
    head = seal_audit(db)
    return json_response(
        {"whole": not problems, "problems": problems, "head": {"seq": head.seq, "digest": head.digest}}
    )


def parse_audit_filters(asked: Mapping[str, str]) -> AuditFilters:
    words = {name: asked.get(name, "") for name in ("person", "what", "target", "outcome")}
    return AuditFilters(
        **words,
        since=parse_moment(asked, "since"),
        until=parse_moment(asked, "until"),
        before=parse_number(asked, "before"),
    )


def parse_moment(asked: Mapping[str, str], name: str) -> int | None:
    """A time that is asked for, in milliseconds."""
    if name not in asked:
        return None
    try:
        found = datetime.fromisoformat(asked[name])
    except ValueError:
        raise BadRequest(f"`{name}` is a date or a time, such as 2026-01-31T12:00Z.") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def parse_number(asked: Mapping[str, str], name: str) -> int | None:
    """A number that is asked for."""
    said = asked.get(name)
    if said is None:
        return None
    if not said.isascii() or not said.isdecimal() or len(said) > 18:
        raise BadRequest(f"`{name}` is a whole number.")
    return int(said)


def get_holds(request: Request) -> Response:
    """Holds; `all=1`: also those that were lifted."""
    found = holds.list_holds(hub(request).store.db, everything=request.query_params.get("all") == "1")
    return json_response({"holds": [as_json(one) for one in found]})


def add_hold(request: Request) -> Response:
    wanted = parse_body(request, NewHold)
    made = holds.place_hold(hub(request).store.db, person(request), (wanted.kind, wanted.id), wanted.reason)
    set_audit_target(request, wanted.id)
    return json_response({"id": made, "kind": wanted.kind, "target": wanted.id}, 201)


def end_hold(request: Request) -> Response:
    holds.lift_hold(hub(request).store.db, request.path_params["id"])
    return no_content()


OVERSIGHT_ROUTES = (
    HubRoute("/api/audit", audit, Needs.ADMIN, "audit.read"),
    HubRoute("/api/audit.jsonl", audit_file, Needs.ADMIN, "audit.read"),
    HubRoute("/api/audit/proof", audit_proof, Needs.ADMIN),
    HubRoute("/api/holds", get_holds, Needs.ADMIN),
    HubRoute("/api/holds", add_hold, Needs.ADMIN, "hold.place", "POST", ("all",)),
    HubRoute("/api/holds/{id}", end_hold, Needs.ADMIN, "hold.lift", "DELETE", ("all",)),
)


_NOTHING = "There is nothing of that kind and id that you could erase."


class ErasureRequest(RequestBody, frozen=True):
    """What is to be erased, by its id: a share, session, project or person."""

    kind: str
    id: str


class PushAgainRequest(RequestBody, frozen=True):
    """A session that may be pushed again: whose it was, and its own id."""

    person: str
    key: str


def erase_thing(request: Request) -> Response:
    """Erase something; the proof that it is gone."""
    wanted, who, store = parse_body(request, ErasureRequest), person(request), hub(request).store
    set_audit_target(request, wanted.id)
    if not may_erase(store.db, who, wanted.kind, wanted.id):
        raise NotVisible(_NOTHING)
    return json_response(erasure.erase_permanently(store, who, wanted.kind, wanted.id))


def may_erase(db: Database, who: Person, kind: str, target: str) -> bool:
    """Whether somebody may erase something, which is then there."""
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


def list_erased(request: Request) -> Response:
    """What was erased, with the proofs."""
    return json_response({"erased": [as_json(one) for one in erasure.list_tombstones(hub(request).store.db)]})


def let_push_again(request: Request) -> Response:
    """Let a session that was erased be pushed again."""
    wanted = parse_body(request, PushAgainRequest)
    set_audit_target(request, wanted.person)
    erasure.allow_push_again(hub(request).store.db, wanted.person, wanted.key)
    return no_content()


ERASURE_ROUTES = (
    HubRoute("/api/erase", list_erased, Needs.ADMIN),
    HubRoute("/api/erase", erase_thing, Needs.PERSON, "erase", "POST", ("all",)),
    HubRoute("/api/erase/again", let_push_again, Needs.ADMIN, "erase.again", "POST", ("all",)),
)
