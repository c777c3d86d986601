"""The audit log and legal holds, for admins."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from unspool.hub.asked import hub, person
from unspool.hub.people import holds
from unspool.hub.people.api.given import Sent, answer, done, given, target, told
from unspool.hub.people.audit import seal
from unspool.hub.people.audit_list import Filters, lines, listed
from unspool.hub.people.audit_proof import proved
from unspool.hub.trouble import Unfit
from unspool.hub.ways import Needs, Way


class NewHold(Sent, frozen=True):
    """What is to be held: a person, project, session or share by its id."""

    kind: str
    id: str
    reason: Annotated[str, Meta(max_length=1000)] = ""


def audit(request: Request) -> Response:
    """Lines of the audit log that fit what is asked for, newest first; `before` in the answer leads to older ones."""
    asked = request.query_params
    found = listed(hub(request).store.db, filters(asked), number(asked, "limit") or 100)
    more = found[-1].seq if found else None
    return answer({"lines": [line.data() for line in found], "before": more})


def audit_file(request: Request) -> Response:
    """Every line that fits, oldest first, a JSON object each."""
    made = lines(hub(request).store.db, filters(request.query_params))
    return StreamingResponse(made, media_type="application/jsonl", headers={"Cache-Control": "no-store"})


def audit_proof(request: Request) -> Response:
    """Whether the audit log is whole, and the head of its chain, to be kept elsewhere; `known` is one that was."""
    db = hub(request).store.db
    problems = proved(db, request.query_params.get("known", ""))
    head = seal(db)
    return answer({"whole": not problems, "problems": problems, "head": {"seq": head.seq, "digest": head.digest}})


def filters(asked: Mapping[str, str]) -> Filters:
    """Which lines are wanted."""
    words = {name: asked.get(name, "") for name in ("person", "what", "target", "outcome")}
    return Filters(**words, since=moment(asked, "since"), until=moment(asked, "until"), before=number(asked, "before"))


def moment(asked: Mapping[str, str], name: str) -> int | None:
    """A time that is asked for, in milliseconds."""
    if name not in asked:
        return None
    try:
        found = datetime.fromisoformat(asked[name])
    except ValueError:
        raise Unfit(f"`{name}` is a date or a time, such as 2026-01-31T12:00Z.") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def number(asked: Mapping[str, str], name: str) -> int | None:
    """A number that is asked for."""
    said = asked.get(name)
    if said is None:
        return None
    if not said.isascii() or not said.isdecimal() or len(said) > 18:
        raise Unfit(f"`{name}` is a whole number.")
    return int(said)


def held(request: Request) -> Response:
    """Holds; `all=1`: also those that were lifted."""
    found = holds.listed(hub(request).store.db, everything=request.query_params.get("all") == "1")
    return answer({"holds": [told(one) for one in found]})


def hold(request: Request) -> Response:
    """Place a hold."""
    wanted = given(request, NewHold)
    made = holds.placed(hub(request).store.db, person(request), (wanted.kind, wanted.id), wanted.reason)
    target(request, wanted.id)
    return answer({"id": made, "kind": wanted.kind, "target": wanted.id}, 201)


def lift(request: Request) -> Response:
    """Lift a hold."""
    holds.lifted(hub(request).store.db, request.path_params["id"])
    return done()


WAYS = (
    Way("/api/audit", audit, Needs.ADMIN, "audit.read"),
    Way("/api/audit.jsonl", audit_file, Needs.ADMIN, "audit.read"),
    Way("/api/audit/proof", audit_proof, Needs.ADMIN),
    Way("/api/holds", held, Needs.ADMIN),
    Way("/api/holds", hold, Needs.ADMIN, "hold.place", "POST", ("all",)),
    Way("/api/holds/{id}", lift, Needs.ADMIN, "hold.lift", "DELETE", ("all",)),
)
