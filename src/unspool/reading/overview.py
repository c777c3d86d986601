"""What a list shows of a session, gathered line by line; nothing of the log is kept in memory."""

from array import array
from collections import Counter
from collections.abc import Iterable

from unspool.model import (
    Dialect,
    Event,
    Facts,
    LogFile,
    Notice,
    Overview,
    Part,
    Plan,
    Prompt,
    Result,
    SessionKind,
    Titles,
    ToolCall,
)
from unspool.reading.assemble import plan_title, prompt_title, recorded_links, session_kind, shorten_title
from unspool.reading.build import prompt_hash, unsent_prompts
from unspool.reading.draft import InlineAgents
from unspool.reading.ledger import CallLedger, stable_hash, sum_by_model

_EARLY = 50
"""How many prompts are looked at for a title."""


_PLAN_HEAD = 800
"""How much of a plan tells it from others."""


class OverviewReader:
    """Counts one session: first its own log, then its subagents'."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.ledger = CallLedger()
        self._seen: set[int] = set()
        self.ids = array("Q")
        """Every line id in order, as `stable` gives it, for telling which session's history another holds."""
        self._unbilled: set[int] = set()
        self._calls: set[int] = set()
        self._plans: dict[str, Plan] = {}
        self._plan_calls: dict[str, ToolCall] = {}
        self._answered: set[str] = set()
        self._offered: dict[int, None] = {}
        self._accepted = 0
        self._early: list[Prompt] = []
        self._typed: Counter[int] = Counter()
        self._sidechains = InlineAgents()
        self._inline: set[str] = set()
        self._own, self._conversed, self._sides = True, False, 0
        self._loose = self._messages = self._turns = self._errors = self._compactions = self._problems = self._lines = (
            self._agents
        ) = 0

    def main(self, events: Iterable[Event]) -> None:
        """Take in the session's own log."""
        line = -1
        for event in events:
            self._lines += event.place.line != line
            line = event.place.line
            self._problems += event.problem is not None
            self._sides += event.side is not None
            self._loose += bool(event.blocks) and not event.id
            if event.id:
                self._once(event, billed=self.ledger.see(event))

    def _once(self, event: Event, *, billed: bool) -> None:
        """Count a line that was not counted yet; a message's lines are told apart by what they hold."""
        identity = stable_hash(event.id)
        if identity in self._seen and event.part is None:
            return
        if identity not in self._seen:
            self._seen.add(identity)
            self.ids.append(identity)
        self._conversed = True
        if event.sidechain:
            self._sidechain(event)
        else:
            self._count(event, billed=billed)

    def _count(self, event: Event, *, billed: bool) -> None:
        self._own = False
        if event.prompt is not None:
            self._prompt(event.prompt)
        if event.part is not None and not event.part.synthetic:
            self._message(event.part, billed=billed)
        for block in event.blocks:
            if isinstance(block, ToolCall):
                self._call(block)
            elif isinstance(block, Result):
                self._result(block)
            elif isinstance(block, Notice) and block.kind == "compaction":
                self._compactions += 1

    def _message(self, part: Part, *, billed: bool) -> None:
        """Count a message once: the ledger knows the billed ones, the others are few."""
        if part.usage is None:
            if not self.ledger.knows(part.message):
                self._unbilled.add(hash(part.message))
        elif billed:
            self._messages += 1
            self._unbilled.discard(hash(part.message))

    def _sidechain(self, event: Event) -> None:
        """Lines of subagents in the session's own log: only their number and their usage count here."""
        self._inline.add(self._sidechains.of(event))

    def _prompt(self, prompt: Prompt) -> None:
        if prompt.plan is not None and not self._turns:
            self._accepted = plan_key(prompt.plan)
        self._turns += 1
        self._typed[prompt_hash(prompt)] += 1
        if len(self._early) < _EARLY:
            self._early.append(_brief(prompt))
        if prompt.plan is not None:
            self._plans[f"line-{prompt.place.line}"] = _untold(prompt.plan)

    def _call(self, call: ToolCall) -> None:
        self._calls.add(hash(call.call_id))
        if call.role == "plan":
            self._plan_calls[call.call_id] = call
            self._plan(call)

    def _plan(self, call: ToolCall) -> None:
        plan = self._dialect.plan(call)
        if plan is not None:
            self._plans[call.call_id] = _untold(plan)
            self._offered[plan_key(plan)] = None

    def _result(self, result: Result) -> None:
        self._errors += result.error
        if result.call_id in self._plan_calls:
            self._settle(result)

    @property
    def open_plans(self) -> frozenset[str]:
        """Calls that put a plan forward and whose answer has not been met: it may stand before them."""
        return frozenset(self._plan_calls) - self._answered

    def settle(self, events: Iterable[Event]) -> None:
        """Look once more for the answers to plans."""
        wanted = self.open_plans
        for event in events:
            for block in event.blocks:
                if isinstance(block, Result) and block.call_id in wanted:
                    self._settle(block)

    def _settle(self, result: Result) -> None:
        call = self._plan_calls[result.call_id]
        self._answered.add(result.call_id)
        self._plan(ToolCall(call.place, call.call_id, call.name, call.input, "ok", call.role, result))

    def agent(self, events: Iterable[Event]) -> None:
        """Take in a subagent's log: what it cost."""
        self._agents += 1
        for event in events:
            self.ledger.see(event)

    def queued(self, facts: Facts) -> list[Prompt]:
        """Prompts that were queued and stand in no line of their own."""
        return [item for item in unsent_prompts(facts, self._typed.copy()) if isinstance(item, Prompt)]

    def overview(self, session_id: str, facts: Facts, log: LogFile) -> Overview:
        queued = self.queued(facts)
        return Overview(
            session_id,
            self._dialect.agent,
            self._kind(facts),
            log,
            self._titles(facts, sorted([*self._early, *queued], key=lambda prompt: prompt.place.offset)),
            cwd=facts.cwd,
            branch=facts.branch,
            slug=facts.slug,
            versions=tuple(facts.versions),
            started=facts.started,
            ended=facts.ended,
            turns=self._turns + len(queued),
            messages=self._messages + len(self._unbilled),
            tool_calls=len(self._calls),
            tool_errors=self._errors,
            agents=self._agents + len(self._inline),
            compactions=self._compactions,
            problems=self._problems,
            lines=self._lines,
            calls=sum_by_model(self.ledger),
            offered=tuple(self._offered),
            plan_open=bool(self._plans) and all(plan.status != "approved" for plan in self._plans.values()),
            accepted=self._accepted,
            summaries={
                leaf: said for leaf, said in facts.summaries.items() if leaf and stable_hash(leaf) not in self._seen
            },
            source=self._early[0].source if self._early else "",
            links=recorded_links(facts),
        )

    def _kind(self, facts: Facts) -> SessionKind:
        if not self._conversed:
            return "stub" if self._sides or self._loose else "empty"
        if self._own and self._inline:
            return "subagent"
        first = self._early[0] if self._early else None
        return session_kind(facts, first, conversed=bool(self._early or self._messages or self._unbilled))

    def _titles(self, facts: Facts, prompts: list[Prompt]) -> Titles:
        own = (said for leaf, said in reversed(facts.summaries.items()) if not leaf or stable_hash(leaf) in self._seen)
        plans = list(self._plans.values())
        title, name = plan_title(plans), facts.agent_name
        return Titles(
            facts.custom_title, facts.generated_title, title, next(own, ""), prompt_title(prompts), facts.slug, name
        )


def _brief(prompt: Prompt) -> Prompt:
    """A prompt with no more of its text than a title needs."""
    return Prompt(
        prompt.place, prompt.kind, shorten_title(prompt.text), command=prompt.command,
        arguments=shorten_title(prompt.arguments), source=prompt.source,
    )  # fmt: skip


def plan_key(plan: Plan) -> int:
    """The same for a plan and for the prompt that implements it."""
    return stable_hash(" ".join(plan.text[:_PLAN_HEAD].split())[: _PLAN_HEAD // 2]) if plan.text.strip() else 0


def _untold(plan: Plan) -> Plan:
    return Plan(plan.title, "", plan.status)
