"""The rows that the index takes from one session."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from unspool.agents import AgentFormat, FoundLog, by_id
from unspool.agents.base import LineParser
from unspool.errors import UnspoolError
from unspool.figures.changes import file_path_of, find_commits
from unspool.model import (
    Dialect,
    Event,
    Notice,
    Overview,
    Plan,
    Prompt,
    Result,
    Text,
    Thinking,
    Todo,
    ToolCall,
    Unknown,
)
from unspool.prices import PriceTable
from unspool.reading.overview import OverviewReader
from unspool.reading.skeleton import Skeleton, turns_by_place
from unspool.store.index.hits import text_strings
from unspool.store.index.normalize_text import normalize_text
from unspool.store.index.requests import LogRows, SessionRows, TurnRow
from unspool.store.index.schema import KINDS, TOUCHES
from unspool.store.library.inputs import open_log
from unspool.store.library.read import LogReader, log_file, skim_events
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


class LogGatherer:
    """The rows of one log. `seen` knows the texts that the session's logs before it held."""

    def __init__(self, dialect: Dialect, seen: set[int]) -> None:
        self._dialect = dialect
        self._seen = seen
        self.skeleton = Skeleton(slim=True)
        self.turns: list[TurnRow] = []
        self.docs: list[Doc] = []
        self.touches: list[tuple[int, str, int, float | None, int]] = []
        """Turn, path, how, time, place of the call."""
        self.commits: list[tuple[int, str, str, str, float | None]] = []
        self.plans: dict[str, tuple[int, str, str]] = {}
        self.todos: tuple[Todo, ...] = ()
        self.calls: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.weighed = TokenEstimates()
        self._known_calls: dict[str, tuple[ToolCall, int]] = {}
        self._todo_items: dict[str, Todo] = {}
        self._offered: dict[str, str] = {}
        self._turn = 0
        self._modelled = False

    def watched(self, events: Iterator[Event]) -> Iterator[Event]:
        """The events, each taken in on its way."""
        for event in events:
            self.take(event)
            yield event

    def take(self, event: Event) -> None:
        self.weighed.take(event)
        if event.id and event.side is None and event.kind != "problem":
            self.skeleton.add(event)
        place = event.place.offset
        if event.prompt is not None:
            self._prompt(event.prompt, event, place)
        elif not self.turns:
            self._begin(event, place)
        if event.part is not None and not self._modelled and event.part.model and not event.part.synthetic:
            self._modelled = True
            self.turns[-1] = self.turns[-1]._replace(model=event.part.model)
        for block in event.blocks:
            self._block(block, place)
        if event.side is not None and isinstance(event.side.data.get("content"), str):
            self._doc(NOTICE, place, event.side.data["content"])
        if event.problem is not None and event.problem.raw:
            self._doc(NOTICE, place, event.problem.raw[:_LONGEST].decode(errors="replace"))

    def number(self, unsent: Iterable[int] = ()) -> None:
        """Number turns as a session does, now that the whole log is known: along branches, and with prompts that were
        queued at the places `unsent`. What was met after another prompt than its own goes to its own turn."""
        numbers = turns_by_place(self.skeleton, unsent)
        self.turns = [
            row if (own := numbers.get(row.place)) is None else row._replace(number=own.number, branch=own.branch)
            for row in self.turns
        ]
        at = {(row.branch, row.number): index for index, row in enumerate(self.turns)}
        self.docs = sorted(
            ((at.get(numbers[doc[2]], doc[0]) if doc[2] in numbers else doc[0], *doc[1:]) for doc in self.docs),
            key=itemgetter(0),
        )

    def name(self, overview: Overview) -> None:
        """Make the session's names searchable, with its last turn, which is written again whenever the log grows."""
        self._some_turn()
        titles = overview.titles
        told = (titles.custom, titles.generated, titles.plan, titles.summary, titles.slug)
        names = "\n".join(dict.fromkeys(filter(None, (*told, overview.branch, overview.project))))
        self.docs.append((self._here, TITLE, 0, "", False, normalize_text(names)))

    def _some_turn(self) -> None:
        """A log without a line has a turn all the same, for what is known of it beside the log."""
        if not self.turns:
            self.turns.append(TurnRow(0, 0, None, 0))

    @property
    def _here(self) -> int:
        """The turn that is being taken in, by its place in `turns`."""
        return len(self.turns) - 1

    def _begin(self, event: Event, place: int) -> None:
        time = event.time.timestamp() if event.time is not None else None
        self.turns.append(TurnRow(self._turn, 0, None if time is None else int(time * 1000), place))
        self._modelled = False

    def _prompt(self, prompt: Prompt, event: Event, place: int) -> None:
        if not event.sidechain or not self.turns:
            self._turn += 1
            self._begin(event, place)
        command = f"{prompt.command} {prompt.arguments}\n" if prompt.command else ""
        self._doc(PROMPT, place, command + prompt.text)
        if prompt.plan is not None:
            self._accepted(prompt.plan, f"line-{place}")

    def _accepted(self, plan: Plan, name: str) -> None:
        """A plan that a prompt carries out: one that was put forward here before, or one of its own."""
        text = plan.text.strip()
        known = next((call for call, offered in self._offered.items() if offered and text.startswith(offered)), name)
        turn, title, _ = self.plans.get(known, (self._here, plan.title, ""))
        self.plans[known] = turn, title, plan.status

    def _block(self, block: Any, place: int) -> None:
        if isinstance(block, Text):
            self._doc(ANSWER, place, block.text)
        elif isinstance(block, Thinking):
            self._doc(THINKING, place, block.text)
        elif isinstance(block, ToolCall):
            self._call(block, place)
        elif isinstance(block, Result):
            self._result(block, place)
        elif isinstance(block, Notice):
            self._doc(NOTICE, place, block.text)
        elif isinstance(block, Unknown):
            self._doc(NOTICE, place, "\n".join(_strings(block.data)))

    def _call(self, call: ToolCall, place: int) -> None:
        if call.call_id in self._known_calls:
            return
        self._known_calls[call.call_id] = call, self._here
        self.calls[call.name] += 1
        self._doc(CALL, place, "\n".join(_strings(call.input)), call.name)
        if call.role == "plan":
            self._plan(call, self._here)

    def _result(self, result: Result, place: int) -> None:
        call, turn = self._known_calls.get(result.call_id, (None, self._here))
        name = call.name if call is not None else ""
        text = result.text
        if call is not None and call.role == "read":
            text = _NUMBERS.sub("\n", f"\n{text}")[1:]
        self._doc(RESULT, place, text, name, error=result.error)
        if result.error:
            self.errors[name] += 1
        if call is not None:
            self._answered(call, result, turn)

    def _answered(self, call: ToolCall, result: Result, turn: int) -> None:
        """What a call did, now that its answer is known."""
        if call.role not in ("shell", "read", "write", "edit", "plan", "todos"):
            return
        paired = ToolCall(
            call.place, call.call_id, call.name, call.input, "error" if result.error else "ok", call.role, result
        )
        time = result.time.timestamp() if result.time is not None else None
        if call.role == "shell":
            self.commits += [(turn, found.hash, found.branch, found.message, time) for found in find_commits([paired])]
        elif call.role in _WRITES:
            path = file_path_of(call)
            if path and not result.error:
                self.touches.append((turn, path, _WRITES[call.role], time, call.place.offset))
                self._dialect.note(paired)
        elif call.role == "plan":
            self._plan(paired, turn)
        else:
            listed = self._dialect.todos(paired, self._todo_items)
            self.todos = self.todos if listed is None else listed.items

    def _plan(self, call: ToolCall, turn: int) -> None:
        plan = self._dialect.plan(call)
        if plan is not None:
            self.plans[call.call_id] = turn, plan.title, plan.status
            self._offered[call.call_id] = plan.text.strip()

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
    prices: PriceTable

    @property
    def size(self) -> int:
        return sum(self.sizes.get(path, 0) for path in (self.found.path, *(one.path for one in self.found.agents)))


