"""Entries to events: each line understood by itself, the facts of the session gathered on the way."""

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from unspool.agents.claude_code import known, notices
from unspool.agents.claude_code.line import CONVERSATION, Line, decode_line, has_place, line_of
from unspool.agents.claude_code.messages import (
    CallMemory,
    MessageParser,
    Pictures,
    ResultParser,
    Spills,
    show_pictures,
    unknown_line,
)
from unspool.agents.claude_code.prompts import parse_user
from unspool.agents.lines import PlainParser, widen_span
from unspool.agents.records import Detail
from unspool.agents.values import items, mapping, moment, text
from unspool.model import Event, Facts, Json, Place, SideLine, id_by_place

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


_BACKGROUND = ("bg", "daemon", "daemon-worker")


def _no_spills(_: str) -> str | None:
    return None


def chain_event(line: Line, place: Place) -> Event:
    """The event of a line of the conversation, as far as its place there goes: not what it says."""
    identity, parent, said = line.uuid, line.parent_uuid, line.timestamp
    return Event(
        "notice",
        place,
        identity or id_by_place(place),
        parent or None,
        time=None if said is None else moment(said),
        sidechain=line.is_sidechain is True,
        agent=line.agent_id or "",
        meta=line.is_meta is True,
        team=bool(line.team_name),
        answers=line.source_assistant or "",
        link=parent is UNSET or identity is None,
    )


class ClaudeParser(PlainParser):
    """Understands the lines of one log, in order. `facts` are complete when the last one was read."""

    def __init__(
        self, spills: Spills = _no_spills, detail: Detail = Detail.ALL, pictures: Pictures | None = None
    ) -> None:
        super().__init__()
        self._pictures = pictures if detail is Detail.ALL else None
        calls = CallMemory()
        self._messages = MessageParser(detail, calls)
        self._results = ResultParser(spills, detail, calls)
        self._said: tuple[Json, ...] = ()

    def usual(self, raw: bytes, place: Place) -> Event | None:
        """The event of a usual line of the conversation, without making plain data of all of it."""
        line = decode_line(raw)
        if line is None:
            return None
        try:
            if line.type in ("user", "assistant"):
                return self._spoken(line, place)
            return self._around(line, msgspec.json.decode(raw), place)
        except msgspec.DecodeError:  # a number that no float holds, in what was left as bytes
            return None

    def line(self, data: dict[str, Json], place: Place) -> Event:
        kind = data.get("type")
        if not isinstance(kind, str) or kind not in CONVERSATION:
            return self._beside(data, place)
        line = line_of(data)
        return self._spoken(line, place) if kind in ("user", "assistant") else self._around(line, data, place)

    def _beside(self, data: dict[str, Json], place: Place) -> Event:
        kind = text(data.get("type"))
        learn_from_side_line(data, place, self.facts)
        if kind == "result" and "session_id" in data:
            self.facts.headless = True
        if not self.facts.session:
            self.facts.session = text(data.get("sessionId")) or text(data.get("session_id"))
        if kind in known.BESIDE:
            return Event("side", place, side=SideLine(place, kind, data))
        if has_place(data):
            event = self._chained(line_of(data), place)
        else:
            event = Event("notice", place, link=True, time=moment(data.get("timestamp")))
        event.blocks = (unknown_line(place, data),)
        return event

    def _around(self, line: Line, data: dict[str, Json], place: Place) -> Event:
        """A line of the conversation that nobody spoke."""
        event = self._chained(line, place)
        if line.type == "system":
            notices.parse_system(event, line, data)
        elif line.type == "attachment":
            notices.parse_attachment(event, data, self.facts)
        else:
            notices.parse_progress(event, data, self.facts)
            event.nested = self._nested(event, mapping(data.get("data")))
        self._note_mode(event)
        if self._pictures is not None:
            show_pictures(event, self._pictures)
        return event

    def _nested(self, event: Event, held: dict[str, Json]) -> Event | None:
        """The subagent's line that a progress line repeats."""
        agent, said = text(held.get("agentId")), mapping(held.get("message"))
        if not agent or said.get("type") not in ("user", "assistant"):
            return None
        line = line_of(said)
        found = chain_event(line, event.place)
        found.sidechain, found.agent, found.turn = True, agent, True
        found.time = found.time or event.time
        if line.type == "user":
            parse_user(found, line, self._results)
        else:
            self._messages.parse(found, line)
        if self._pictures is not None:
            show_pictures(found, self._pictures)
        return found

    def _spoken(self, line: Line, place: Place) -> Event:
        event = self._chained(line, place)
        event.turn = True
        if line.type == "user":
            parse_user(event, line, self._results)
            self._note_mode(event)
        else:
            self._messages.parse(event, line)
        if self._pictures is not None:
            show_pictures(event, self._pictures)
        return event

    def _note_mode(self, event: Event) -> None:
        if event.prompt is not None and not event.sidechain and not self.facts.first_mode:
            self.facts.first_mode = event.prompt.mode or "default"

    def _chained(self, line: Line, place: Place) -> Event:
        """The event with what its line says of itself; what it says of its session is noted."""
        event = chain_event(line, place)
        widen_span(self.facts, event.time)
        said = (line.session, line.cwd, line.version, line.git_branch, line.slug, line.entrypoint, line.session_kind,
                line.team_name, line.forked_from)  # fmt: skip
        if said != self._said:  # lines that follow one another mostly say the same
            self._said = said
            self._learn(line, place.line)
        if line.streamed_session is not UNSET and line.session is None:
            self._streamed(line, event)
        return event

    def _streamed(self, line: Line, event: Event) -> None:
        """A line of the print mode's output, which names some things otherwise than a log does."""
        self.facts.headless = True
        self.facts.session = self.facts.session or line.streamed_session or ""
        if line.streamed_caller:
            caller = line.streamed_caller
            event.sidechain, event.agent, event.spawner = True, f"call-{caller}", caller
        if line.streamed_result is not UNSET:
            line.tool_use_result = line.streamed_result

    def _learn(self, line: Line, number: int) -> None:
        """Note what a line says of its session; to be told the same again changes nothing."""
        facts = self.facts
        facts.session = facts.session or line.session or ""
        if line.cwd is not None and line.cwd not in facts.cwds:
            facts.cwds[line.cwd] = number
            facts.cwd = facts.cwd or line.cwd
        if line.version is not None and line.version not in facts.versions:
            facts.versions[line.version] = None
        facts.branch = facts.branch or line.git_branch or ""
        if line.slug is not None:
            facts.slug = line.slug
        if not facts.entrypoint:
            facts.entrypoint = line.entrypoint or ""
            facts.headless = facts.headless or facts.entrypoint.startswith("sdk")
        if line.session_kind in _BACKGROUND:
            facts.background = True
        facts.team = facts.team or line.team_name or ""
        if line.forked_from is not None and not facts.forked_from:
            facts.forked_from = text(line.forked_from.get("sessionId"))
