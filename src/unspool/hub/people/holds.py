"""Legal holds: what is under one can be neither changed nor removed until it is lifted.

A hold on a project holds its sessions; one on a person, all that they shared and pushed.
"""

import secrets
from typing import NamedTuple

from unspool.hub.errors import BadRequest, NotVisible, UnderLegalHold
from unspool.hub.people.users import Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

KINDS = ("person", "project", "session", "share")
_TABLES = {"person": "id", "project": "id", "session": "id", "share": "address"}
_ABOVE = {
    "session": "SELECT project, person FROM session WHERE id = ?",
    "share": "SELECT '', owner FROM share WHERE address = ?",
}
_BELOW = {
    "project": "SELECT 1 FROM hold WHERE ended IS NULL AND (kind = 'session' AND target IN"
    " (SELECT id FROM session WHERE project = ?) OR kind = 'person' AND target IN"
    " (SELECT person FROM session WHERE project = ?)) LIMIT 1",
    "person": "SELECT 1 FROM hold WHERE ended IS NULL AND (kind = 'session' AND target IN"
    " (SELECT id FROM session WHERE person = ?) OR kind = 'share' AND target IN"
    " (SELECT address FROM share WHERE owner = ?) OR kind = 'project' AND target IN"
    " (SELECT project FROM session WHERE person = ?)) LIMIT 1",
}
Thing = tuple[str, str]
"""Kind and id."""


class Hold(NamedTuple):
    id: str
    kind: str
    target: str
    made_by: str
    reason: str
    created: int
    ended: int | None


def place_hold(db: Database, by: Person, thing: Thing, reason: str) -> str:
    """The id of a new hold on something that is there."""
    kind, target = thing
    if kind not in KINDS:
        raise BadRequest(f"A hold is on one of: {', '.join(KINDS)}.")
    hold = secrets.token_hex(8)
    with db.transaction():
        db.alone("holds")
        _wait_for(db, [thing])
        check_exists(db, kind, target)
        db.run(
            "INSERT INTO hold(id, kind, target, made_by, reason, created) VALUES(?, ?, ?, ?, ?, ?)",
            hold, kind, target, by.id, reason[:1000], now(),
        )  # fmt: skip
    return hold


def check_exists(db: Database, kind: str, target: str) -> None:
    """NotVisible where there is no such person, project, session or share."""
    if db.row(f"SELECT 1 FROM {kind} WHERE {_TABLES[kind]} = ?", target) is None:  # noqa: S608
        raise NotVisible(f"There is no such {kind}.")


def lift_hold(db: Database, hold: str) -> None:
    if not db.run("UPDATE hold SET ended = ? WHERE id = ? AND ended IS NULL", now(), hold):
        raise NotVisible("There is no such hold.")


def list_holds(db: Database, *, everything: bool = False) -> list[Hold]:
    """Holds, newest first; `everything`: also those that were lifted."""
    only = "" if everything else " WHERE ended IS NULL"
    sql = f"SELECT id, kind, target, made_by, reason, created, ended FROM hold{only} ORDER BY created DESC, id"  # noqa: S608
    return [Hold(*row) for row in db.rows(sql)]


def is_held(db: Database, kind: str, target: str) -> bool:
    """Whether a hold is on something, or on the project or person above it."""
    return any(_on(db, thing) for thing in with_parents(db, kind, target))


def check_not_held(db: Database, kind: str, target: str) -> None:
    """UnderLegalHold where something may be neither changed nor removed.

    Inside the transaction that does so: a hold that is placed meanwhile waits for its end.
    """
    things = with_parents(db, kind, target)
    _wait_for(db, things)
    if any(_on(db, thing) for thing in things):
        raise UnderLegalHold("A legal hold is on this.")


def check_nothing_held(db: Database, kind: str, target: str) -> None:
    """UnderLegalHold also where a hold is on anything that belongs to it; inside the transaction that removes it."""
    db.alone("holds")
    check_not_held(db, kind, target)
    if kind in _BELOW and db.row(_BELOW[kind], *[target] * _BELOW[kind].count("?")) is not None:
        raise UnderLegalHold(f"A legal hold is on something of this {kind}.")


def with_parents(db: Database, kind: str, target: str) -> list[Thing]:
    row = db.row(_ABOVE[kind], target) if kind in _ABOVE else None
    above = zip(("project", "person"), row or (), strict=False)
    return [(kind, target), *((name, one) for name, one in above if one)]


def _on(db: Database, thing: Thing) -> bool:
    return db.row("SELECT 1 FROM hold WHERE kind = ? AND target = ? AND ended IS NULL LIMIT 1", *thing) is not None


def _wait_for(db: Database, things: list[Thing]) -> None:
    for kind, target in sorted(things):
        db.alone(f"hold {kind} {target}")
