"""The story of a change: its planning, its implementation and what came after, by whoever did each.

Sessions are of one story where one goes on from another, or where they carry the same slug within a month: an agent
gives a plan and the session that carries it out the same one. Only what a person may read is part of it.
"""

from typing import Literal

import msgspec

from unspool.hub.people.person import Person
from unspool.hub.sessions.asking import Condition, among, together, visible
from unspool.hub.sessions.facts import Facts
from unspool.hub.sessions.listing import one, rows
from unspool.hub.store.database import Database

_MOST = 100
_ROUNDS = 20
_APART = 30 * 86_400_000
"""Milliseconds that two sessions of one slug may be apart."""

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
    found = rows(db, together([among("session.key", sorted(names)), seen]), _MOST)
    found += rows(db, together([among("session.source", sorted(keys)), seen]), _MOST)
    named = rows(db, together([among("session.slug", sorted(slugs)), seen]), _MOST) if slugs else []
    found += [facts for facts in named if any(_near(facts, one) for one in fresh)]
    return list({facts.id: facts for facts in found}.values())


def _near(one: Facts, other: Facts) -> bool:
    """Whether two sessions carry the same slug at about the same time: agents make them up, and in time again."""
    apart = abs((one.started or one.finished or 0) - (other.started or other.finished or 0))
    return one.slug == other.slug and apart < _APART


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
