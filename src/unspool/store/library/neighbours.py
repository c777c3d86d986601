"""The beginnings of logs, and the sessions before and after one in its chain."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.errors import UnspoolError
from unspool.figures import calls_of, family
from unspool.model import ChainLink, HistoryBase, Overview, Session
from unspool.prices import PriceTable
from unspool.reading.ledger import CallLedger, line_hash
from unspool.reading.prompts import plan_key, plans_of, prompt_title
from unspool.store.library.chains import KnownChains, chain_link, settle_plans, source_id, source_of, told_titles
from unspool.store.library.history import (
    CountedLog,
    divide_history,
    is_part_of,
    mark_copied,
    may_share_history,
    name_of,
    priced_overview,
)
from unspool.store.library.read import count_log, read_head, read_session, read_tail

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


_TAIL, _LONGEST = 16 * 1024, 64 * 1024 * 1024
"""Bytes at the end of a log that are asked for its last time, first and at most."""


class ChainHead(msgspec.Struct, frozen=True):
    """What the first lines of a session say of its place in a chain."""

    id: str
    slug: str
    prompt: str
    """The first prompt, in short."""
    line: str
    """The id of its line."""
    implements: bool
    plan: str = ""
    accepted: int = 0
    """The key of the plan it implements."""
    source: str = ""
    started: datetime | None = None
    base: HistoryBase | None = None
    forked_from: str = ""
    summaries: dict[str, str] = {}
    """Summaries it holds, by the id of a line of the session they describe."""


def chain_head(found: FoundLog, kept: "KeptSessions | None" = None) -> ChainHead | None:
    """The head of a log, or of its copy in an archive; None where it cannot be read."""
    head = read_head(found, lambda head: any(prompt.kind in ("text", "plan") for prompt in head.prompts), kept)
    if head is None:
        return None
    facts, first = head.facts, head.prompts[0] if head.prompts else None
    plan = first.plan if first is not None else None
    return ChainHead(
        found.session_id,
        facts.slug,
        prompt_title(head.prompts),
        first.id if first is not None else "",
        plan is not None,
        plan.text if plan is not None else "",
        plan_key(plan) if plan is not None else 0,
        first.source if first is not None else "",
        facts.started,
        facts.base,
        facts.forked_from,
        facts.summaries,
    )


def last_active(found: FoundLog) -> float:
    """When the last line of a log was written, as the line says; copying a file does not change it."""
    size = _TAIL
    while (
        (tail := read_tail(found, size)) is not None and tail.facts.ended is None and size < min(found.size, _LONGEST)
    ):
        size *= 16  # a long line, or several that name no time
    ended = tail.facts.ended if tail is not None else None
    return ended.timestamp() if ended is not None else found.modified


class Neighbours:
    """Links sessions to the ones beside them; each log is looked into once."""

    def __init__(
        self,
        logs: Callable[[], Sequence[FoundLog]],
        prices: Callable[[], PriceTable],
        kept: "KeptSessions | None" = None,
    ) -> None:
        self._logs, self._prices = logs, prices
        self._kept = kept
        self._folders: dict[str, list[FoundLog]] = {}
        self._heads: dict[str, ChainHead | None] = {}
        self._counts: dict[str, CountedLog] = {}

    def linked(self, session: Session, found: FoundLog) -> Session:
        """The session with its neighbours in a chain, the plans that they settle, what its other versions used, and the
        conversation before it that other logs keep."""
        linked = self._with_versions(self._in_chain(session, found), found)
        earlier = tuple(self._earlier(found))[::-1]
        return msgspec.structs.replace(linked, earlier=earlier) if earlier else linked

    def _earlier(self, found: FoundLog) -> Iterator[Session]:
        """What came before the first line of a log, the last first, as far as it is there to be read."""
        seen = {found.path}
        while (head := self._head(found)) is not None and (base := head.base) is not None:
            files = (file for log in (found, *self._logs()) for file in (log, *log.versions))
            named = (file for file in files if file.agent_id == found.agent_id and _stem(file).endswith(base.log))
            log = next((file for file in named if file.path not in seen), None)
            if log is None:
                return
            seen.add(log.path)
            try:
                before = read_session(log, self._kept, base.end)
            except (UnspoolError, OSError):
                return
            if before.turns:
                yield before
            found = log

    def _with_versions(self, session: Session, found: FoundLog) -> Session:
        others = [log for log in found.versions if not is_part_of(log, found)]
        if not others:
            return session
        shown, apart = CallLedger(), CallLedger()
        shown.add(call for member in family(session) for message in member.messages for call in message.calls)
        for log in others:
            apart.merge(self._counted(log).ledger)
        only, _ = apart.divide(dict.fromkeys(shown.messages(), shown))
        return msgspec.structs.replace(session, elsewhere=tuple(only.calls()))

    def _in_chain(self, session: Session, found: FoundLog) -> Session:
        around = {log.session_id: log for log in self._around(session, found)}
        known = {name: self._known(log) for name, log in around.items() if self._head(log) is not None}
        mine = known.get(session.id)
        if mine is None:
            return session
        mine.offered = lambda: tuple(plan_key(plan) for plan in plans_of(session.turns))
        links = list(session.links)
        earlier, by = source_of(mine, list(known.values()))
        later = [(one, source_of(one, list(known.values()))) for one in known.values() if one.implements]
        later.sort(key=lambda pair: pair[0].started)
        followers = [(around[one.id], by) for one, (source, by) in later if source == session.id]
        heads = [one for log in around.values() if (one := self._head(log)) is not None]
        chain = _Chain(session, heads, {source: around[one.id] for one, (source, _) in reversed(later)})
        if earlier:
            links.append(self._link(around[earlier], "source", by, chain))
        links += [self._link(log, "follow-up", by, chain) for log, by in followers]
        plans = [(one.plan, one.id) for one in heads if any(log.session_id == one.id for log, _ in followers)]
        session, copies = self._divided(_named(self._settled(session, plans, chain), heads), found, chain)
        known_links = {link.session for link in links if link.relation == "copied-from"}
        links += [link for link in copies if link.session not in known_links]
        return msgspec.structs.replace(session, links=tuple(links)) if links else session

    def _divided(self, session: Session, found: FoundLog, chain: "_Chain") -> tuple[Session, list[ChainLink]]:
        """The session with what it copied from another marked, and links to those that have history in common."""
        counted = [(log, log.overview) for log in self._sharing(session, found) if log.overview is not None]
        if len(counted) < 2:
            return session, []
        divided = divide_history(counted)
        mine = divided[0]
        titles = {name_of(overview): overview.title for _, overview in counted}
        told = priced_overview(counted[0][1], mine, self._prices(), titles)
        links = []
        for one in divided[1:]:
            if (one.log.found.agent_id, one.log.found.session_id) == mine.source:
                links.append(self._link(one.log.found, "copied-from", "uuid", chain))
            elif one.source == (found.agent_id, session.id):
                links.append(self._link(one.log.found, "copied-to", "uuid", chain))
        return (session if told.history is None else mark_copied(session, mine, told.history)), links

    def _sharing(self, session: Session, found: FoundLog) -> Iterator[CountedLog]:
        """The session itself and those that begin as it does, counted; nothing where there are none."""
        line = _first_line(session)
        if not line or not (found.origin or may_share_history(found, line)):
            return
        others = [log for log in self._logs() if log.agent_id == found.agent_id and log.session_id != found.session_id]
        sharing = [log for log in others if not log.origin and may_share_history(log, line)]
        if self._kept is not None:
            sharing += self._kept.begun_with(line_hash(line), (log for log in others if log.origin))
        yield from map(self._counted, [found, *sharing] if sharing else [])

    def _settled(self, session: Session, plans: list[tuple[str, str]], chain: "_Chain") -> Session:
        """The session with the plans that others carry out; its title is the plan's as the first of them has it."""
        offered = plans_of((*session.turns, *(turn for branch in session.branches for turn in branch.turns)))
        undecided = bool(offered) and all(plan.status != "approved" for plan in offered)
        settled = settle_plans(session, plans)
        plan = self._plan_title(session.id, chain) if undecided else ""
        return msgspec.structs.replace(settled, titles=told_titles(settled.titles, plan, ""))

    def _plan_title(self, session: str, chain: "_Chain") -> str:
        """What the session calls a plan that carries it out for another; empty where none does."""
        log = chain.carried_out.get(session)
        if log is None or log.session_id == chain.session.id:
            return chain.session.titles.plan if log is not None else ""
        overview = self._overview(log)
        return overview.titles.plan if overview is not None else ""

    def _around(self, session: Session, found: FoundLog) -> list[FoundLog]:
        """The logs of its agent in the same folder, and the one that the session says it continues."""
        if not self._folders:
            for log in self._logs():
                self._folders.setdefault(os.path.dirname(log.path), []).append(log)  # noqa: PTH120  hot
        folder = os.path.dirname(found.path)  # noqa: PTH120
        beside = self._folders.get(folder) or list(by_id(found.agent_id).discover(Path(folder)))
        wanted = source_id(session.source) if session.source else ""
        named = [] if any(log.session_id == wanted for log in beside) else self._logs()
        every = (*beside, *(log for log in named if wanted and log.session_id == wanted))
        return [log for log in every if log.agent_id == found.agent_id]

    def _head(self, found: FoundLog) -> ChainHead | None:
        if found.path not in self._heads:
            self._heads[found.path] = chain_head(found, self._kept)
        return self._heads[found.path]

    def _known(self, found: FoundLog) -> KnownChains:
        one = self._head(found) or ChainHead(found.session_id, "", "", "", implements=False)
        return KnownChains(
            one.id, one.slug, source_id(one.source) if one.source else "", one.started, one.accepted,
            lambda: overview.offered if (overview := self._overview(found)) is not None else (),
        )  # fmt: skip

    def _overview(self, found: FoundLog) -> Overview | None:
        return self._counted(found).overview

    def _counted(self, found: FoundLog) -> CountedLog:
        if found.path not in self._counts:
            if self._kept is not None and found.origin:
                unknown = CountedLog(found, None, (), (), CallLedger())
                self._counts[found.path] = next(self._kept.counted([found]), unknown)
            else:
                self._counts[found.path] = count_log(found)
        return self._counts[found.path]

    def _link(self, found: FoundLog, relation: str, by: str, chain: "_Chain") -> ChainLink:
        """A link by the title that a list gives the session."""
        counted = self._counted(found)
        overview, ids = counted.overview, set(counted.ids)
        if overview is None:
            return ChainLink(found.session_id, relation, by)  # type: ignore[arg-type]
        said = (text for one in chain.heads for leaf, text in one.summaries.items() if leaf and line_hash(leaf) in ids)
        plan = self._plan_title(found.session_id, chain) if overview.plan_open else ""
        titles = told_titles(overview.titles, plan, next(said, ""))
        return chain_link(msgspec.structs.replace(overview, titles=titles), relation, by)


class _Chain(NamedTuple):
    """What is known around a session."""

    session: Session
    heads: list[ChainHead]
    carried_out: dict[str, FoundLog]
    """By session, the first that carries out its plan."""


def _stem(found: FoundLog) -> str:
    return os.path.basename(found.path).partition(".")[0]  # noqa: PTH119  hot


def _first_line(session: Session) -> str:
    """The id of the line that a conversation begins with."""
    first = session.turns[0] if session.turns else None
    if first is None:
        return ""
    begun = [block for block in (first.prompt, *first.blocks) if block is not None and block.id]
    return min(begun, key=lambda block: block.place.offset).id if begun else ""


def _named(session: Session, heads: list[ChainHead]) -> Session:
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
