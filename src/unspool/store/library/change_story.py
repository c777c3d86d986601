"""Finds the sessions that led to a change: by the index who made it, by their links what led there."""

from collections.abc import Callable, Sequence

import apsw

from unspool.errors import Ambiguous, NotFound, UnspoolError
from unspool.figures.change_story import ChangeName, WorkReason
from unspool.model import Session
from unspool.store.index.git_work import (
    TRUNKS,
    WorkRow,
    attempts_before,
    branches_of,
    sessions_of_branches,
    sessions_of_change,
    sessions_of_message,
)

MOST = 40
"""Sessions of one story."""
StorySessions = list[tuple[Session, tuple[WorkReason, ...]]]
"""Sessions, each with why it belongs to a change."""
_LED: dict[str, WorkReason] = {
    "source": "led to it", "copied-from": "led to it", "copied-to": "copied", "follow-up": "led to it",
}  # fmt: skip


def find_change(db: apsw.Connection, name: ChangeName, wanted: Sequence[str] = (), folder: str = "") -> list[WorkRow]:
    """The sessions that made a change or worked on it, and those that tried the same before.

    Those of projects whose path holds each of the `wanted` texts; of several projects, that which `folder` lies in.
    NotFound where no session made it, Ambiguous where sessions of several projects did.
    """
    called = f"{name.kind} {name.text}"
    if name.kind == "branch" and name.text in TRUNKS:
        raise NotFound(f"All changes go to {name.text}; name a commit or a pull request.")
    made = sessions_of_change(db, name) or (sessions_of_message(db, name.message) if name.message else [])
    made = [row for row in made if all(text.lower() in row.project.lower() for text in wanted)]
    if not made:
        raise NotFound(f"No session that is kept made {called}.")
    projects = {row.project for row in made}
    if len(projects) > 1:
        here = {project for project in projects if project and f"{folder}/".startswith(f"{project}/")}
        if len(here) != 1:
            listed = tuple(sorted(projects))
            raise Ambiguous(f"Sessions of several projects made {called}; choose one with --project.", listed)
        projects, made = here, [row for row in made if row.project in here]
    if name.kind == "pull request":
        branches = branches_of(db, {row.session for row in made})
        made += sessions_of_branches(db, branches, projects) if branches else []
    return [*made, *attempts_before(db, {row.session for row in made}, projects)]


def story_sessions(rows: Sequence[WorkRow], open_session: Callable[[str], Session]) -> StorySessions:
    """The sessions of a change with those that their links lead to, each with why it belongs there.

    `open_session` gives a session by its id; those that cannot be read are left out.
    """
    reasons: dict[str, dict[WorkReason, None]] = {}
    for row in rows:
        reasons.setdefault(row.key, {})[row.reason] = None
    opened: dict[str, Session] = {}
    waiting, last = list(reasons), max((row.time for row in rows if row.time is not None), default=None)
    while waiting and len(opened) < MOST:
        key = waiting.pop(0)
        try:
            session = open_session(key)
        except UnspoolError:
            continue
        is_later = last is not None and session.started is not None and session.started.timestamp() > last
        if is_later and {*reasons[key]} <= {*_LED.values()}:
            continue  # it came after the change
        opened[key] = session
        for link in session.links:
            if link.relation in _LED and link.session not in reasons:
                reasons[link.session] = {_LED[link.relation]: None}
                waiting.append(link.session)
    return [(session, tuple(reasons[key])) for key, session in opened.items()]
