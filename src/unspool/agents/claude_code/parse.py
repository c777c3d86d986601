"""Entries to events: each line understood by itself, the facts of the session gathered on the way."""

from collections.abc import Callable, Iterable, Iterator

from unspool.agents.claude_code import known, notices
from unspool.agents.claude_code.messages import Spills, parse_assistant, unknown_line
from unspool.agents.claude_code.prompts import parse_user
from unspool.agents.claude_code.values import items, mapping, moment, text
from unspool.model import Entry, Event, Facts, Json, Place, Problem, SideLine

_GENERIC = frozenset({"Claude Code CLI Session Start", "Conversation Cleared"})


def learn_from_side_line(data: dict[str, Json], place: Place, facts: Facts) -> None:
    """Take what a side line says of its session into the facts."""
    teach = _LESSONS.get(text(data.get("type")))
    if teach is not None:
        teach(data, place, facts)


def _summary(data: dict[str, Json], _: Place, facts: Facts) -> None:
    words = text(data.get("summary")).strip()
    if words and words not in _GENERIC:
        facts.summaries[text(data.get("leafUuid"))] = words


def _custom_title(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.custom_title = text(data.get("customTitle")).strip() or facts.custom_title


def _ai_title(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.generated_title = text(data.get("aiTitle")).strip() or facts.generated_title


def _agent_name(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.agent_name = text(data.get("agentName")).strip() or facts.agent_name


def _queue(data: dict[str, Json], place: Place, facts: Facts) -> None:
    said = data.get("content")
    words = text(said) or "\n".join(text(mapping(block).get("text")) for block in items(said))
    facts.queue.append((text(data.get("operation")), words, place, moment(data.get("timestamp"))))


def _pr_link(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.links.append(
        {
            "number": data.get("prNumber"),
            "url": text(data.get("prUrl")),
            "repository": text(data.get("prRepository")),
            "time": moment(data.get("timestamp")),
        }
    )


def _worktree(data: dict[str, Json], _: Place, facts: Facts) -> None:
    state = mapping(data.get("worktreeSession"))
    facts.worktree_of = text(state.get("originalCwd")) or facts.worktree_of


def _relocated(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.relocated = text(data.get("relocatedCwd")) or facts.relocated


def _continued(data: dict[str, Json], _: Place, facts: Facts) -> None:
    facts.moved_to = text(data.get("continuedInSessionId")) or facts.moved_to


def _cost(data: dict[str, Json], _: Place, facts: Facts) -> None:
    said = data.get("totalCostUSD", data.get("total_cost_usd"))
    if isinstance(said, int | float) and not isinstance(said, bool):
        facts.reported_cost = str(said)


_LESSONS: dict[str, Callable[[dict[str, Json], Place, Facts], None]] = {
    "summary": _summary,
    "custom-title": _custom_title,
    "ai-title": _ai_title,
    "agent-name": _agent_name,
    "queue-operation": _queue,
    "pr-link": _pr_link,
    "worktree-state": _worktree,
    "relocated": _relocated,
    "continued-in": _continued,
    "cost-state": _cost,
    "result": _cost,
}


_CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
_BACKGROUND = ("bg", "daemon", "daemon-worker")
_ENVELOPE = (
    "sessionId", "cwd", "version", "gitBranch", "slug", "entrypoint", "sessionKind", "teamName", "forkedFrom"
)  # fmt: skip
"""What a line says of its session."""


def _no_spills(_: str) -> str | None:
    return None


def chain_event(data: dict[str, Json], place: Place) -> Event:
    """The event of a line of the conversation, as far as its place there goes: not what it says."""
    identity = data.get("uuid")
    parent = data.get("parentUuid")
    return Event(
        "notice",
        place,
        identity if isinstance(identity, str) and identity else f"line-{place.line}.{place.offset}",
        parent if isinstance(parent, str) and parent else None,
        time=moment(data.get("timestamp")),
        sidechain=data.get("isSidechain") is True,
        agent=text(data["agentId"]) if "agentId" in data else "",
        meta=data.get("isMeta") is True,
        team=bool(data.get("teamName")),
        answers=text(data["sourceToolAssistantUUID"]) if "sourceToolAssistantUUID" in data else "",
        link="parentUuid" not in data or not isinstance(identity, str),
    )


class ClaudeParser:
    """Reads the entries of one log, in order. `facts` is complete when the last one was read."""

    def __init__(self, spills: Spills = _no_spills) -> None:
        self.facts = Facts()
        self._spills = spills
        self._said: tuple[Json, ...] = ()

    def events(self, entries: Iterable[Entry]) -> Iterator[Event]:
        for entry in entries:
            yield self.event(entry)

    def event(self, entry: Entry) -> Event:
        data, place = entry.data, entry.place
        if data is None:
            return Event("problem", place, problem=Problem(place, entry.problem, entry.raw))
        kind = data.get("type")
        event = self._chain(data, place) if isinstance(kind, str) and kind in _CHAIN else self._beside(data, place)
        if entry.problem:
            event.problem = Problem(place, entry.problem, entry.raw, mended=True)
        return event

    def _beside(self, data: dict[str, Json], place: Place) -> Event:
        kind = text(data.get("type"))
        learn_from_side_line(data, place, self.facts)
        if kind == "result" and "session_id" in data:
            self.facts.headless = True
        if not self.facts.session:
            self.facts.session = text(data.get("sessionId")) or text(data.get("session_id"))
        if kind in known.BESIDE:
            return Event("side", place, side=SideLine(place, kind, data), time=None)
        return Event(
            "notice", place, link=True, time=moment(data.get("timestamp")), blocks=(unknown_line(place, data),)
        )

    def _chain(self, data: dict[str, Json], place: Place) -> Event:
        event = chain_event(data, place)
        self._envelope(data, event)
        kind = data["type"]
        if "session_id" in data and "sessionId" not in data:
            data = self._streamed(data, event)
        if kind == "user":
            event.turn = True
            parse_user(event, data, self._spills)
        elif kind == "assistant":
            event.turn = True
            parse_assistant(event, data)
        elif kind == "system":
            notices.parse_system(event, data)
        elif kind == "attachment":
            notices.parse_attachment(event, data)
        else:
            notices.parse_progress(event, data, self.facts)
        if event.prompt is not None and not event.sidechain and not self.facts.first_mode:
            self.facts.first_mode = event.prompt.mode or "default"
        return event

    def _streamed(self, data: dict[str, Json], event: Event) -> dict[str, Json]:
        """A line of the print mode's output, in the words of a log."""
        self.facts.headless = True
        self.facts.session = self.facts.session or text(data.get("session_id"))
        caller = text(data.get("parent_tool_use_id"))
        if caller:
            event.sidechain, event.agent, event.spawner = True, f"call-{caller}", caller
        return {**data, "toolUseResult": data.get("tool_use_result")} if "tool_use_result" in data else data

    def _envelope(self, data: dict[str, Json], event: Event) -> None:
        facts = self.facts
        time = event.time
        if time is not None:
            if facts.started is None or time < facts.started:
                facts.started = time
            if facts.ended is None or time > facts.ended:
                facts.ended = time
        said = tuple(map(data.get, _ENVELOPE))
        if said != self._said:  # lines that follow one another mostly say the same
            self._said = said
            self._learn(said, event.place.line)

    def _learn(self, said: tuple[Json, ...], line: int) -> None:
        """Note what a line says of its session; to be told the same again changes nothing."""
        facts = self.facts
        session, cwd, version, branch, slug, entrypoint, kind, team, forked = said
        facts.session = facts.session or text(session)
        if isinstance(cwd, str) and cwd not in facts.cwds:
            facts.cwds[cwd] = line
            facts.cwd = facts.cwd or cwd
        if isinstance(version, str) and version not in facts.versions:
            facts.versions[version] = None
        facts.branch = facts.branch or text(branch)
        if isinstance(slug, str):
            facts.slug = slug
        if not facts.entrypoint:
            facts.entrypoint = text(entrypoint)
            facts.headless = facts.headless or facts.entrypoint.startswith("sdk")
        if text(kind) in _BACKGROUND:
            facts.background = True
        facts.team = facts.team or text(team)
        if forked is not None and not facts.forked_from:
            facts.forked_from = text(mapping(forked).get("sessionId"))
