"""Joins transcripts into one session, with subagents tied to the calls that started them."""

from collections import Counter
from typing import NamedTuple

from unspool.model import (
    Agent,
    AgentSource,
    ChainLink,
    Dialect,
    Facts,
    Json,
    LogFile,
    Notice,
    Plan,
    Prompt,
    Push,
    Session,
    SessionKind,
    Titles,
    ToolCall,
    Transcript,
    Turn,
)
from unspool.reading.build import TurnBuilder, prompt_hash, unsent_prompts
from unspool.reading.draft import SessionDraft

MAIN = ""
"""The key of the session's own transcript among drafts."""


class AgentCall(NamedTuple):
    """An agent's place: the transcript and the call it hangs from, and how that is known."""

    owner: str
    call_id: str
    by: str


def inline_agents(draft: SessionDraft, log: LogFile) -> list[AgentSource]:
    """The subagents whose lines stand in the session's own log."""
    found = []
    for name, events in draft.inline.items():
        spawner = next((event.spawner for event in events if event.spawner), "")
        times = [event.time for event in events if event.time is not None]
        facts = Facts(started=min(times, default=None), ended=max(times, default=None))
        found.append(AgentSource(name, Transcript(events, facts, log), call_id=spawner))
    return found


class AgentCalls:
    """Finds the call of every agent."""

    def __init__(self, drafts: dict[str, SessionDraft], progress: dict[str, str], dialect: Dialect) -> None:
        self._owner: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._told: dict[str, list[str]] = {}
        self._progress = progress
        self._taken: set[str] = set()
        for key, draft in drafts.items():
            self._learn(key, draft, dialect)

    def _learn(self, key: str, draft: SessionDraft, dialect: Dialect) -> None:
        for call in draft.tool_calls():
            self._owner.setdefault(call.call_id, key)
            if call.role != "agent":
                continue
            for named in dialect.agent_ids(_answered(call, draft)):
                self._named.setdefault(named, call.call_id)
            told = dialect.agent_prompt(call).strip()
            if told:
                self._told.setdefault(told, []).append(call.call_id)

    def tie(self, agent: AgentSource, prompt: str) -> AgentCall:
        """The call of an agent; an empty one, on the session itself, where nothing tells."""
        for call_id, by in self._clues(agent, prompt):
            owner = self._owner.get(call_id)
            if call_id and owner is not None and owner != agent.id:
                self._taken.add(call_id)
                return AgentCall(owner, call_id, by)
        return AgentCall(agent.parent if agent.parent and agent.parent != agent.id else MAIN, "", "")

    def _clues(self, agent: AgentSource, prompt: str) -> list[tuple[str, str]]:
        told = next((c for c in self._told.get(prompt.strip(), ()) if c not in self._taken), "")
        return [
            (agent.call_id, "sidecar"),
            (self._named.get(agent.id, ""), "result"),
            (self._progress.get(agent.id, ""), "progress"),
            (told, "prompt"),
        ]


def _answered(call: ToolCall, draft: SessionDraft) -> ToolCall:
    results = draft.results.get(call.call_id)
    if not results:
        return call
    return ToolCall(call.place, call.call_id, call.name, call.input, call.state, call.role, results[-1])


def first_prompt(draft: SessionDraft) -> str:
    """What the agent was told."""
    for event in draft.chain:
        if event.prompt is not None:
            return event.prompt.text
        for block in event.blocks:
            if isinstance(block, Notice) and block.kind == "teammate":
                return block.text
    return ""


def background_statuses(draft: SessionDraft) -> dict[str, str]:
    """How background work ended, by agent id and by call id, as notices told."""
    found: dict[str, str] = {}
    for event in draft.chain:
        for block in event.blocks:
            if isinstance(block, Notice) and block.kind == "task-notification":
                status = str(block.facts.get("status", ""))
                for key in ("task_id", "tool_use_id", "taskId"):
                    if block.facts.get(key):
                        found[str(block.facts[key])] = status
    return found


_TITLE = 200


def assemble_session(main: Transcript, agents: list[AgentSource], dialect: Dialect, session_id: str) -> Session:
    """The session of a log and its subagents' logs."""
    return _Assembly(main, agents, dialect).session(session_id)


