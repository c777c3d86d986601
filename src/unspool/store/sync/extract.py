"""The rows that the index takes from one session."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from unspool.agents import CodingAgent, Detail, FoundLog, by_id
from unspool.errors import UnspoolError
from unspool.figures.changes import changed_lines, distinct_pushes, find_commits, pushes_of
from unspool.figures.file_states import file_place
from unspool.model import (
    Dialect,
    Event,
    Facts,
    Notice,
    Overview,
    Plan,
    Prompt,
    Push,
    Result,
    Text,
    Thinking,
    Todo,
    ToolCall,
    Transcript,
    Unknown,
)
from unspool.model.blocks import CallEnd
from unspool.model.tool_input import paths_of
from unspool.prices import PriceTable
from unspool.reading.assemble import recorded_push
from unspool.reading.ledger import CallLedger, line_hash
from unspool.reading.scan import PlanName, Scan, plan_name
from unspool.reading.skeleton import TurnNumber
from unspool.reading.tool_calls import CallKey, CallPairs
from unspool.store.index.hits import text_strings
from unspool.store.index.normalize_text import normalize_text
from unspool.store.index.requests import LogRows, PushRow, SessionRows, TouchRow, TurnRow
from unspool.store.index.schema import CALL_ENDS, KINDS, TOUCHES
from unspool.store.library.read import log_file, open_events, reading_failure
from unspool.store.sync.token_estimates import RequestBill, TokenEstimates, add_estimates

if TYPE_CHECKING:
    from unspool.store.index.requests import Doc


TITLE, PROMPT, ANSWER, THINKING, CALL, RESULT, NOTICE = range(len(KINDS))
_REPEATED = 200
"""Texts of this length or more are taken once a session."""
_PACKED = 512
"""Strings of this length or more that hold nothing but the letters of base64 are no text."""
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\-\r\n]+")
_EMBEDDED = re.compile(r"(;base64,)[A-Za-z0-9+/=]{64,}")
_NUMBERS = re.compile(r"\n *\d+[\t→]")
"""Numbers that a tool put before the lines of a file: they are not its text, and would stand inside phrases."""
_LONGEST = 4 * 1024 * 1024
_WRITES = dict(zip(TOUCHES, range(len(TOUCHES)), strict=True))
_TELLING = frozenset({*_WRITES, "shell", "todos"})
"""Roles of calls that did something which rows tell of."""


class LogGatherer:
    """The rows of one log. `seen` knows the texts that the session's logs before it held."""

    def __init__(self, dialect: Dialect, seen: set[int]) -> None:
        self._dialect = dialect
        self._seen = seen
        self.turns: list[TurnRow] = []
        self.docs: list[Doc] = []
        self.touches: list[TouchRow] = []
        self.commits: list[tuple[int, str, str, str, float | None]] = []
        self.pushes: list[Push] = []
        self.todos: tuple[Todo, ...] = ()
        self._lost: list[tuple[str, int]] = []
        """Call and turn of failures whose call was not met before."""
        self.weighed = TokenEstimates()
        self._pairs: defaultdict[str, CallPairs] = defaultdict(CallPairs)
        """Of the log's own conversation, and of each subagent whose lines stand in it."""
        self._known_calls: dict[CallKey, tuple[ToolCall, int]] = {}
        self._todo_items: dict[str, Todo] = {}
        self._plan_turns: dict[str, int] = {}
        """The turn of each prompt that carries out a plan, as a scan names that plan."""
        self._turn = 0
        self._modelled = False

    def take(self, event: Event) -> None:
        self.weighed.take(event)
        place = event.place.offset
        if event.prompt is not None:
            self._prompt(event.prompt, event, place)
        elif not self.turns:
            self._begin(event, place)
        if event.part is not None and not self._modelled and event.part.model and not event.part.synthetic:
            self._modelled = True
            self.turns[-1] = self.turns[-1]._replace(model=event.part.model)
        if event.blocks:
            pairs = self._pairs[event.agent]
            for block in event.blocks:
                take = self._TAKERS.get(type(block))
                if take is not None:
                    take(self, block, place, pairs)
        if event.side is not None and isinstance(event.side.data.get("content"), str):
            self._doc(NOTICE, place, event.side.data["content"])
        if event.problem is not None and event.problem.raw:
            self._doc(NOTICE, place, event.problem.raw[:_LONGEST].decode(errors="replace"))

    def number(self, numbers: Mapping[int, TurnNumber]) -> None:
        """Number turns as a session does, by the places of lines, now that the whole log is known. What was met after
        another prompt than its own goes to its own turn."""
        self.turns = [
            row if (own := numbers.get(row.place)) is None else row._replace(number=own.number, branch=own.branch)
            for row in self.turns
        ]
        at = {TurnNumber(row.branch, row.number): index for index, row in enumerate(self.turns)}
        for index, doc in enumerate(self.docs):
            number = numbers.get(doc[2])
            own_turn = doc[0] if number is None else at.get(number, doc[0])
            if own_turn != doc[0]:
                self.docs[index] = (own_turn, *doc[1:])
        self.docs.sort(key=itemgetter(0))

    def plan_rows(self, plans: Mapping[PlanName, Plan]) -> list[tuple[int, str, str]]:
        """Turn, title and status of each plan that a scan found in the log."""
        rows: list[tuple[int, str, str]] = []
        for name, plan in plans.items():
            turn = self._plan_turns.get(name, 0) if isinstance(name, str) else self._known_calls.get(name, (None, 0))[1]
            rows.append((turn, plan.title, plan.status))
        return rows

    def tally(self, ends: Mapping[CallKey, CallEnd]) -> list[tuple[int, str, tuple[int, ...]]]:
        """The calls of each turn and tool, and how those ended that did not go well, as a scan tells."""
        calls: Counter[tuple[int, str]] = Counter()
        ended: Counter[tuple[int, str, CallEnd]] = Counter()
        for key, (call, turn) in self._known_calls.items():
            calls[turn, call.name] += 1
            ended[turn, call.name, ends.get(key, "ok")] += 1
        for call_id, turn in self._lost:
            if not call_id or not any(pairs.knows(call_id) for pairs in self._pairs.values()):
                calls[turn, ""] += 0
                ended[turn, "", "failed"] += 1
        return [(*key, (number, *(ended[*key, end] for end in CALL_ENDS))) for key, number in calls.items()]

    def name(self, overview: Overview) -> None:
        """Make the session's names searchable, with its last turn, which is written again whenever the log grows."""
        if not self.turns:  # a log without a line has a turn all the same, for what is known of it beside the log
            self.turns.append(TurnRow(0, 0, None, 0))
        titles = overview.titles
        told = (titles.custom, titles.generated, titles.plan, titles.summary, titles.slug)
        names = "\n".join(dict.fromkeys(filter(None, (*told, overview.branch, overview.project))))
        self.docs.append((self._here, TITLE, 0, "", False, normalize_text(names)))

    @property
    def _here(self) -> int:
        """The turn that is being taken in, by its place in `turns`."""
        return len(self.turns) - 1

    def _begin(self, event: Event, place: int) -> None:
        time = event.time.timestamp() if event.time is not None else None
        line = line_hash(event.id) if event.id else 0
        self.turns.append(TurnRow(self._turn, 0, None if time is None else int(time * 1000), place, line=line))
        self._modelled = False

    def _prompt(self, prompt: Prompt, event: Event, place: int) -> None:
        if not event.sidechain or not self.turns:
            self._turn += 1
            self._begin(event, place)
        command = f"{prompt.command} {prompt.arguments}\n" if prompt.command else ""
        self._doc(PROMPT, place, command + prompt.words)
        if prompt.plan is not None:
            self._plan_turns[plan_name(prompt)] = self._here

    def _text(self, block: Text, place: int, _: CallPairs) -> None:
        self._doc(ANSWER, place, block.text)

    def _thinking(self, block: Thinking, place: int, _: CallPairs) -> None:
        self._doc(THINKING, place, block.text)

    def _notice(self, block: Notice, place: int, _: CallPairs) -> None:
        self._doc(NOTICE, place, block.text)

    def _unknown(self, block: Unknown, place: int, _: CallPairs) -> None:
        self._doc(NOTICE, place, "\n".join(_strings(block.data)))

    def _call(self, call: ToolCall, place: int, pairs: CallPairs) -> None:
        key, new = pairs.call(call)
        if new:
            self._known_calls[key] = call, self._here
            self._doc(CALL, place, "\n".join(_strings(call.input)), call.name)

    def _result(self, result: Result, place: int, pairs: CallPairs) -> None:
        key = pairs.answer(result)
        call, turn = (None, self._here) if key is None else self._known_calls[key]
        name = call.name if call is not None else ""
        text = result.text
        if call is not None and call.role == "read":
            text = _NUMBERS.sub("\n", f"\n{text}")[1:]
        state = self._dialect.state(result)
        self._doc(RESULT, place, text, name, error=state == "error")
        if call is None and state == "error":
            self._lost.append((result.call_id, turn))
        if call is not None and call.role in _TELLING:
            paired = ToolCall(call.place, call.call_id, call.name, call.input, state, call.role, result)  # type: ignore[arg-type]
            self._answered(paired, result, turn)

    def _answered(self, call: ToolCall, result: Result, turn: int) -> None:
        """What a call did, now that its answer is known."""
        time = result.time.timestamp() if result.time is not None else None
        if call.role in _WRITES:
            made = changed_lines(call)
            for path in paths_of(call) if call.state == "ok" else ():
                lines = made.get(path, (None, None))
                self.touches.append(TouchRow(turn, path, _WRITES[call.role], time, call.place.offset, lines))
        elif call.role == "shell":
            commits = find_commits([call])
            self.commits += [(turn, found.hash, found.branch, found.message, time) for found in commits]
            self.pushes += pushes_of(call)
        else:
            listed = self._dialect.todos(call, self._todo_items)
            self.todos = self.todos if listed is None else listed.items

    def _doc(self, kind: int, place: int, text: str, tool: str = "", *, error: bool = False) -> None:
        if len(text) >= _REPEATED:
            known = hash(text)
            if known in self._seen:
                return
            self._seen.add(known)
        if ";base64," in text:
            text = _EMBEDDED.sub(r"\1", text)
        if not text or is_packed(text):
            return
        self.docs.append((self._here, kind, place, tool, error, normalize_text(text)))

    _TAKERS: ClassVar[dict[type, Callable[[Any, Any, int, CallPairs], None]]] = {
        Text: _text, Thinking: _thinking, ToolCall: _call, Result: _result, Notice: _notice, Unknown: _unknown,
    }  # fmt: skip
    """What takes each kind of block. Of the class: methods of one gatherer that it holds itself would keep it for good,
    since whoever reads many logs looks for no cycles."""


