"""The beginnings of logs, and the sessions before and after one in its chain."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.agents.lines import Cursor, Lines
from unspool.errors import UnspoolError
from unspool.figures import calls_of
from unspool.model import ChainLink, Overview, Prompt, Session
from unspool.reading.assemble import plans_of, prompt_title
from unspool.reading.overview import plan_key
from unspool.store.library.chains import KnownChains, settle_plans, source_id, source_of
from unspool.store.library.inputs import hold_stream, open_log
from unspool.store.library.read import LogReader, make_overview

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


_LINES = 80
_TAIL = 16 * 1024


class LogHead(msgspec.Struct, frozen=True):
    """What the first lines of a session say."""

    id: str
    slug: str
    prompt: str
    """The first prompt, in short."""
    implements: bool
    plan: str = ""
    accepted: int = 0
    """The key of the plan it implements."""
    source: str = ""
    started: datetime | None = None
    summaries: dict[str, str] = {}
    """Summaries it holds, by the id of a line of the session they describe."""


def read_beginning(found: FoundLog, kept: "KeptSessions | None" = None) -> AbstractContextManager[BinaryIO]:
    """A log at its beginning: itself, or its copy in an archive, of which there is enough for a head."""
    return hold_stream(kept.beginning(found)) if kept is not None and found.origin else open_log(found.path)


def log_head(found: FoundLog, kept: "KeptSessions | None" = None) -> LogHead | None:
    """The head of a log, or of its copy in an archive; None where it cannot be read."""
    parser = by_id(found.format).parser(None)
    prompts = list[Prompt]()
    try:
        with read_beginning(found, kept) as stream:
            for entry in islice(LogReader().entries(stream), _LINES):
                event = parser.event(entry)
                if event.prompt is not None and not event.sidechain:
                    prompts.append(event.prompt)
                if any(prompt.kind in ("text", "plan") for prompt in prompts):
                    break
    except (UnspoolError, OSError):
        return None
    first = prompts[0] if prompts else None
    plan = first.plan if first is not None else None
    facts = parser.facts
    return LogHead(
        found.session_id,
        facts.slug,
        prompt_title(prompts),
        plan is not None,
        plan.text if plan is not None else "",
        plan_key(plan) if plan is not None else 0,
        first.source if first is not None else "",
        facts.started,
        facts.summaries,
    )


def last_active(found: FoundLog) -> float:
    """When the last line of a log was written, as the line says; copying a file does not change it."""
    parser = by_id(found.format).parser(None)
    try:
        with Path(found.path).open("rb") as stream:
            stream.seek(max(0, found.size - _TAIL))
            data = stream.read(_TAIL)
    except OSError:
        return found.modified
    for entry in Lines(msgspec.json.Decoder()).entries(BytesIO(data), Cursor()):
        parser.event(entry)
    return parser.facts.ended.timestamp() if parser.facts.ended is not None else found.modified


class Neighbours:
    """Links sessions to the ones beside them; each log is looked into once."""

    def __init__(self, logs: Callable[[], Sequence[FoundLog]], kept: "KeptSessions | None" = None) -> None:
        self._logs = logs
        self._kept = kept
        self._folders: dict[str, list[FoundLog]] = {}
        self._heads: dict[str, LogHead | None] = {}
        self._overviews: dict[str, Overview | None] = {}

    def linked(self, session: Session, found: FoundLog) -> Session:
        """The session with its neighbours in a chain, and the plans that they settle."""
        around = {log.session_id: log for log in self._around(session, found)}
        known = {name: self._known(log) for name, log in around.items() if self._head(log) is not None}
        mine = known.get(session.id)
        if mine is None:
            return session
        mine.offered = lambda: tuple(plan_key(plan) for plan in plans_of(session.turns))
        links = list(session.links)
        earlier, by = source_of(mine, list(known.values()))
        if earlier:
            links.append(self._link(around[earlier], "source", by))
        later = [(one, source_of(one, list(known.values()))) for one in known.values() if one.implements]
        followers = [(around[one.id], by) for one, (source, by) in later if source == session.id]
        links += [self._link(log, "follow-up", by) for log, by in followers]
        heads = [one for log in around.values() if (one := self._head(log)) is not None]
        plans = [(one.plan, one.id) for one in heads if any(log.session_id == one.id for log, _ in followers)]
        session = _named(settle_plans(session, plans), heads)
        return msgspec.structs.replace(session, links=tuple(links)) if links else session

    def _around(self, session: Session, found: FoundLog) -> list[FoundLog]:
        """The logs in the same folder, and the one that the session says it continues."""
        if not self._folders:
            for log in self._logs():
                self._folders.setdefault(os.path.dirname(log.path), []).append(log)  # noqa: PTH120  hot
        folder = os.path.dirname(found.path)  # noqa: PTH120
        beside = self._folders.get(folder) or list(by_id(found.format).discover(Path(folder)))
        wanted = source_id(session.source) if session.source else ""
        named = [] if any(log.session_id == wanted for log in beside) else self._logs()
        return [*beside, *(log for log in named if wanted and log.session_id == wanted)]

    def _head(self, found: FoundLog) -> LogHead | None:
        if found.path not in self._heads:
            self._heads[found.path] = log_head(found, self._kept)
        return self._heads[found.path]

    def _known(self, found: FoundLog) -> KnownChains:
        one = self._head(found) or LogHead(found.session_id, "", "", implements=False)
        return KnownChains(
            one.id, one.slug, source_id(one.source) if one.source else "", one.started, one.accepted,
            lambda: overview.offered if (overview := self._overview(found)) is not None else (),
        )  # fmt: skip

    def _overview(self, found: FoundLog) -> Overview | None:
        if found.path not in self._overviews:
            self._overviews[found.path] = make_overview(found, self._kept)
        return self._overviews[found.path]

    def _link(self, found: FoundLog, relation: str, by: str) -> ChainLink:
        overview = self._overview(found)
        title, prompt = (overview.title, overview.titles.prompt) if overview is not None else ("", "")
        return ChainLink(found.session_id, relation, by, title, prompt)  # type: ignore[arg-type]


def _named(session: Session, heads: list[LogHead]) -> Session:
    """The session with the summary that another log holds of it, where its own holds none."""
    said = {leaf: text for one in heads for leaf, text in one.summaries.items() if leaf}
    if session.titles.summary or not said:
        return session
    places = {block.id: block.place.offset for turn in session.turns for block in turn.blocks}
    places |= {call.result.id: call.result.place.offset for call in calls_of(session) if call.result is not None}
    places |= {turn.prompt.id: turn.prompt.place.offset for turn in session.turns if turn.prompt is not None}
    told = [(places[leaf], text) for leaf, text in said.items() if leaf in places]
    if not told:
        return session
    return msgspec.structs.replace(session, titles=msgspec.structs.replace(session.titles, summary=max(told)[1]))
