"""A session as rows of the tables: each a tuple in the order of the table's columns.

Times are microseconds, money is picodollars; an empty text is NULL once it is written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from unspool.figures import SessionMember, calls_of, members
from unspool.figures.changes import changed_lines, distinct_pushes, find_commits, find_repository, pushes_of
from unspool.figures.file_states import file_place
from unspool.lake import tables
from unspool.model import (
    Agent,
    Block,
    Image,
    Json,
    Message,
    Notice,
    Place,
    Result,
    Session,
    Text,
    Thinking,
    ToolCall,
    Turn,
    Unknown,
    Usage,
)
from unspool.model.session import is_unlisted
from unspool.model.tool_input import paths_of, shell_command
from unspool.prices import MOST, PICO, Picodollars
from unspool.reading.ledger import CallLedger, stable_hash
from unspool.reading.prompts import placed_plans
from unspool.scanners import scan_session
from unspool.store.library.chains import settle_plans
from unspool.store.library.history import DividedLog

Row = tuple[Any, ...]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TOUCHING = ("read", "write", "edit")
_RAW = 64 * 1024
"""Bytes of an unreadable line that are told: the log itself holds the rest."""


class ConversationFacts(NamedTuple):
    """What of a session's row only its whole conversation tells."""

    repository: str
    agent_version: str
    entrypoint: str
    reported_cost: int | None


def facts_of(session: Session) -> ConversationFacts:
    return ConversationFacts(
        find_repository(session, calls_of(session)),
        session.versions[0] if session.versions else "",
        session.entrypoint,
        min(MOST, int(Decimal(session.reported_cost) * PICO)) if session.reported_cost else None,
    )


def session_row(divided: DividedLog, facts: ConversationFacts, price: Picodollars) -> Row:
    """The row of a session, linked and divided from the others as a list has it."""
    one, own = divided.log.overview, list(divided.own.rows())
    if one is None:
        raise ValueError("a log that could not be read has no row")
    costs = [price.of(terms, time, figures) for _, _, time, terms, figures, _ in own]
    copied = divided.copied.rows() if divided.copied is not None else ()
    history, used = one.history, divided.own.usage
    earlier = next((link.session for link in one.links if link.relation == "source"), "")
    return (
        one.id, one.title, one.kind, not is_unlisted(one.kind, one.title), one.project, one.cwd, one.branch,
        facts.repository, one.slug, facts.agent_version, facts.entrypoint, _micros(one.started), _micros(one.ended),
        one.turns, history.turns if history is not None else 0, one.messages, one.tool_calls, one.tool_errors,
        one.tool_refusals, one.tool_interruptions, one.tool_unanswered, one.agents, one.compactions, one.problems,
        one.lines, one.size, ", ".join(dict.fromkeys(row[3][0] for row in own if row[3][0])), len(own), *_tokens(used),
        sum(cost or 0 for cost in costs), costs.count(None), sum(not row[5] for row in own), facts.reported_cost,
        divided.copied_from, sum(price.of(row[3], row[2], row[4]) or 0 for row in copied), earlier, one.kept,
        one.log.path,
    )  # fmt: skip


