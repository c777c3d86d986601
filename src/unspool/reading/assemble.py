"""Joins transcripts into one session, with subagents tied to the calls that started them."""

from typing import NamedTuple

from unspool.model import (
    Agent,
    AgentDetails,
    AgentSource,
    Dialect,
    Facts,
    Json,
    LogFile,
    Notice,
    Push,
    Session,
    SessionKind,
    Titles,
    ToolCall,
    Transcript,
)
from unspool.reading.build import TurnBuilder
from unspool.reading.draft import SessionDraft
from unspool.reading.ledger import MessageNames
from unspool.reading.scan import Scan, recorded_links

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
    results = draft.results_of(call)
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


def assemble_session(
    main: Transcript, agents: list[AgentSource], dialect: Dialect, session_id: str, scan: Scan | None = None
) -> Session:
    """The session of a log and its subagents' logs. A `scan` with the same dialect hears that log on the way."""
    return _Assembly(main, agents, dialect, scan).session(session_id)


class _Assembly:
    def __init__(self, main: Transcript, agents: list[AgentSource], dialect: Dialect, scan: Scan | None = None) -> None:
        self._dialect, self._main_scan = dialect, scan
        own = bool(main.events) and all(event.sidechain for event in main.events if event.id)
        own = own and any(event.id for event in main.events)
        self._own = own
        logged = {agent.id for agent in agents}
        draft = SessionDraft(main.events, own=own, logged=logged)
        self._sources = {MAIN: AgentSource(MAIN, main)}
        self._drafts = {MAIN: draft}
        waiting = [*agents, *inline_agents(draft, main.log)]
        for agent in waiting:  # which grows by the subagents that are known from another's log only
            key = agent.id if agent.id not in self._sources else f"{agent.id}#{len(self._sources)}"
            self._sources[key] = agent
            self._drafts[key] = SessionDraft(agent.transcript.events, own=True, logged=logged)
            told = inline_agents(self._drafts[key], agent.transcript.log)
            waiting.extend(one for one in told if one.id not in self._sources)
        alone = len(self._sources) == 1  # then nobody asks which calls started subagents, and how those ended
        self._ties = {} if alone else self._tie_all()
        self._status = {} if alone else background_statuses(draft)

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
        return self._session(MAIN, session_id, Titles())

    def _session(self, key: str, session_id: str, titles: Titles) -> Session:
        draft, transcript = self._drafts[key], self._sources[key].transcript
        facts, own = transcript.facts, key != MAIN or self._own
        scan = self._scan(key, transcript, own=own)
        children = {name: tie for name, tie in self._ties.items() if tie.owner == key}
        by_call: dict[str, tuple[str, ...]] = {}
        for name, tie in children.items():
            by_call[tie.call_id] = (*by_call.get(tie.call_id, ()), name)
        builder = TurnBuilder(draft, self._dialect, by_call, scan.unsent(facts), scan.plans, scan.synopses(facts))
        agents = tuple(self._agent(name, tie) for name, tie in children.items())
        kind: SessionKind = "subagent" if own else scan.kind(facts)
        first = next((turn.prompt for turn in builder.turns if turn.prompt is not None), None)
        return Session(
            session_id,
            self._dialect.agent,
            kind,
            transcript.log,
            titles if key != MAIN else scan.titles(facts),
            builder.turns,
            builder.branches,
            draft.messages(),
            agents,
            tuple(draft.side),
            tuple(draft.problems),
            draft.lines(transcript.blank),
            builder.todos,
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
            recorded=tuple(recorded_push(link) for link in facts.links),
            reported_cost=facts.reported_cost,
            reported_credits=facts.reported_credits,
            window=facts.window,
        )

    def _scan(self, key: str, transcript: Transcript, *, own: bool) -> Scan:
        scan = self._main_scan if key == MAIN else None
        if scan is not None:
            for event in transcript.events:
                scan.add(event)
        if scan is None or scan.own != own:
            scan = Scan(self._dialect, own=own, ledger=MessageNames())
            for event in transcript.events:
                scan.add(event)
        return scan

    def _agent(self, name: str, tie: AgentCall) -> Agent:
        source, call = self._sources[name], self._call(tie)
        told = self._dialect.agent_details(call) if call is not None else AgentDetails()
        kind, description = source.kind or told.kind, source.description or told.description
        status = source.status or self._status.get(name) or self._status.get(tie.call_id, "")
        session = self._session(name, name, Titles(agent=description or kind or name))
        return Agent(name, kind, description, session, tie.call_id, told.background, status, source.name, tie.by)

    def _call(self, tie: AgentCall) -> ToolCall | None:
        if not tie.call_id:
            return None
        return next((call for call in self._drafts[tie.owner].tool_calls() if call.call_id == tie.call_id), None)


def recorded_push(link: dict[str, Json]) -> Push:
    """A pull request that the agent itself noted down."""
    number = link["number"] if isinstance(link["number"], int) and 0 < link["number"] < 2**53 else 0
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
