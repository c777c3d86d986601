"""One pass through the logs of a session: prompts, plans, calls, usage and titles are decided here for every screen.

Events come by one by one and are let go. What is kept of each is what `places` asks for: the skeleton, by which every
line has its turn.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from unspool.model import (
    ChainLink,
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
from unspool.model.blocks import CallEnd
from unspool.reading.ledger import CallLedger, line_hash, sum_by_model
from unspool.reading.prompts import (
    Unsent,
    plan_key,
    plan_title,
    prompt_hash,
    prompt_title,
    session_kind,
    shorten_title,
    unsent_prompts,
)
from unspool.reading.skeleton import InlineAgents, NumberedLines, Skeleton, number_lines
from unspool.reading.tool_calls import CallEnds, CallKey

PlanName = CallKey | str
"""What a plan is filed under: the call that put it forward, or the prompt that brought it."""

_EARLY = 50
"""How many prompts are looked at for a title."""


class Scan:
    """Hears a session's own log, then its subagents'. `own`: the log is a subagent's, and all its lines are its own.
    `logged`: the subagents that have a log of their own, so that nothing else is to be counted of them."""

    def __init__(
        self,
        dialect: Dialect,
        *,
        own: bool = False,
        places: bool = False,
        ledger: CallLedger | None = None,
        logged: Collection[str] = (),
    ) -> None:
        self._dialect, self._logged = dialect, logged
        self.own = own
        self.skeleton = Skeleton(slim=True) if places else None
        self.ledger = CallLedger() if ledger is None else ledger
        self.ids = array("Q")
        """Every line id in order, as `line_hash` gives it, for telling which session's history another holds."""
        self.prompt_ids = array("Q")
        """The same of prompts."""
        self.plans: dict[PlanName, Plan] = {}
        """Plans by the call that put them forward; those that only a prompt brought, by `plan_name`."""
        self._seen: set[int] = set()
        self._unbilled: set[str] = set()
        self._ends = CallEnds(dialect)
        self._inner: defaultdict[str, CallEnds] = defaultdict(lambda: CallEnds(dialect))
        """The same of subagents whose lines stand in this log."""
        self._awaited: dict[CallKey, ToolCall] = {}
        """Calls of plans and of files that plans may stand in."""
        self._answers: dict[PlanName, Result] = {}
        """Results of plans; by the id of their calls, those that came before them."""
        self._offered: dict[int, None] = {}
        self._accepted = 0
        self._early: list[Prompt] = []
        self._typed: Counter[int] = Counter()
        self._sidechains = InlineAgents()
        self.inline: set[str] = set()
        """Subagents whose lines stand in another's log."""
        self._own, self._conversed = True, False
        self._lone: Scan | None = None
        """The same for as long as all lines are a subagent's: it may turn out that the log is its own."""
        self.opens = False
        """Whether anything was said or done before the first prompt."""
        self._line = -1
        self._lines = self._sides = self._loose = self._messages = self._prompts = 0
        self._compactions = self._problems = 0
        self.agents = 0
        """Subagents that have a log of their own."""

    def add(self, event: Event) -> None:
        """Take in a line of the session's own log."""
        if event.place.line != self._line:
            self._line = event.place.line
            self._lines += 1
        if event.problem is not None:
            self._problems += 1
        if event.id:
            self._conversation(event)
        elif event.side is not None:
            self._sides += 1
        elif event.blocks:
            self._loose += 1
            self._ends.hear(event)
            self.opens = self.opens or not self._prompts

    def _conversation(self, event: Event) -> None:
        """Count a line that was not counted yet; a message's lines are told apart by what they hold."""
        part = event.part
        billed = part is not None and self.ledger.see(part, event.time)
        identity = line_hash(event.id)
        again = identity in self._seen
        if not again:
            self._seen.add(identity)
            self.ids.append(identity)
        if not again or part is not None:
            self._conversed = True
            if event.sidechain and not self.own:
                agent = self._sidechains.of(event)
                self.inline.add(agent)
                self._inner[agent].hear(event)
                if self._own:
                    self._lone = self._lone or Scan(self._dialect, own=True)
                    self._lone._conversation(event)
            else:
                self._spoken(event, billed=billed)
                if event.prompt is not None:
                    self.prompt_ids.append(identity)
            if event.nested is not None:
                self._nested(event.nested)
        if self.skeleton is not None:
            self.skeleton.add(event)  # last: it lets go of what the event says

    def _nested(self, nested: Event) -> None:
        """Count what a subagent without a log of its own used, by a line of it that an event repeats."""
        if nested.agent not in self._logged:
            self.inline.add(nested.agent)
            self._inner[nested.agent].hear(nested)
            if nested.part is not None:
                self.ledger.see(nested.part, nested.time)

    def _spoken(self, event: Event, *, billed: bool) -> None:
        self._own = False
        part = event.part
        if event.prompt is not None:
            self._prompt(event.prompt)
        elif not self._prompts and not self.opens:
            self.opens = any(not isinstance(block, Result) for block in event.blocks)
        if part is not None and not part.synthetic:
            self._message(part, billed=billed)
        for block in event.blocks:
            if type(block) is Notice and block.kind == "compaction":
                self._compactions += 1
        for key, used in self._ends.hear(event):
            if isinstance(used, Result):
                self._result(key, used)
            elif key is not None:
                self._call(key, used)

    def _message(self, part: Part, *, billed: bool) -> None:
        """Count a message once: the ledger knows the billed ones, the others are few."""
        if part.usage is None:
            if not self.ledger.knows(part.message):
                self._unbilled.add(part.message)
        elif billed:
            self._messages += 1
            self._unbilled.discard(part.message)

    def _prompt(self, prompt: Prompt) -> None:
        if prompt.plan is not None:
            self._accept(prompt.plan, plan_name(prompt))
        self._prompts += 1
        self._typed[prompt_hash(prompt)] += 1
        if len(self._early) < _EARLY:
            self._early.append(_brief(prompt))

    def _accept(self, plan: Plan, name: str) -> None:
        """A plan that a prompt carries out: one that was put forward here before, or one of its own."""
        if not self._prompts:
            self._accepted = plan_key(plan)
        text, own = plan.text.strip(), True
        for by, offered in self.plans.items():
            if offered.text.strip() and text.startswith(offered.text.strip()):
                own = False
                if offered.status != "approved":
                    self.plans[by] = Plan(offered.title, offered.text, "approved", "", offered.edited, offered.path)
        if own:
            self.plans[name] = plan

    def _call(self, key: CallKey, call: ToolCall) -> None:
        early = self._answers.pop(call.call_id, None) if call.call_id else None
        if call.role == "plan" or (call.role in ("write", "edit") and call.input is not None):
            self._awaited[key] = call
            if call.role == "plan":
                self._plan(key, call)
            answer = early or self._answers.get(key)
            if answer is not None:
                self._answers[key] = answer
                self._settle(key, call, answer)

    def _result(self, key: CallKey | None, result: Result) -> None:
        if key is None:
            self._answers[result.call_id] = result
            return
        call = self._awaited.get(key)
        if call is not None and call.role == "plan":
            self._answers[key] = result
        if call is not None:
            self._settle(key, call, result)

    def _settle(self, key: CallKey, call: ToolCall, result: Result) -> None:
        state = self._dialect.state(result)
        answered = ToolCall(call.place, call.call_id, call.name, call.input, state, call.role, result)  # type: ignore[arg-type]
        if call.role == "plan":
            self._plan(key, answered)
        else:
            self._dialect.note(answered)

    @property
    def _said(self) -> "Scan":
        return self._lone if self._own and self._lone is not None else self

    def call_ends(self) -> dict[CallKey, CallEnd]:
        """How calls ended that did not go well: those of the conversation, and of subagents inside its log.
        A plan ends as it was accepted or refused, whatever its answer looks like."""
        said = self._said
        return said._own_ends() | {call: end for inner in said._inner.values() for call, end in inner.ends.items()}

    def _own_ends(self) -> dict[CallKey, CallEnd]:
        ends = dict(self._ends.ends)
        for call, plan in self.plans.items():
            if plan.status != "pending" and not isinstance(call, str):
                ends.pop(call, None)
                if plan.status == "rejected":
                    ends[call] = "refused"
        return ends

    def _plan(self, key: CallKey, call: ToolCall) -> None:
        plan = self._dialect.plan(call)
        if plan is not None:
            self.plans[key] = plan
            self._offered[plan_key(plan)] = None

    def agent(self, events: Iterable[Event]) -> None:
        """Take in a subagent's log: what it cost."""
        self.agents += 1
        for event in events:
            if event.part is not None:
                self.ledger.see(event.part, event.time)
            if event.nested is not None:
                self._nested(event.nested)

    def unsent(self, facts: Facts) -> Unsent:
        """What was queued and stands in no line of its own: as prompts where it was sent, else as notices."""
        return unsent_prompts(facts, self._typed.copy())

    def queued(self, facts: Facts) -> list[Prompt]:
        return [item for item in self.unsent(facts) if isinstance(item, Prompt)]

    def numbered(self, facts: Facts) -> NumberedLines:
        """The turn of every line of the session's own log."""
        return number_lines(self.skeleton or Skeleton(), (prompt.place for prompt in self.queued(facts)))

    def overview(self, session_id: str, facts: Facts, log: LogFile) -> Overview:
        said, queued = self._said, self._said.queued(facts)
        own = said._own_ends()
        ends = Counter(own.values())
        return Overview(
            session_id,
            self._dialect.agent,
            self.kind(facts),
            log,
            said.titles(facts),
            cwd=facts.cwd,
            branch=facts.branch,
            slug=facts.slug,
            versions=tuple(facts.versions),
            started=facts.started,
            ended=facts.ended,
            turns=said._prompts + len(queued),
            messages=said._messages + len(said._unbilled),
            tool_calls=said._ends.calls,
            tool_errors=said._ends.lost + ends["failed"],
            tool_refusals=ends["refused"],
            tool_interruptions=ends["interrupted"],
            tool_unanswered=ends["unanswered"],
            agents=self.agents + len(said.inline),
            compactions=said._compactions,
            problems=self._problems,
            lines=self._lines,
            calls=sum_by_model(self.ledger),
            offered=tuple(said._offered),
            open_plans=tuple(
                (plan_key(plan), own[by]) for by, plan in said.plans.items() if not isinstance(by, str) and by in own
            ),
            plan_open=bool(said.plans) and all(plan.status != "approved" for plan in said.plans.values()),
            accepted=said._accepted,
            summaries={
                leaf: said for leaf, said in facts.summaries.items() if leaf and line_hash(leaf) not in self._seen
            },
            source=said._early[0].source if said._early else "",
            links=recorded_links(facts),
        )

    def kind(self, facts: Facts) -> SessionKind:
        if not self._conversed:
            return "stub" if self._sides or self._loose else "empty"
        if self.own or (self._own and self.inline):
            return "subagent"
        first = self._early[0] if self._early else None
        return session_kind(facts, first, conversed=bool(self._early or self._messages or self._unbilled))

    def _own_summaries(self, facts: Facts) -> list[tuple[str, str]]:
        """Summaries of this session, by the line that each ends with."""
        return [one for one in facts.summaries.items() if not one[0] or line_hash(one[0]) in self._seen]

    def synopses(self, facts: Facts) -> dict[str, str]:
        """Summaries that are no title, by the line that each ends with: all but the last."""
        return dict(self._own_summaries(facts)[:-1])

    def titles(self, facts: Facts) -> Titles:
        own = self._own_summaries(facts)
        prompts = sorted([*self._early, *self.queued(facts)], key=lambda prompt: prompt.place.offset)
        return Titles(
            facts.custom_title,
            facts.generated_title,
            plan_title(list(self.plans.values())),
            own[-1][1] if own else "",
            prompt_title(prompts),
            facts.slug,
            facts.agent_name,
        )


def plan_name(prompt: Prompt) -> str:
    """What a plan is filed under that no call put forward."""
    return f"prompt {prompt.place.offset}"


def _brief(prompt: Prompt) -> Prompt:
    """A prompt with no more of its text than a title needs."""
    return Prompt(
        prompt.place, prompt.kind, shorten_title(prompt.words), command=prompt.command,
        arguments=shorten_title(prompt.arguments), source=prompt.source,
    )  # fmt: skip


def is_recorded_fork(overview: Overview) -> bool:
    """Whether its log says itself that a session began as a copy of another."""
    return any(link.relation == "copied-from" and link.by == "record" for link in overview.links)


def recorded_links(facts: Facts) -> tuple[ChainLink, ...]:
    """Sessions that the log itself says it was copied from or went on in."""
    links = (("copied-from", facts.forked_from), ("moved-to", facts.moved_to))
    return tuple(ChainLink(session, relation, "record") for relation, session in links if session)  # type: ignore[arg-type]