class SessionTables:
    """The rows of one session, but for its own, which depends on all others.

    What it copied is marked in `session`, and told by `divided`. Without `results`, what tools answered stays out.
    """

    def __init__(self, session: Session, divided: DividedLog, price: Picodollars, *, results: bool) -> None:
        self._session, self._divided, self._price, self._results = session, divided, price, results

    def rows(self, plans: Iterable[tuple[str, str]] = ()) -> Iterator[tuple[str, Row]]:
        """Every row with the name of its table. `plans` are plans that other sessions carry out, with these."""
        for member in members(self._session):
            answered = {one.id: one.model for one in member.session.messages if not one.synthetic}
            for branch, turn in _turns(member.session):
                yield from self._turn(member, branch, turn, answered)
            for message in member.session.messages:
                yield tables.MESSAGES.name, self._message(member, message)
            if member.agent is not None:
                yield tables.SUBAGENTS.name, self._agent(member, member.agent)
            for one in member.session.problems:
                said = (one.why, one.mended, one.raw[:_RAW].decode(errors="replace"), len(one.raw))
                log = one.log or member.session.log.path
                yield tables.PROBLEMS.name, (self._session.id, *said, log, *_place(one.place))
        yield from self._usage()
        yield from self._pushes()
        yield from self._once(settle_plans(self._session, plans))

    def _turn(
        self, member: SessionMember, branch: int, turn: Turn, models: Mapping[str, str]
    ) -> Iterator[tuple[str, Row]]:
        where = (self._session.id, _subagent(member), branch, turn.number, member.copied or turn.copied)
        log, prompt = member.session.log.path, turn.prompt
        yield tables.TURNS.name, (*where, *_turn_figures(turn, models), log, *_place(_first_place(turn)))
        if prompt is not None:
            said = (prompt.id, _micros(prompt.time), prompt.kind, prompt.text, prompt.command, prompt.arguments)
            came = (len(prompt.images), prompt.mode, prompt.origin)
            yield tables.PROMPTS.name, (*where, *said, *came, log, *_place(prompt.place))
        for number, block in enumerate(turn.blocks, 1):
            yield tables.BLOCKS.name, (*where, number, *_block(block), log, *_place(block.place))
            if isinstance(block, ToolCall):
                yield from self._call(where, block, member.session)

    def _call(self, where: Row, call: ToolCall, session: Session) -> Iterator[tuple[str, Row]]:
        """A call, and what it did to files and repositories."""
        result, log, place = call.result, session.log.path, _place(call.place)
        changed, named = changed_lines(call), paths_of(call)
        paths = [file_place(path, session.cwd) for path in named]
        began, ended = _micros(call.time), _micros(result.time) if result is not None else None
        added, removed = map(sum, zip(*changed.values(), strict=True)) if changed else (None, None)
        yield (
            tables.CALLS.name,
            (
                *where, call.call_id, call.name, call.role, call.state, call.end, began, ended,
                None if began is None or ended is None else max(0, ended - began) // 1000,
                _json(call.input), shell_command(call) if call.role == "shell" else "", paths[0] if paths else "",
                added, removed, *self._answer(result), call.server, call.message, log, *place,
                _place(result.place)[0] if result is not None else None,
            ),
        )  # fmt: skip
        if result is not None and call.role in _TOUCHING and call.state == "ok":
            for name, path in zip(named, paths, strict=True):
                lines = changed.get(name, (None, None))
                yield tables.FILES.name, (*where, call.call_id, path, call.role, ended, *lines, log, *place)
        for commit in find_commits([call]) if call.role == "shell" else ():
            made = (commit.hash, commit.branch, commit.message, commit.root, _micros(commit.time))
            yield tables.COMMITS.name, (*where, *made, call.call_id, log, *place)

    def _answer(self, result: Result | None) -> Row:
        """What a tool answered, its size, and who did not let it run, or did."""
        if result is None:
            return "", None, "", "", ""
        text = result.text or (_json(result.parts) if result.parts else "")
        return text if self._results else "", len(text), result.denial, result.feedback, result.permission

    def _message(self, member: SessionMember, one: Message) -> Row:
        return (
            self._session.id, _subagent(member), member.copied or one.copied, one.id, one.model, _micros(one.time),
            _micros(one.ended), one.stop, one.effort, one.synthetic, one.retracted, one.aborted, one.live,
            len(one.own_calls), *_tokens(one.usage), member.session.log.path, next(iter(one.lines), None),
        )  # fmt: skip

    def _agent(self, member: SessionMember, agent: Agent) -> Row:
        session, calls = agent.session, list(calls_of(agent.session))
        return (
            self._session.id, agent.id, member.parent, member.copied, agent.kind, agent.name, agent.description,
            agent.call_id, agent.background, agent.status, _micros(session.started), _micros(session.ended),
            sum(not message.synthetic for message in session.messages),
            sum(call.state != "orphan" for call in calls), sum(call.end == "failed" for call in calls),
            session.lines.total, session.log.path,
        )  # fmt: skip

    def _usage(self) -> Iterator[tuple[str, Row]]:
        """Every request of the session, its subagents' and its other versions' included."""
        answers = {
            stable_hash(call.key.rpartition(":")[0]): (member, message)
            for member in members(self._session)
            for message in member.session.messages
            for call in message.calls
        }
        for ledger, counted in ((self._divided.own, True), (self._divided.copied or CallLedger(), False)):
            for message, request, time, terms, figures, final in ledger.rows():
                member, answer = answers.get(message, (None, None))
                known = answer is not None and stable_hash(answer.id) == message
                name = answer.id if answer is not None and known else f"{message:016x}"
                when = None if time is None else round(time * 1_000_000)
                cost = self._price.of(terms, time, figures)
                input_, output, read, write, *others = figures
                log = member.session.log.path if member is not None else ""
                yield (
                    tables.USAGE.name,
                    (
                        self._session.id, _subagent(member) if member is not None else "", counted, name,
                        f"{request:016x}", when, *terms, input_, output, read, write, *others, final, cost, log,
                        next(iter(answer.lines), None) if answer is not None else None,
                    ),
                )  # fmt: skip

    def _pushes(self) -> Iterator[tuple[str, Row]]:
        session = self._session
        calls = ((member.session.log.path, call) for member in members(session) for call in calls_of(member.session))
        logs = {push: log for log, call in calls for push in pushes_of(call)}
        for push in distinct_pushes((*session.recorded, *logs)):
            said = (push.kind, push.branch, push.url, push.repository, push.number or None, _micros(push.time))
            yield tables.PUSHES.name, (session.id, *said, push.call_id, logs.get(push, session.log.path))

    def _once(self, session: Session) -> Iterator[tuple[str, Row]]:
        """What the session has as a whole: plans, things to do, flags."""
        log = session.log.path
        for branch, turns in ((0, session.turns), *((one.number, one.turns) for one in session.branches)):
            for turn, place, plan in placed_plans(turns):
                where = (session.id, branch, turn.number, turn.copied)
                fate = (plan.status, plan.feedback, plan.edited, plan.path, plan.settled_by)
                yield tables.PLANS.name, (*where, plan.title, plan.text, *fate, log, *_place(place))
        for position, todo in enumerate(session.todos.items, 1):
            said = (todo.id, todo.text, todo.status, todo.owner, todo.priority)
            yield tables.TODOS.name, (session.id, position, *said)
        for flag in scan_session(self._session):
            found = (flag.scanner, flag.why, flag.turn, flag.quote)
            yield tables.FLAGS.name, (session.id, *found, log, flag.line or None)