class _Assembly:
    def __init__(self, main: Transcript, agents: list[AgentSource], dialect: Dialect) -> None:
        self._dialect = dialect
        own = bool(main.events) and all(event.sidechain for event in main.events if event.id)
        own = own and any(event.id for event in main.events)
        self._own = own
        draft = SessionDraft(main.events, own=own)
        self._sources = {MAIN: AgentSource(MAIN, main)}
        self._drafts = {MAIN: draft}
        for agent in [*agents, *inline_agents(draft, main.log)]:
            key = agent.id if agent.id not in self._sources else f"{agent.id}#{len(self._sources)}"
            self._sources[key] = agent
            self._drafts[key] = SessionDraft(agent.transcript.events, own=True)
        self._ties = self._tie_all()
        self._status = background_statuses(draft)

    def _tie_all(self) -> dict[str, AgentCall]:
        progress: dict[str, str] = {}
        for source in self._sources.values():
            progress.update(source.transcript.facts.agents)
        ties = AgentCalls(self._drafts, progress, self._dialect)
        found = {
            name: ties.tie(source, first_prompt(self._drafts[name]))
            for name, source in self._sources.items()
            if name != MAIN
        }
        return {name: _rooted(name, tie, found) for name, tie in found.items()}

    def session(self, session_id: str) -> Session:
        kind = "subagent" if self._own else ""
        return self._session(MAIN, session_id, kind, Titles())

    def _session(self, key: str, session_id: str, kind: str, titles: Titles) -> Session:
        draft, source = self._drafts[key], self._sources[key]
        facts = source.transcript.facts
        children = {name: tie for name, tie in self._ties.items() if tie.owner == key}
        by_call: dict[str, tuple[str, ...]] = {}
        for name, tie in children.items():
            by_call[tie.call_id] = (*by_call.get(tie.call_id, ()), name)
        prompts = [event.prompt for event in draft.chain if event.prompt is not None]
        builder = TurnBuilder(draft, self._dialect, by_call, unsent_prompts(facts, Counter(map(prompt_hash, prompts))))
        agents = tuple(self._agent(name, tie) for name, tie in children.items())
        return _session(
            _Parts(draft, builder, source.transcript, agents),
            session_id,
            kind or _kind(draft, facts, prompts),
            titles if key != MAIN else _titles(facts, draft, builder),
            self._dialect.agent,
        )

    def _agent(self, name: str, tie: AgentCall) -> Agent:
        source = self._sources[name]
        call = self._call(tie)
        given = call.input if call is not None and isinstance(call.input, dict) else {}
        kind = source.kind or _word(given.get("subagent_type"))
        description = source.description or _word(given.get("description"))
        status = source.status or self._status.get(name) or self._status.get(tie.call_id, "")
        session = self._session(name, name, "subagent", Titles(agent=description or kind or name))
        background = given.get("run_in_background") is True
        return Agent(name, kind, description, session, tie.call_id, background, status, source.name, tie.by)

    def _call(self, tie: AgentCall) -> ToolCall | None:
        if not tie.call_id:
            return None
        return next((call for call in self._drafts[tie.owner].tool_calls() if call.call_id == tie.call_id), None)


class _Parts:
    """What a session is made from."""

    def __init__(
        self, draft: SessionDraft, builder: TurnBuilder, transcript: Transcript, agents: tuple[Agent, ...]
    ) -> None:
        self.draft, self.builder, self.transcript, self.agents = draft, builder, transcript, agents


def _session(parts: _Parts, session_id: str, kind: str, titles: Titles, agent: str) -> Session:
    draft, facts, log = parts.draft, parts.transcript.facts, parts.transcript.log
    first = next((turn.prompt for turn in parts.builder.turns if turn.prompt is not None), None)
    return Session(
        session_id,
        agent,
        kind,  # type: ignore[arg-type]
        log,
        titles,
        parts.builder.turns,
        parts.builder.branches,
        draft.messages(),
        parts.agents,
        tuple(draft.side),
        tuple(draft.problems),
        draft.lines(parts.transcript.blank),
        parts.builder.todos,
        live=draft.live.ids(draft.leaf),
        cwd=facts.cwd,
        branch=facts.branch,
        slug=facts.slug,
        versions=tuple(facts.versions),
        entrypoint=facts.entrypoint,
        team=facts.team,
        started=facts.started,
        ended=facts.ended,
        source=first.source if first is not None else "",
        links=recorded_links(facts),
        recorded=tuple(_recorded(link) for link in facts.links),
        reported_cost=facts.reported_cost,
    )


