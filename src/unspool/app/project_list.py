"""Projects: each with its address and what its sessions add up to.

The index has led worktrees and moved folders back to the project they belong to, so a path is a project.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from itertools import starmap
from typing import NamedTuple

import apsw

from unspool import human
from unspool.app.context import cached_answer
from unspool.model import CallEnd
from unspool.model.blocks import count_ends
from unspool.store.index.conditions import IS_LISTED

PROJECT_SORTS = {"newest": "Newest", "name": "Name", "sessions": "Sessions", "cost": "Cost"}
_MADE = """SELECT log.session, sum(tally.calls) AS calls, sum(errors) AS errors, sum(refused) AS refused,
sum(interrupted) AS interrupted, sum(unanswered) AS unanswered FROM tally JOIN turn ON turn.id = tally.turn
JOIN log ON log.id = turn.log WHERE NOT turn.copied GROUP BY log.session"""
"""What totals count: calls of sessions and their subagents, without those that were copied."""
_ADDED = f"""SELECT project, count(*), sum(turns - copied), coalesce(sum(made.calls), 0),
coalesce(sum(made.errors), 0), coalesce(sum(made.refused), 0), coalesce(sum(made.interrupted), 0),
coalesce(sum(made.unanswered), 0), CAST(total(cost) AS INTEGER), sum(unpriced + open > 0),
max(coalesce(ended, started)), min(started) FROM session LEFT JOIN ({_MADE}) AS made ON made.session = session.id
WHERE {IS_LISTED} GROUP BY project"""  # noqa: S608  no value


class ProjectFigures(NamedTuple):
    path: str
    sessions: int = 0
    turns: int = 0
    calls: int = 0
    errors: int = 0
    refused: int = 0
    interrupted: int = 0
    unanswered: int = 0
    cost: int = 0
    """Picodollars, of what has a price."""
    unpriced: int = 0
    """Sessions that spent more than is known."""
    latest: float | None = None
    first: float | None = None

    @property
    def name(self) -> str:
        return project_name(self.path)

    @property
    def ends(self) -> Counter[CallEnd]:
        """How calls ended that did not go well."""
        return count_ends(self.errors, self.refused, self.interrupted, self.unanswered)

    @property
    def slug(self) -> str:
        return project_slug(self.path)


class ProjectList:
    def __init__(self, projects: Iterable[ProjectFigures]) -> None:
        self.projects = {project.slug: project for project in projects}
        self._labels = human.path_labels(project.path for project in self.projects.values())

    @classmethod
    def of(cls, db: apsw.Connection) -> "ProjectList":
        """The projects as they stand; counted anew only when the index has changed."""
        return cached_answer(db, _ADDED, lambda: cls(starmap(ProjectFigures, db.execute(_ADDED))))

    def label(self, path: str) -> str:
        """What a project is called among the others: its name, after as much of its path as tells it apart."""
        return self._labels.get(path) or project_name(path)

    def sorted(self, sort: str = "", part: str = "") -> list[ProjectFigures]:
        """The projects whose path holds a text, in one of PROJECT_SORTS."""
        found = [one for one in self.projects.values() if part.casefold() in one.path.casefold()]
        return sorted(found, key=lambda one: (_RANKS.get(sort, _RANKS["newest"])(one), one.name.casefold(), one.path))


_RANKS: dict[str, Callable[[ProjectFigures], float]] = {
    "newest": lambda project: -(project.latest or 0),
    "name": lambda _: 0,
    "sessions": lambda project: -project.sessions,
    "cost": lambda project: -project.cost,
}


def project_name(path: str) -> str:
    """What a project is called: the last part of its path."""
    return human.last_part(path) or "Without a project"


def project_slug(path: str) -> str:
    """The project's part of an address: its name as far as it is plain, and a digest, so that it is its alone."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", project_name(path)).strip("-")[:40]
    digest = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain}-{digest}" if plain else digest


def matches_project(path: str, text: str) -> bool:
    """Whether a slug, or a part of a path in any case, means this project."""
    return text.casefold() in path.casefold() or text == project_slug(path)
