"""ATIF trajectories: documents in which benchmarks keep the runs of any agent, and which unspool exports.

Only `agents` and the writer of the format import it. What unspool put in `extra.unspool` is taken as it was; what
others write is understood by the format alone.
"""

import re
from base64 import b64encode
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from unspool.agents.dialect import PlainDialect
from unspool.agents.events import answered, as_message, as_prompt, beside, called, picture, said, thought
from unspool.agents.lines import Cursor
from unspool.agents.log_files import LogFileAgent
from unspool.agents.records import Detail, FoundLog
from unspool.agents.values import is_small_file, items, mapping, moment, plain_bytes, text, whole
from unspool.agents.whole_logs import Chain, WholeLogParser, document_entries
from unspool.model import (
    Block,
    Dialect,
    Entry,
    Event,
    Facts,
    Image,
    Json,
    Notice,
    Part,
    Place,
    Prompt,
    Result,
    Unknown,
    Usage,
)

TRAJECTORY = "trajectory"
"""The kind of the line that tells, beside a conversation, all that its trajectory holds but the steps."""
_ENDS = {"user-rejected": "rejected", "interrupted": "interrupted", "cancelled": "cancelled"}
_FAILED = "[error] tool reported failure"
"""How Harbor's converters end the answer of a tool that failed."""
_LARGEST_PICTURE = 32 * 1024 * 1024
_Known = TypeVar("_Known")


