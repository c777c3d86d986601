"""The sessions before and after one in its chain, looked for among the logs that lie around it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from unspool.figures import calls_of
from unspool.formats import Found, by_id
from unspool.library.chains import source_id
from unspool.library.heads import Head, head
from unspool.library.settle import open_plans, settled
from unspool.model import ChainLink, Session


class Neighbours:
    """Links sessions to the ones beside them; each log's beginning is read once."""

    def __init__(self, logs: Callable[[], Sequence[Found]]) -> None:
        self._logs = logs
        self._heads: dict[str, Head | None] = {}

    def linked(self, session: Session, found: Found) -> Session:
        """The session with its neighbours in a chain, and the plans that they settle."""
        heads = [one for one in map(self._head, self._neighbours(session, found)) if one is not None]
        links = [_link(one, "source", by) for one in heads if (by := _continues(session, one))]
        later = [(one, by) for one in heads if one.implements and (by := _continued_by(session, one))]
        links += [_link(one, "follow-up", by) for one, by in later]
        session = _named(settled(session, [(one.plan, one.id) for one, _ in later]), heads)
        return msgspec.structs.replace(session, links=(*session.links, *links)) if links else session

    def _head(self, found: Found) -> Head | None:
        if found.path not in self._heads:
            self._heads[found.path] = head(found)
        return self._heads[found.path]

    def _neighbours(self, session: Session, found: Found) -> list[Found]:
        """Logs worth a look: those beside this one, where they may name it or it has something to link by."""
        if session.titles.custom and not (session.source or session.slug or open_plans(session)):
            return []
        folder = str(Path(found.path).parent)
        beside = [log for log in self._around(found) if log.path != found.path]
        wanted = source_id(session.source) if session.source else ""
        return [log for log in beside if str(Path(log.path).parent) == folder or log.session_id == wanted]

    def _around(self, found: Found) -> Sequence[Found]:
        logs = self._logs()
        if any(log.path == found.path for log in logs):
            return logs
        return tuple(by_id(found.format).discover(Path(found.path).parent))


def _named(session: Session, heads: list[Head]) -> Session:
    """The session with the summary that a later log holds of it, where its own holds none."""
    if session.titles.summary or not any(one.summaries for one in heads):
        return session
    lines = {block.id for turn in session.turns for block in turn.blocks if block.id}
    lines |= {call.result.id for call in calls_of(session) if call.result is not None}
    lines |= {turn.prompt.id for turn in session.turns if turn.prompt is not None}
    said = next((text for one in heads for leaf, text in one.summaries.items() if leaf in lines), "")
    titles = msgspec.structs.replace(session.titles, summary=said)
    return msgspec.structs.replace(session, titles=titles) if said else session


def _continues(session: Session, one: Head) -> str:
    """How it is known that a session continues another: by the path it names, else by slug."""
    first = next((turn.prompt for turn in session.turns if turn.prompt is not None), None)
    if session.source:
        return "path" if source_id(session.source) == one.id else ""
    implements = first is not None and first.kind == "plan"
    same = bool(session.slug) and session.slug == one.slug
    return "slug" if implements and same and not one.implements else ""


def _continued_by(session: Session, one: Head) -> str:
    """How it is known that another session implements a plan of this one."""
    if one.source:
        return "path" if source_id(one.source) == session.id else ""
    if session.slug and session.slug == one.slug:
        return "slug"
    plans = [plan.text.strip() for plan in open_plans(session)]
    return "plan" if any(one.plan.strip().startswith(plan) for plan in plans) else ""


def _link(one: Head, relation: str, by: str) -> ChainLink:
    return ChainLink(one.id, relation, by, one.title, one.prompt)  # type: ignore[arg-type]