def is_packed(text: str) -> bool:
    """Whether a text is data in base64."""
    return len(text) >= _PACKED and " " not in text[:_PACKED] and _BASE64.fullmatch(text) is not None


def _strings(data: Any) -> list[str]:
    """Every string in plain data, in order; data in base64 left out."""
    return [text for text in text_strings(data) if not is_packed(text)]


class ExtractJob(NamedTuple):
    """A session to be read: where, and how much of each of its logs."""

    found: FoundLog
    sizes: Mapping[str, int]
    """By path, the bytes that the archive holds."""
    read: Mapping[str, Transcript] = {}
    """By path, logs that somebody has read already."""

    @property
    def size(self) -> int:
        return sum(self.sizes.get(path, 0) for path in (self.found.path, *(one.path for one in self.found.agents)))


def extract_rows(job: ExtractJob, prices: PriceTable) -> SessionRows | str:
    """The rows of a session; the reason where its log cannot be read."""
    try:
        return _Session(job, prices).rows()
    except (UnspoolError, OSError) as error:
        return reading_failure(job.found.path, error)


class _HeardLog(NamedTuple):
    """A log while it is gone through."""

    events: Iterable[Event]
    facts: Facts


class _ReadLog(NamedTuple):
    scan: Scan
    gathered: LogGatherer
    facts: Facts