def imported_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Where a user may put trajectories and conversations of others, to have them among the sessions."""
    data = environment.get("XDG_DATA_HOME")
    return (Path(data).expanduser() if data else home / ".local" / "share") / "unspool" / "imported"


def tool_role(agent: str, tool: str) -> str:
    """What a tool is for to the agent of that name, or of one that the name begins with; empty where nobody knows."""
    from unspool.agents import AGENTS

    known = [one for one in AGENTS if agent == one.id or agent.startswith(f"{one.id}-")]
    return max(known, key=lambda one: len(one.id)).role(tool) if known and agent not in ("atif", "messages") else ""


class Atif(LogFileAgent):
    id = "atif"
    name = "ATIF trajectory"
    reads_whole = True
    places = ("*/agent/trajectory.json", "*/*/agent/trajectory.json", "*.atif.json", "*/*.atif.json")
    head = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
    head_size = 4000
    log_name = re.compile(r"(?:^|/)([^/]{1,200})(?:\.atif\.json|/agent/trajectory\.json)$")

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        return [imported_folder(environment, home)]

    def session_at(self, path: Path) -> str:
        return self.session_of(path.as_posix())

    def recognises(self, data: dict[str, Json]) -> bool:
        return text(data.get("schema_version")).startswith("ATIF-v")

    def dialect(self, found: FoundLog | None, facts: Facts) -> Dialect:
        return _Dialect(self.id)

    def parser(self, found: FoundLog | None, detail: Detail) -> "_Parser":
        folder = Path(found.path).parent if found is not None and detail is Detail.ALL else None
        return _Parser(found.session_id if found is not None else "", folder)


class _Dialect(PlainDialect):
    def state(self, result: Result) -> str:
        return _ENDS.get(result.denial, super().state(result))


class _Parser(WholeLogParser):
    def __init__(self, session: str, folder: Path | None) -> None:
        super().__init__()
        self.facts.session = session
        self._folder = folder

    def entries(self, data: bytes, start: Cursor) -> "Sequence[Entry]":
        found = document_entries(data, "steps")
        return found if found is not None else list(super().entries(data, start))

    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        head = next((entry for entry in entries if Atif().recognises(entry.data or {})), None)
        if head is None:
            return
        told = head.data or {}
        self._facts(told)
        steps = [(one.place, one.data) for one in entries if one is not head]
        steps += [(head.place, one) for one in items(told.get("steps"))]
        for event in _TrajectoryReader(told, self.facts.session, self._folder).events(steps, head.place):
            self.note_time(event.time)
            yield event
        for agent, call, parent in _subagents(told, steps):
            name = text(agent.get("trajectory_id"))
            inner = [(head.place, one) for one in items(agent.get("steps"))]
            reader = _TrajectoryReader(agent | {"agent": agent.get("agent") or parent}, name, self._folder)
            for event in reader.events(inner, head.place):
                event.sidechain, event.agent, event.spawner = True, name, call
                yield event
        yield beside(head.place, TRAJECTORY, _without_steps(told))

    def _facts(self, head: dict[str, Any]) -> None:
        facts, own, agent = self.facts, ours(head), mapping(head.get("agent"))
        facts.session = text(head.get("session_id")) or text(head.get("trajectory_id")) or facts.session
        told = mapping(agent.get("extra"))
        facts.cwd = text(own.get("cwd")) or next(filter(None, map(text, items(told.get("cwds")))), "")
        facts.branch = text(own.get("branch")) or next(filter(None, map(text, items(told.get("git_branches")))), "")
        facts.custom_title = text(own.get("title"))
        version = text(agent.get("version"))
        facts.versions |= {version: None} if version not in ("", "unknown") else {}
        cost = mapping(head.get("final_metrics")).get("total_cost_usd")
        reported = str(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 < cost < 1e9 else ""
        facts.reported_cost = text(own.get("reported_cost")) if own else reported
        for name in ("started", "ended"):
            self.note_time(moment(own.get(name)))


def ours(data: Json) -> dict[str, Any]:
    """What unspool itself put into an object of the format."""
    return mapping(mapping(mapping(data).get("extra")).get("unspool"))


def _without_steps(trajectory: dict[str, Any]) -> dict[str, Any]:
    inner = [_without_steps(mapping(one)) for one in items(trajectory.get("subagent_trajectories"))]
    rest = {name: value for name, value in trajectory.items() if name not in ("steps", "subagent_trajectories")}
    return rest | ({"subagent_trajectories": inner} if inner else {})


_Step = tuple[Place, Json]


def _subagents(trajectory: dict[str, Any], steps: Iterable[_Step]) -> Iterator[tuple[dict[str, Any], str, Json]]:
    """Every trajectory inside one, with the call that began it and the agent that it is part of."""
    calls: dict[str, str] = {}
    for _, step in steps:
        for result in map(mapping, items(mapping(mapping(step).get("observation")).get("results"))):
            for ref in map(mapping, items(result.get("subagent_trajectory_ref"))):
                calls.setdefault(text(ref.get("trajectory_id")), text(result.get("source_call_id")))
    for number, one in enumerate(map(mapping, items(trajectory.get("subagent_trajectories")))):
        named = one | {"trajectory_id": text(one.get("trajectory_id")) or f"subagent-{number}"}
        yield named, calls.get(named["trajectory_id"], ""), trajectory.get("agent")
        yield from _subagents(one, [(Place(1, 0, 0), step) for step in items(one.get("steps"))])


class _Content(NamedTuple):
    words: str
    images: tuple[Image, ...]
    rest: tuple[Json, ...]
    """Parts of other kinds."""


class _TrajectoryReader:
    """Understands the steps of one trajectory."""

    def __init__(self, head: dict[str, Any], name: str, folder: Path | None) -> None:
        self._name, self._folder = name, folder
        self._agent = mapping(head.get("agent"))
        self._branches = [mapping(one) for one in items(ours(head).get("branches"))]
        self._messages: set[str] = set()

    def events(self, steps: Iterable[_Step], place: Place) -> Iterator[Event]:
        """The events of the steps, then those of ways that were left, the last one first, as a log would have them:
        what is live ends last."""
        root = f"{self._name}/0"
        ends: dict[tuple[int, int], str] = {(0, 0): root}
        if self._branches:
            yield Event("notice", place, root)  # what all ways begin with
        last = yield from self._way(0, Chain(root if self._branches else None), steps, ends)
        left: list[list[Event]] = []
        for branch in self._branches:
            number, above = whole(branch.get("number")), (whole(branch.get("parent")), whole(branch.get("after_step")))
            inner = [(place, one) for one in items(branch.get("steps"))]
            left.append(list(self._way(number, Chain(ends.get(above, root)), inner, ends)))
        for way in reversed(left):
            yield from way
        if left:
            yield Event("notice", place, f"{self._name}/end", last or root, turn=True)

    def _way(
        self, branch: int, chain: Chain, steps: Iterable[_Step], ends: dict[tuple[int, int], str]
    ) -> Generator[Event, None, str]:
        """The events of one way; the last of each step is noted, and that of the way is given back."""
        last = ""
        for number, (place, step) in enumerate(steps, 1):
            name = f"b{branch}.{number}" if branch else str(number)
            for event in self._step(place, mapping(step) or {"unknown": step}, name):
                yield chain.follow(event)
                last = event.id
            ends[branch, number] = last or ends[0, 0]
        return last

    def _step(self, place: Place, step: dict[str, Any], number: str) -> Iterator[Event]:
        event = Event("notice", place, f"{self._name}/{number}")
        event.time, event.copied = moment(step.get("timestamp")), step.get("is_copied_context") is True
        match step.get("source"):
            case "user":
                yield self._prompt(event, step)
                yield from self._results(event, step)
            case "agent":
                yield from self._answer(event, step)
            case "system":
                if ours(step) or step.get("message") or not step.get("observation"):
                    yield self._notice(event, step, first=number == "1")
                yield from self._results(event, step)
            case source:
                event.blocks = (Unknown(place, text(source) or "step", step, id=event.id, time=event.time),)
                yield event

    def _prompt(self, event: Event, step: dict[str, Any]) -> Event:
        content, own = self._content(event, step.get("message")), mapping(ours(step).get("prompt"))
        as_prompt(event, content.words, content.images)
        event.blocks = _unknown_parts(event, content)
        given = {"kind": "text", "text": content.words, **own, "place": event.place}
        made = _converted(given, Prompt)
        if made is not None:
            event.prompt = replace(made, id=event.id, time=event.time, images=content.images)
        return event

    def _notice(self, event: Event, step: dict[str, Any], *, first: bool) -> Event:
        own, content = ours(step), self._content(event, step.get("message"))
        if "unknown" in own:
            told = mapping(own.get("unknown"))
            made = Unknown(event.place, text(told.get("what")), told.get("data"), "", event.id, event.time)
            event.blocks = (made,)
        elif own.get("picture") is True:
            event.blocks = content.images
        else:
            kind = text(own.get("kind")) or ("system-prompt" if first else "info")
            facts, name = mapping(own.get("facts")), event.id
            notice = Notice(event.place, kind, content.words, facts, name, event.time, content.images)
            event.blocks = (notice, *_unknown_parts(event, content))
            if not own and not content.words:
                event.blocks = ()  # the one step that a trajectory without any must have
        return event

    def _answer(self, event: Event, step: dict[str, Any]) -> Iterator[Event]:
        own, content = ours(step), self._content(event, step.get("message"))
        message = text(own.get("message")) or event.id
        message = message if message not in self._messages else event.id
        self._messages.add(message)
        model = text(step.get("model_name"))
        model = model or ("" if own else text(self._agent.get("model_name")))
        effort, stop = step.get("reasoning_effort"), text(own.get("stop"))
        part = Part(message, "", model, None, stop, synthetic=own.get("synthetic") is True,
                    aborted=own.get("aborted") is True, effort=text(effort) or str(effort or ""))  # fmt: skip
        if own.get("retracted") is True:
            event.retracts = (event.id,)
        if not event.copied:
            yield from self._requests(event, step, part)
        yield as_message(event, part, self._blocks(event, step, content, message))  # last: it tells the model
        yield from self._results(event, step)

    def _blocks(self, event: Event, step: dict[str, Any], content: _Content, message: str) -> list[Block]:
        blocks: list[Block] = [thought(event, message, "")] if ours(step).get("hidden") is True else []
        if words := text(step.get("reasoning_content")):
            blocks.append(thought(event, message, words))
        if content.words:
            blocks.append(said(event, message, content.words))
        blocks += [*content.images, *_unknown_parts(event, content, message)]
        for one in map(mapping, items(ours(step).get("unknown"))):
            blocks.append(Unknown(event.place, text(one.get("what")), one.get("data"), message, event.id, event.time))
        for call in map(mapping, items(step.get("tool_calls"))):
            own, name = ours(call), text(call.get("function_name"))
            role = text(own.get("role")) if own else tool_role(text(self._agent.get("name")), name)
            given = mapping(call.get("arguments")).get("input") if own.get("wrapped") is True else call.get("arguments")
            made = called(event, message, text(call.get("tool_call_id")), name, given, role)
            server = own.get("server") is True
            blocks.append(replace(made, time=moment(own.get("time")) or event.time, server=server))
        return blocks

    def _requests(self, event: Event, step: dict[str, Any], part: Part) -> Iterator[Event]:
        """What was used, each request by itself where unspool wrote it down so."""
        metrics = mapping(step.get("metrics"))
        told = [mapping(one) for one in items(ours(metrics).get("requests"))]
        for number, one in enumerate(told):
            usage = _converted(one.get("usage"), Usage) or Usage()
            after = Event("notice", event.place, f"{event.id}={number}", time=moment(one.get("time")))
            terms = (text(one.get(name)) for name in ("speed", "tier", "geo"))
            stop = "" if usage.floor else part.stop or "end"
            own = Part(part.message, text(one.get("id")), text(one.get("model")), usage, stop)
            speed, tier, geo = terms
            yield as_message(after, replace(own, effort=part.effort, speed=speed, tier=tier, geo=geo), [])
        if metrics and not told and (used := _usage(metrics)) is not None:
            after = Event("notice", event.place, f"{event.id}=0", time=event.time)
            yield as_message(after, replace(part, usage=used, stop=part.stop or "end"), [])

    def _results(self, event: Event, step: dict[str, Any]) -> Iterator[Event]:
        results = [mapping(one) for one in items(mapping(step.get("observation")).get("results"))]
        calls = [text(mapping(one).get("tool_call_id")) for one in items(step.get("tool_calls"))]
        for number, one in enumerate(results):
            own, content = ours(one), self._content(event, one.get("content"))
            if one.get("content") is None and not own and one.get("subagent_trajectory_ref"):
                continue  # it only leads to a subagent
            in_order = calls[number] if len(calls) == len(results) else ""
            call = text(one.get("source_call_id")) or text(own.get("call_id")) or in_order
            after = Event("notice", event.place, f"{event.id}:{number}", copied=event.copied)
            after.time = moment(own.get("time")) or (None if ours(step) else event.time)
            made = answered(after, call, content.words, error=_has_failed(one, content.words))
            made = replace(made, detail=None if own else one.get("extra"))
            given = {"place": after.place, "call_id": call, "text": content.words, **mapping(own.get("result"))}
            outside = tuple(r for r in items(one.get("subagent_trajectory_ref")) if mapping(r).get("trajectory_path"))
            made = replace(
                (_converted(given, Result) if own else None) or made,
                id=after.id,
                time=after.time,
                images=content.images,
            )
            after.kind, after.turn = "result", True
            after.blocks = (replace(made, parts=(*made.parts, *content.rest, *outside)),)
            yield after

    def _content(self, event: Event, content: Json) -> _Content:
        if not isinstance(content, list):
            return _Content(text(content), (), ())
        words: list[str] = []
        images: list[Image] = []
        rest: list[Json] = []
        for part in content:
            source = mapping(mapping(part).get("source"))
            if mapping(part).get("type") == "text":
                words.append(text(mapping(part).get("text")))
            elif mapping(part).get("type") == "image" and source:
                images.append(self._image(event, text(source.get("media_type")), text(source.get("path"))))
            else:
                rest.append(part)
        return _Content("\n\n".join(words), tuple(images), tuple(rest))

    def _image(self, event: Event, media_type: str, path: str) -> Image:
        """A picture that lies below the folder of the trajectory, whole; else where it is said to be."""
        if path.startswith(("http://", "https://", "data:")):
            return picture(event, media_type, url=path)
        made = picture(event, media_type)
        place = PurePosixPath(path)
        if self._folder is None or place.is_absolute() or ".." in place.parts or "\\" in path or "\0" in path:
            return replace(made, path=path)
        found = self._folder / place
        try:
            inside = found.resolve().is_relative_to(self._folder.resolve())
            data = plain_bytes(found) if inside and is_small_file(found, _LARGEST_PICTURE) else b""
        except OSError:
            data = b""
        return replace(made, data=b64encode(data).decode("ascii")) if data else replace(made, path=path)


def _has_failed(result: dict[str, Any], words: str) -> bool:
    """Whether a converter says that a tool failed: the format has no field for it."""
    told = mapping(result.get("extra"))
    marks = (told.get("is_error"), *(mapping(one).get("is_error") for one in told.values()))
    return True in marks or words.rstrip().endswith(_FAILED)


def _unknown_parts(event: Event, content: _Content, message: str = "") -> tuple[Unknown, ...]:
    kinds = ((text(mapping(one).get("type")) or "part", one) for one in content.rest)
    return tuple(Unknown(event.place, kind, one, message, event.id, event.time) for kind, one in kinds)


def _converted(value: Json, kind: type[_Known]) -> _Known | None:
    """A value as what unspool wrote it from; None where somebody else wrote something of another shape."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.ValidationError, ValueError, RecursionError):
        return None


def _usage(metrics: dict[str, Any]) -> Usage | None:
    """Usage as the format has it: all that was sent, and the part of it that the cache had."""
    more = mapping(metrics.get("extra"))
    sent, output = whole(metrics.get("prompt_tokens")), whole(metrics.get("completion_tokens"))
    read = min(sent, whole(metrics.get("cached_tokens")))
    written = min(sent - read, whole(more.get("cache_creation_input_tokens")))
    thinking = min(output, whole(more.get("reasoning_tokens")))
    return Usage(sent - read - written, output, read, written, reasoning=thinking) if sent or output else None