def unread_row(session: str, log: str, why: str) -> tuple[str, Row]:
    """The row of a log that could not be read at all."""
    return tables.PROBLEMS.name, (session, why, False, "", None, log, None, None)


def _subagent(member: SessionMember) -> str:
    return member.agent.id if member.agent is not None else ""


def _turns(session: Session) -> Iterator[tuple[int, Turn]]:
    """Every turn with the number of its branch."""
    yield from ((0, turn) for turn in session.turns)
    yield from ((branch.number, turn) for branch in session.branches for turn in branch.turns)


def _turn_figures(turn: Turn, models: Mapping[str, str]) -> Row:
    calls = [block for block in turn.blocks if isinstance(block, ToolCall)]
    spoken = (block.message for block in turn.blocks if not isinstance(block, Notice | Image))
    return (
        _micros(turn.started), _micros(turn.ended), turn.prompt.kind if turn.prompt is not None else "",
        next((models[name] for name in spoken if name in models), ""),
        sum(isinstance(block, Text) for block in turn.blocks),
        sum(call.state != "orphan" for call in calls), sum(call.end == "failed" for call in calls),
        *_tokens(turn.usage), turn.context,
    )  # fmt: skip


def _first_place(turn: Turn) -> Place | None:
    if turn.prompt is not None:
        return turn.prompt.place
    return turn.blocks[0].place if turn.blocks else None


def _block(block: Block) -> Row:
    """Kind, name, id, message, call, time, text and further data of a block."""
    time = _micros(block.time)
    match block:
        case Text():
            return "text", "", block.id, block.message, "", time, block.text, ""
        case Thinking():
            return "thinking", "", block.id, block.message, "", time, block.text, ""
        case ToolCall():
            return "tool", block.name, block.id, block.message, block.call_id, time, "", ""
        case Image():
            return "image", block.media_type, block.id, "", "", time, block.path or block.url or block.label, ""
        case Notice():
            return "notice", block.kind, block.id, "", "", time, block.text, _json(block.facts) if block.facts else ""
        case Unknown():
            return "unknown", block.what, block.id, block.message, "", time, "", _json(block.data)


def _micros(time: datetime | None) -> int | None:
    return None if time is None else (time - _EPOCH) // _MICROSECOND


def _place(place: Place | None) -> tuple[int | None, int | None]:
    """Line and offset; neither where it stands in no line."""
    return (place.line, place.offset) if place is not None and place.line else (None, None)


def _tokens(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write


def _json(data: Json) -> str:
    try:
        return msgspec.json.encode(data).decode()
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass  # numbers and halves of characters that no quick writer takes
    try:
        return json.dumps(data, default=str)
    except (ValueError, TypeError, RecursionError):
        return ""  # nested so deeply that no reader would take it
