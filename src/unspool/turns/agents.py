"""Subagents tied to the calls that started them, whichever way the log tells it."""

from typing import NamedTuple

from unspool.model import AgentSource, Dialect, Facts, LogFile, Notice, ToolCall, Transcript
from unspool.turns.draft import Draft

MAIN = ""
"""The key of the session's own transcript among drafts."""


class Tie(NamedTuple):
    """An agent's place: the transcript and the call it hangs from, and how that is known."""

    owner: str
    call_id: str
    by: str


def inline(draft: Draft, log: LogFile) -> list[AgentSource]:
    """The subagents whose lines stand in the session's own log."""
    found = []
    for name, events in draft.inline.items():
        spawner = next((event.spawner for event in events if event.spawner), "")
        times = [event.time for event in events if event.time is not None]
        facts = Facts(started=min(times, default=None), ended=max(times, default=None))
        found.append(AgentSource(name, Transcript(events, facts, log), call_id=spawner))
    return found


class Ties:
    """Finds the call of every agent."""

    def __init__(self, drafts: dict[str, Draft], progress: dict[str, str], dialect: Dialect) -> None:
        self._owner: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._told: dict[str, list[str]] = {}
        self._progress = progress
        self._taken: set[str] = set()
        for key, draft in drafts.items():
            self._learn(key, draft, dialect)

    def _learn(self, key: str, draft: Draft, dialect: Dialect) -> None:
        for call in draft.tool_calls():
            self._owner.setdefault(call.call_id, key)
            if call.role != "agent":
                continue
            for named in dialect.agent_ids(_answered(call, draft)):
                self._named.setdefault(named, call.call_id)
            told = dialect.agent_prompt(call).strip()
            if told:
                self._told.setdefault(told, []).append(call.call_id)

    def tie(self, agent: AgentSource, prompt: str) -> Tie:
        """The call of an agent; an empty one, on the session itself, where nothing tells."""
        for call_id, by in self._clues(agent, prompt):
            owner = self._owner.get(call_id)
            if call_id and owner is not None and owner != agent.id:
                self._taken.add(call_id)
                return Tie(owner, call_id, by)
        return Tie(agent.parent if agent.parent and agent.parent != agent.id else MAIN, "", "")

    def _clues(self, agent: AgentSource, prompt: str) -> list[tuple[str, str]]:
        told = next((c for c in self._told.get(prompt.strip(), ()) if c not in self._taken), "")
        return [
            (agent.call_id, "sidecar"),
            (self._named.get(agent.id, ""), "result"),
            (self._progress.get(agent.id, ""), "progress"),
            (told, "prompt"),
        ]


def _answered(call: ToolCall, draft: Draft) -> ToolCall:
    results = draft.results.get(call.call_id)
    if not results:
        return call
    return ToolCall(call.place, call.call_id, call.name, call.input, call.state, call.role, results[-1])


def first_prompt(draft: Draft) -> str:
    """What the agent was told."""
    for event in draft.chain:
        if event.prompt is not None:
            return event.prompt.text
        for block in event.blocks:
            if isinstance(block, Notice) and block.kind == "teammate":
                return block.text
    return ""


def statuses(draft: Draft) -> dict[str, str]:
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
