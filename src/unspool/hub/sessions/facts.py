"""What is told of a pushed session, wherever it is listed."""

from typing import Any

import msgspec

from unspool.hub.store.database import Row
from unspool.index.schema import PICO

COLUMNS = (
    "session.id, session.key, session.project, project.name, session.person, person.name, session.agent, session.title,"
    " session.kind, session.branch, session.slug, session.source, session.started, session.finished, session.turns,"
    " session.messages, session.calls, session.errors, session.tokens, session.cost, session.unpriced, session.models,"
    " session.size, session.created, session.updated"
)
TABLES = "session LEFT JOIN project ON project.id = session.project LEFT JOIN person ON person.id = session.person"
"""What COLUMNS are of. Somebody who was erased has no name."""


class Who(msgspec.Struct, frozen=True):
    """A person or a project."""

    id: str
    name: str


class Facts(msgspec.Struct, frozen=True):
    """A session as it is told of; times are milliseconds of the epoch."""

    id: str
    key: str
    """The session's own id."""
    project: Who
    person: Who
    agent: str
    title: str
    kind: str
    branch: str
    slug: str
    source: str
    """The key of the session that it goes on from."""
    started: int | None
    finished: int | None
    turns: int
    messages: int
    calls: int
    errors: int
    tokens: int
    cost: float
    """Dollars at list prices, of the requests whose price is known."""
    unpriced: int
    """Requests whose price is not known."""
    models: tuple[str, ...]
    size: int
    created: int
    updated: int

    @property
    def place(self) -> tuple[int, str]:
        """What lists are in the order of, the greatest first."""
        return self.finished or 0, self.id


def facts(row: Row) -> Facts:
    """The facts of a row of COLUMNS."""
    id_, key, project, named, person, called, *rest = row
    agent, title, kind, branch, slug, source, started, finished, *counts = rest
    turns, messages, calls, errors, tokens, cost, unpriced, models, size, created, updated = counts
    known: Any = msgspec.json.decode(models)
    return Facts(
        id_, key, Who(project, named or ""), Who(person, called or ""), agent, title, kind, branch, slug, source,
        started, finished or None, turns, messages, calls, errors, tokens, cost / PICO, unpriced, tuple(known), size,
        created, updated,
    )  # fmt: skip
