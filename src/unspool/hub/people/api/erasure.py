"""Erasure: of one's own shares and sessions, of what is in projects that one owns, of anything for admins."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import erase
from unspool.hub.people.api.given import Sent, answer, done, given, target, told
from unspool.hub.people.person import Person
from unspool.hub.people.rights import Right, right
from unspool.hub.store.database import Database
from unspool.hub.trouble import Hidden
from unspool.hub.ways import Needs, Way

_NOTHING = "There is nothing of that kind and id that you could erase."


class Erasing(Sent, frozen=True):
    """What is to be erased, by its id: a share, session, project or person."""

    kind: str
    id: str


class Again(Sent, frozen=True):
    """A session that may be pushed again: whose it was, and its own id."""

    person: str
    key: str


def erasing(request: Request) -> Response:
    """Erase something; the proof that it is gone."""
    wanted, who, store = given(request, Erasing), person(request), hub(request).store
    target(request, wanted.id)
    if not may(store.db, who, wanted.kind, wanted.id):
        raise Hidden(_NOTHING)
    return answer(erase.erased(store, who, wanted.kind, wanted.id))


def may(db: Database, who: Person, kind: str, target: str) -> bool:
    """Whether somebody may erase something, which is then there."""
    if kind == "share":
        row = db.row("SELECT owner FROM share WHERE address = ?", target)
        return row is not None and (who.admin or row[0] == who.id)
    if kind == "session":
        row = db.row("SELECT person, project FROM session WHERE id = ?", target)
        return row is not None and (row[0] == who.id or right(db, who, row[1]) is Right.OWN)
    if kind == "project":
        row = db.row("SELECT 1 FROM project WHERE id = ?", target)
        return row is not None and right(db, who, target) is Right.OWN
    return who.admin and db.row("SELECT 1 FROM person WHERE id = ?", target) is not None and kind == "person"


def those(request: Request) -> Response:
    """What was erased, with the proofs."""
    return answer({"erased": [told(one) for one in erase.listed(hub(request).store.db)]})


def again(request: Request) -> Response:
    """Let a session that was erased be pushed again."""
    wanted = given(request, Again)
    target(request, wanted.person)
    erase.allowed(hub(request).store.db, wanted.person, wanted.key)
    return done()


WAYS = (
    Way("/api/erase", those, Needs.ADMIN),
    Way("/api/erase", erasing, Needs.PERSON, "erase", "POST", ("all",)),
    Way("/api/erase/again", again, Needs.ADMIN, "erase.again", "POST", ("all",)),
)