def recorded_links(facts: Facts) -> tuple[ChainLink, ...]:
    """Sessions that the log itself says it was copied from or went on in."""
    links = (("copied-from", facts.forked_from), ("moved-to", facts.moved_to))
    return tuple(ChainLink(session, relation, "record") for relation, session in links if session)  # type: ignore[arg-type]


def _recorded(link: dict[str, Json]) -> Push:
    number = link["number"] if isinstance(link["number"], int) else 0
    return Push("pull-request", url=link["url"], repository=link["repository"], number=number, time=link["time"])


def _rooted(name: str, tie: AgentCall, ties: dict[str, AgentCall]) -> AgentCall:
    """The tie, or one to the session itself where agents claim each other in a circle or an unknown owner."""
    seen, owner = {name}, tie.owner
    while owner != MAIN:
        if owner in seen or owner not in ties:
            return AgentCall(MAIN, "", "")
        seen.add(owner)
        owner = ties[owner].owner
    return tie


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _kind(draft: SessionDraft, facts: Facts, prompts: list[Prompt]) -> SessionKind:
    if not draft.chain and not draft.loose:
        return "stub" if draft.side else "empty"
    return session_kind(facts, prompts[0] if prompts else None, conversed=bool(prompts or draft.groups))


def session_kind(facts: Facts, first: Prompt | None, *, conversed: bool) -> SessionKind:
    """The kind of a session that has lines, from its facts and its first prompt."""
    if not conversed:
        return "stub"
    if first is not None and first.kind == "plan":
        return "implementation"
    if facts.first_mode == "plan":
        return "planning"
    if facts.background:
        return "background"
    return "headless" if facts.headless else "interactive"


def _titles(facts: Facts, draft: SessionDraft, builder: TurnBuilder) -> Titles:
    turns = (*builder.turns, *(turn for branch in builder.branches for turn in branch.turns))
    known = draft.tree.at
    summary = next((words for leaf, words in reversed(facts.summaries.items()) if not leaf or leaf in known), "")
    typed = [event.prompt for event in draft.chain if event.prompt is not None]
    slipped_in = [turn.prompt for turn in turns if turn.prompt is not None and not turn.prompt.id]
    prompts = sorted([*typed, *slipped_in], key=lambda prompt: prompt.place.offset)
    return Titles(
        facts.custom_title,
        facts.generated_title,
        plan_title(plans_in_order(turns)),
        summary,
        prompt_title(prompts),
        facts.slug,
        facts.agent_name,
    )


def plans_in_order(turns: tuple[Turn, ...]) -> list[Plan]:
    """Every plan of the turns, in the order of the log, whichever branch it stands on."""
    calls = [block for turn in turns for block in turn.blocks if isinstance(block, ToolCall)]
    found = [(call.place.offset, call.meaning) for call in calls if isinstance(call.meaning, Plan)]
    prompts = [turn.prompt for turn in turns if turn.prompt is not None]
    found += [(prompt.place.offset, prompt.plan) for prompt in prompts if prompt.plan is not None]
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def plans_of(turns: tuple[Turn, ...]) -> list[Plan]:
    """Plans in the order they were put forward; an accepted one that only repeats an earlier one is that one."""
    found: list[Plan] = []
    for turn in turns:
        if turn.prompt is not None and turn.prompt.plan is not None:
            plan = turn.prompt.plan
            if not any(plan.text.strip().startswith(known.text.strip()) for known in found if known.text.strip()):
                found.append(plan)
        meanings = (block.meaning for block in turn.blocks if isinstance(block, ToolCall))
        found += [meaning for meaning in meanings if isinstance(meaning, Plan)]
    return found


def plan_title(plans: list[Plan]) -> str:
    approved = next((plan.title for plan in plans if plan.status == "approved"), "")
    return approved or (plans[0].title if plans else "")


def prompt_title(prompts: list[Prompt]) -> str:
    """The first thing a person really said, on one line; a command only where nothing else was said."""
    for prompt in prompts:
        if prompt.kind in ("text", "queued", "memory") and prompt.text.strip():
            return shorten_title(prompt.text)
    for prompt in prompts:
        words = f"{prompt.command} {prompt.arguments}" if prompt.kind == "command" else prompt.text
        if words.strip():
            return shorten_title(f"! {words}" if prompt.kind == "bash" else words)
    return ""


def shorten_title(text: str) -> str:
    words = " ".join(text[: 4 * _TITLE].split())
    return words if len(words) <= _TITLE else words[: _TITLE - 1] + "…"