class _Session:
    def __init__(self, job: ExtractJob, prices: PriceTable) -> None:
        self._job, self._prices = job, prices
        self._found = job.found
        self._agent: CodingAgent = by_id(job.found.agent_id)
        self._bill = RequestBill()
        self._failures: list[str] = []
        self._seen: set[int] = set()
        self._named: set[str] = set()

    def rows(self) -> SessionRows:
        found = self._found
        own = self._read(found.path)
        logs, paths, names = [own], [found.path], [""]
        for number, agent in enumerate(found.agents, 1):
            try:
                logs.append(self._read(agent.path, number, own.scan.ledger))
            except (UnspoolError, OSError) as error:  # the rest counts
                self._failures.append(f"Cannot read {agent.path}: {error}")
                continue
            paths.append(agent.path)
            names.append(agent.id)
        own.scan.agents = len(found.agents)
        own.scan.inline.update(*(log.scan.inline for log in logs[1:]))
        overview = own.scan.overview(found.session_id, own.facts, log_file(found.path, self._size(found.path)))
        project = self._agent.project(own.facts, found.folder)
        overview = msgspec.structs.replace(overview, project=project, size=sum(map(self._size, paths)))
        own.gathered.name(overview)
        pushed = (push for log in logs for push in log.gathered.pushes)
        return SessionRows(
            overview,
            own.scan.ids.tobytes(),
            [_log(log, path, name, self._size(path)) for log, path, name in zip(logs, paths, names, strict=True)],
            self._bill.requests(own.scan.ledger, self._prices),
            own.gathered.todos,
            self._failures,
            sorted(self._named),
            add_estimates([log.gathered.weighed for log in logs], overview.usage.output),
            own.scan.prompt_ids.tobytes(),
            [_push(one) for one in distinct_pushes((*map(recorded_push, own.facts.links), *pushed))],
            sorted({one for log in logs for one in log.facts.loaded}),
        )

    def _read(self, path: str, number: int = 0, ledger: CallLedger | None = None) -> _ReadLog:
        """One pass through a log."""
        with self._opened(path) as log:
            dialect = self._agent.dialect(self._found, log.facts)
            own, logged = bool(number or self._found.owner), self._found.agent_ids
            scan = Scan(dialect, own=own, places=True, ledger=ledger, logged=logged)
            gathered = LogGatherer(dialect, self._seen)
            self._bill.begin(number)
            for event in log.events:
                self._bill.hear(event)
                gathered.take(event)
                if event.nested is not None and event.nested.agent not in logged:
                    self._bill.hear(event.nested)
                    gathered.take(event.nested)
                scan.add(event)
        self._named.update(dialect.named)
        gathered.number(scan.numbered(log.facts).turns)
        return _ReadLog(scan, gathered, log.facts)

    @contextmanager
    def _opened(self, path: str) -> Iterator[_HeardLog]:
        if (read := self._job.read.get(path)) is not None:
            yield _HeardLog(read.events, read.facts)
            return
        with open_events(path, self._agent, self._found, most=self._size(path), detail=Detail.TEXTS) as events:
            yield _HeardLog(events, events.facts)

    def _size(self, path: str) -> int:
        size = self._job.sizes.get(path)
        return Path(path).stat().st_size if size is None else size


def _push(push: Push) -> PushRow:
    time = push.time.timestamp() if push.time is not None else None
    return PushRow(push.kind, push.branch, push.url, push.repository, push.number, time)


def _log(log: _ReadLog, path: str, agent: str, size: int) -> LogRows:
    rows = log.gathered
    touches = [one._replace(path=file_place(one.path, log.facts.cwd)) for one in rows.touches]
    return LogRows(
        path, agent, size, rows.turns, rows.docs, touches, rows.commits, rows.plan_rows(log.scan.plans),
        rows.tally(log.scan.call_ends()),
    )  # fmt: skip
