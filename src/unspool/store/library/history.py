"""A session is one session: its files joined wherever they lie, and history that it copied from another told apart.

Forks and continuations hold the lines of the session they came from, under the same ids. Whoever comes first by
`history_order` owns what is shared: it is paid, shown and found there; the others say how much they copied.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from math import inf
from typing import NamedTuple

import msgspec

from unspool.agents import FoundLog
from unspool.model import Overview, Session, SharedHistory, Turn
from unspool.prices import PriceTable
from unspool.reading.ledger import CallLedger, line_hash, stable_hash, sum_by_model
from unspool.reading.scan import is_recorded_fork

_FIRST_BYTES = 64 * 1024
_SHORTEST_ID = 16


class CountedLog(NamedTuple):
    """One log counted: its overview, its line ids and its billed requests; or why it could not be read."""

    found: FoundLog
    overview: Overview | None
    ids: Sequence[int]
    """Of every line, as `line_hash` gives them."""
    prompts: Sequence[int]
    """Of those lines, the ids of prompts."""
    ledger: CallLedger
    failure: str = ""


def history_order(overview: Overview) -> tuple[float, bool, float, str, str]:
    """Sorts sessions so that history passes from earlier to later ones: a copy begins as its original does, says that
    it is one or ends later."""
    started, ended = _seconds(overview.started), _seconds(overview.ended)
    return started, is_recorded_fork(overview), ended, overview.id, overview.agent


def _seconds(moment: datetime | None) -> float:
    return inf if moment is None else moment.timestamp()


def version_order(overview: Overview) -> tuple[float, int, bool]:
    """Sorts files of one session so that the last is the one to show."""
    ended = overview.ended or overview.log.modified
    return -inf if ended is None else ended.timestamp(), overview.lines, not overview.kept


def join_versions(counted: Iterable[CountedLog]) -> Iterator[CountedLog]:
    """One log a session: the one to show, with the requests of all its files."""

    def session(one: CountedLog) -> tuple[str, str]:
        return one.found.agent_id, one.found.session_id

    for _, files in groupby(sorted(counted, key=session), key=session):
        readable = []
        for one in files:
            if one.overview is None:
                yield one
            else:
                readable.append((version_order(one.overview), one.found.path, one))
        if readable:
            *others, (_, _, shown) = sorted(readable, key=lambda version: version[:2])
            for _, _, other in others:
                shown.ledger.merge(other.ledger)
            yield shown


SessionName = tuple[str, str]
"""Agent and id: two agents may have sessions of one id."""


def name_of(overview: Overview) -> SessionName:
    return overview.agent, overview.id


class DividedLog(NamedTuple):
    """A log with what is its own, and what it copied."""

    log: CountedLog
    own: CallLedger
    source: SessionName = ("", "")
    """The session that owns the last line it has in common with another; empty where all is its own."""
    copied_lines: frozenset[int] = frozenset()
    copied: CallLedger | None = None

    @property
    def copied_from(self) -> str:
        """The id of that session."""
        return self.source[1]


def divide_history(counted: Sequence[tuple[CountedLog, Overview]]) -> list[DividedLog]:
    """Tell apart what each of some sessions owns, in their order; requests of several are their first one's alone."""
    owners: dict[int, SessionName] = {}
    ledgers: dict[int, CallLedger] = {}
    """By message, the ledger that holds its requests."""
    divided: dict[SessionName, DividedLog] = {}
    for log, overview in sorted(counted, key=lambda one: history_order(one[1])):
        name, source, lines = name_of(overview), ("", ""), []
        for identity in log.ids:
            first = owners.setdefault(identity, name)
            if first != name:
                source = first
                lines.append(identity)
        own, copied = log.ledger.divide(ledgers)
        divided[name] = DividedLog(log, own, source, frozenset(lines), copied)
    return [divided[name_of(overview)] for _, overview in counted]


def priced_overview(
    overview: Overview, divided: DividedLog, prices: PriceTable, titles: dict[SessionName, str]
) -> Overview:
    """The overview with what its own requests cost at list prices, and what it copied."""
    total = prices.total(divided.own.rows())
    history = None
    if divided.copied_from or divided.copied is not None:
        copied = divided.copied or CallLedger()
        turns = sum(prompt in divided.copied_lines for prompt in divided.log.prompts)
        name = titles.get(divided.source, "")
        history = SharedHistory(divided.copied_from, turns, name, copied.usage, prices.total(copied.rows()).amount)
    return msgspec.structs.replace(
        overview,
        calls=sum_by_model(divided.own),
        cost=total.amount,
        unpriced=tuple(model for model, _ in total.unpriced),
        history=history,
    )


def is_part_of(log: FoundLog, whole: FoundLog) -> bool:
    """Whether one file of a session holds nothing that another does not: it is the same, or an earlier state."""
    if log.origin or whole.origin or log.agents or log.size > whole.size:
        return False
    try:
        with open(log.path, "rb") as one, open(whole.path, "rb") as other:  # noqa: PTH123  hot
            while chunk := one.read(1 << 20):
                if other.read(len(chunk)) != chunk:
                    return False
    except OSError:
        return False
    return True


def may_share_history(found: FoundLog, line: str) -> bool:
    """Whether a log may hold lines of a session that begins with this line: a copy has it near its own beginning.

    Of an id that a reader made, what stands before a slash is in the log. One that is too short would stand in every
    log.
    """
    line = line.partition("/")[0]
    if len(line) < _SHORTEST_ID:
        return False
    try:
        with open(found.path, "rb") as stream:  # noqa: PTH123  hot
            return line.encode(errors="replace") in stream.read(_FIRST_BYTES)
    except OSError:
        return False


def mark_copied(session: Session, divided: DividedLog, history: SharedHistory) -> Session:
    """The session with the turns and messages marked that it copied."""
    lines = divided.copied_lines
    known = divided.copied.messages() if divided.copied is not None else frozenset()

    def turn(one: Turn) -> Turn:
        begun = next((part.id for part in (one.prompt, *one.blocks) if part is not None and part.id), "")
        return msgspec.structs.replace(one, copied=True) if line_hash(begun) in lines else one

    def paid_once(one: Session) -> Session:
        messages = (
            msgspec.structs.replace(message, copied=True) if stable_hash(message.id) in known else message
            for message in one.messages
        )
        agents = (msgspec.structs.replace(agent, session=paid_once(agent.session)) for agent in one.agents)
        return msgspec.structs.replace(one, messages=tuple(messages), agents=tuple(agents))

    branches = (msgspec.structs.replace(branch, turns=tuple(map(turn, branch.turns))) for branch in session.branches)
    return msgspec.structs.replace(
        paid_once(session), turns=tuple(map(turn, session.turns)), branches=tuple(branches), history=history
    )
