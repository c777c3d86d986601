"""The story of a change: its planning, its implementation and what came after, by whoever did each.

Sessions are of one story where one goes on from another, or where they carry the same slug, which an agent gives to a
plan and to the session that carries it out. Only what a person may read is part of what they are told.
"""

from typing import Literal

import msgspec

from unspool.hub.people.person import Person
from unspool.hub.sessions.asking import Condition, together, visible
from unspool.hub.sessions.facts import Facts
from unspool.hub.sessions.listing import one, rows
from unspool.hub.store.database import Database

_MOST = 100
_ROUNDS = 20

Role = Literal["planning", "implementation", "further"]


class Step(msgspec.Struct, frozen=True):
    """A session and its part in the story."""

    role: Role
    session: Facts


def story(db: Database, person: Person, session: str) -> list[Step]:
    """The sessions of the story that a session is of, in the order they began; a session alone is its own story."""
    known = {session: one(db, session)}
    fresh, seen = list(known.values()), visible(db, person)
    for _ in range(_ROUNDS):
        found = [link for link in _around(db, seen, fresh) if link.id not in known]
        if not found or len(known) >= _MOST:
            break
        known.update((link.id, link) for link in found[: _MOST - len(known)])
        fresh = found
    told = sorted(known.values(), key=lambda facts: (facts.started or facts.finished or 0, facts.id))
    return _roles(told)


def _around(db: Database, seen: Condition, fresh: list[Facts]) -> list[Facts]:
    """What is directly before and after some sessions."""
    keys = {facts.key for facts in fresh}
    names = keys | {facts.source for facts in fresh if facts.source}
    slugs = {facts.slug for facts in fresh if facts.slug}
    asked = [_among("session.key", names), _among("session.source", keys)]
    asked += [_among("session.slug", slugs)] if slugs else []
    found: dict[str, Facts] = {}
    for condition in asked:
        found.update((facts.id, facts) for facts in rows(db, together([condition, seen]), _MOST))
    return list(found.values())


def _among(column: str, values: set[str]) -> Condition:
    return Condition(f"{column} IN ({', '.join('?' * len(values))})", tuple(sorted(values)))


def _roles(told: list[Facts]) -> list[Step]:
    """Who plans is what somebody goes on from before anything is carried out; what comes after that is further work."""
    built = next((number for number, facts in enumerate(told) if facts.kind == "implementation"), None)
    if built is None:
        sources = {facts.source for facts in told}
        return [Step("planning" if facts.key in sources else "further", facts) for facts in told]
    key = told[built].key
    return [
        Step("planning" if at < built else "implementation" if facts.key == key else "further", facts)
        for at, facts in enumerate(told)
    ]