def extract_rows(job: ExtractJob) -> SessionRows | str:
    """The rows of a session; the reason where its log cannot be read."""
    found = job.found
    try:
        return _Session(job).rows()
    except UnspoolError as error:
        return str(error)
    except OSError as error:
        return f"Cannot read {found.path}: {error.strerror or error}."


class _Session:
    def __init__(self, job: ExtractJob) -> None:
        self._job = job
        self._found = job.found
        self._format: AgentFormat = by_id(job.found.format)
        self._bill = RequestBill()
        self._weighed: list[TokenEstimates] = []
        self._failures: list[str] = []
        self._seen: set[int] = set()
        self._named: set[str] = set()

    def rows(self) -> SessionRows:
        found = self._found
        parser = self._format.parser(found)
        dialect = self._format.dialect(found, parser.facts)
        skim = OverviewReader(dialect)
        own = LogGatherer(dialect, self._seen)
        self._weighed.append(own.weighed)
        skim.main(own.watched(self._bill.heard(self._events(found.path, parser), 0)))
        if skim.open_plans:
            skim.settle(skim_events(found.path, self._format, self._format.parser(None), skim.open_plans))
        agents = []
        for number, agent in enumerate(found.agents, 1):
            agents.append(self._agent(skim, agent.path, agent.id, number))
        own.number(prompt.place.offset for prompt in skim.queued(parser.facts))
        overview = skim.overview(found.session_id, parser.facts, log_file(found.path, self._size(found.path)))
        overview = msgspec.structs.replace(
            overview,
            project=self._format.project(parser.facts, found.folder),
            size=sum(self._size(path) for path in (found.path, *(agent.path for agent in found.agents))),
        )
        own.name(overview)
        logs = [_log(own, found.path, "", self._size(found.path)), *agents]
        return SessionRows(
            overview,
            skim.ids.tobytes(),
            logs,
            self._bill.requests(skim.ledger, self._job.prices),
            own.todos,
            self._failures,
            sorted(self._named.union(dialect.named)),
            add_estimates(self._weighed, overview.usage.output),
        )

    def _agent(self, skim: OverviewReader, path: str, identity: str, number: int) -> LogRows:
        """A subagent's log; one that cannot be read is told of, and the rest counts."""
        parser = self._format.parser(self._found)
        dialect = self._format.dialect(self._found, parser.facts)
        gathered = LogGatherer(dialect, self._seen)
        self._weighed.append(gathered.weighed)
        try:
            skim.agent(gathered.watched(self._bill.heard(self._events(path, parser), number)))
        except (UnspoolError, OSError) as error:
            self._failures.append(f"Cannot read {path}: {error}")
        gathered.number()
        self._named.update(dialect.named)
        return _log(gathered, path, identity, self._size(path))

    def _events(self, path: str, parser: LineParser) -> Iterator[Event]:
        reader = LogReader()
        with open_log(path, self._size(path)) as stream:
            for entry in reader.entries(stream):
                yield parser.event(entry)

    def _size(self, path: str) -> int:
        size = self._job.sizes.get(path)
        return Path(path).stat().st_size if size is None else size


def _log(gathered: LogGatherer, path: str, agent: str, size: int) -> LogRows:
    return LogRows(
        path, agent, size, gathered.turns, gathered.docs, gathered.touches, gathered.commits,
        list(gathered.plans.values()), dict(gathered.calls), dict(gathered.errors),
    )  # fmt: skip
