"""A session as an ATIF trajectory, version 1.8: its steps, subagents as trajectories inside, pictures beside the file.

What the format has no field for stands below `extra.unspool`, so that the reader in `agents` gives the session back.
"""

import binascii
import hashlib
from base64 import b64decode
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import msgspec

from unspool.agents.atif import TRAJECTORY
from unspool.agents.values import items, mapping
from unspool.figures import figures
from unspool.figures.spending import PricedRequest
from unspool.files import write_atomically
from unspool.model import Agent, Branch, Image, Json, Notice, Prompt, Result, Session, Thinking, ToolCall, Unknown
from unspool.render.exchange.messages import call_arguments
from unspool.render.exchange.steps import (
    AnswerStep,
    BesideStep,
    ExchangeStep,
    PromptStep,
    SessionWalk,
    agents_of,
    prompt_text,
    tool_definitions,
)
from unspool.render.json import encode_json
from unspool.render.sessionshare import picture_name
from unspool.render.view import View

VERSION = "ATIF-v1.8"
_ENDINGS = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
"""The pictures that the format takes."""
_FOLDER = "images"
_FIELDS = (
    *("schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics"),
    *("continued_trajectory_ref", "extra", "subagent_trajectories"),
)
_Data = dict[str, Json]


class AtifWriter(msgspec.Struct, frozen=True):
    """One JSON document; the pictures lie in a folder beside it."""

    indent: int = 0

    name: ClassVar[str] = "atif"
    suffixes: ClassVar[tuple[str, ...]] = (".atif.json",)
    description: ClassVar[str] = "an ATIF trajectory (v1.8), for Harbor, evaluation and reinforcement learning"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encode_json(session.id, lambda: trajectory(session, view, folder), self.indent)


def trajectory(session: Session, view: View, folder: Path | None = None) -> _Data:
    """The document of a session: all of it, but for thoughts and notices where the view hides these; pictures go below
    the folder, and are named in words where there is none."""
    walk = SessionWalk(session, View(view.thinking, notices=view.notices, prices=view.prices))
    heads = [mapping(side.data) for side in session.side if side.type == TRAJECTORY]
    return _TrajectoryWriter(walk, _PictureFolder(folder), heads[0] if heads else None).document(session, None)


class _PictureFolder:
    """Writes each different picture once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._written: set[str] = set()

    def content(self, words: str, images: Iterable[Image]) -> Json:
        """Words alone as a text, with pictures as parts; a picture that cannot be told of by its place is named."""
        places = [(image, self._place(image)) for image in images]
        words = "\n\n".join(filter(None, (words, *(picture_name(image) for image, path in places if not path))))
        parts = [
            {"type": "image", "source": {"media_type": image.media_type, "path": path}}
            for image, path in places
            if path
        ]
        return [*([{"type": "text", "text": words}] if words else []), *parts] if parts else words

    def _place(self, image: Image) -> str:
        if image.media_type not in _ENDINGS:
            return ""
        return image.url if image.url.startswith(("http://", "https://")) else self._file(image)

    def _file(self, image: Image) -> str:
        """Where the picture was put, seen from the document; empty where it cannot be put anywhere."""
        try:
            data = b64decode(image.data, validate=True)
        except (binascii.Error, ValueError):
            return ""
        if not data or self._folder is None:
            return ""
        path = f"{_FOLDER}/{hashlib.sha256(data).hexdigest()[:16]}.{_ENDINGS[image.media_type]}"
        if path not in self._written:
            write_atomically(self._folder / path, [data])
            self._written.add(path)
        return path


class _TrajectoryWriter:
    """Writes a session and, inside it, its subagents. `told` is what the trajectory said of itself that the session was
    read from: that stays as it was."""

    def __init__(self, walk: SessionWalk, pictures: _PictureFolder, told: _Data | None) -> None:
        self._walk, self._pictures, self._told = walk, pictures, told

    def document(self, member: Session, agent: Agent | None) -> _Data:
        head = self._told or self._head(member, agent)
        made: list[_Data] = []
        places = _StepPlaces()
        for step in (*self._walk.steps(member), *self._walk.unshown(member)):
            made.append({"step_id": len(made) + 1, **self._step(step, member)})
            places.add(step)
        branches = list(self._branches(member, places))
        extra = dict(mapping(head.get("extra")))
        own = {name: value for name, value in mapping(extra.get("unspool")).items() if name != "branches"}
        own |= {"branches": branches} if branches else {}
        extra |= {"unspool": own} if own else {}
        inner = [self._inner(one) for one in member.agents]
        steps = made or [{"step_id": 1, "source": "system", "message": ""}]  # which the format wants
        document = {
            **head,
            "schema_version": VERSION,
            "steps": steps,
            "final_metrics": self._final_metrics(member, len(steps)),
            "extra": extra,
            "subagent_trajectories": inner,
        }
        return {name: value for name in _FIELDS if (value := document.get(name)) not in (None, {}, [])}

    def _inner(self, agent: Agent) -> _Data:
        known = [mapping(one) for one in items((self._told or {}).get("subagent_trajectories"))]
        told = next((one for one in known if one.get("trajectory_id") == agent.id), None)
        return _TrajectoryWriter(self._walk, self._pictures, told).document(agent.session, agent)

    def _head(self, member: Session, agent: Agent | None) -> _Data:
        session = self._walk.session
        answers = (message for message in member.messages if message.model and not message.synthetic)
        model = next((message.model for message in answers), None)
        tools = [one.openai() for one in tool_definitions(member) if one.declared]
        who = {
            "name": session.agent,
            "version": session.versions[-1] if session.versions else "unknown",
            "model_name": model,
            "tool_definitions": tools or None,
        }
        about: _Data = {"title": member.title, "kind": member.kind}
        if agent is None:
            about |= {"cwd": session.cwd, "project": session.project, "branch": session.branch}
            about |= {"started": _moment(session.started), "ended": _moment(session.ended)}
            about["reported_cost"] = session.reported_cost
        else:
            about["subagent"] = {
                name: getattr(agent, name) for name in ("kind", "description", "status", "name", "call_id")
            }
        notes = "Totals count requests of ways that were left, which stand in extra.unspool.branches."
        return {
            "schema_version": VERSION,
            "session_id": session.id,
            "trajectory_id": member.id,
            "agent": {name: value for name, value in who.items() if value is not None},
            "notes": notes if member.branches else None,
            "extra": {"unspool": {name: value for name, value in about.items() if value}},
        }

    def _branches(self, member: Session, live: "_StepPlaces") -> Iterator[_Data]:
        """Ways that were left, each with the step that it leaves behind: of the live way, or of its parent."""
        known = {0: live}
        for branch in member.branches:
            made: list[_Data] = []
            known[branch.number] = own = _StepPlaces()
            for step in self._walk.branch_steps(member, branch):
                made.append({"step_id": len(made) + 1, **self._step(step, member)})
                own.add(step)
            after = known.get(branch.parent, live).behind(branch)
            yield {"number": branch.number, "parent": branch.parent, "after_step": after, "steps": made}

    def _final_metrics(self, member: Session, steps: int) -> _Data:
        """The figures of `info`; none where the agent logged nothing of what it used."""
        counted = figures(member, self._walk.prices)
        whole, cost = counted.usage, counted.cost
        if not counted.models:
            return {"total_steps": steps}
        own = {"usage": whole, "agents_usage": counted.agents_usage, "cost_usd": cost.amount, "unpriced": cost.unpriced}
        return {
            "total_prompt_tokens": whole.context,
            "total_completion_tokens": whole.output,
            "total_cached_tokens": whole.cache_read,
            **({"total_cost_usd": float(cost.amount)} if not cost.unpriced else {}),
            "total_steps": steps,
            "extra": {"unspool": own},
        }

    def _step(self, step: ExchangeStep, member: Session) -> _Data:
        if isinstance(step, PromptStep):
            made = self._prompt(step.prompt)
        elif isinstance(step, AnswerStep):
            made = self._answer(step, member)
        else:
            made = self._beside(step)
        made = {name: value for name, value in made.items() if value is not None and value != {}}
        return made | ({"is_copied_context": True} if step.copied else {})

    def _prompt(self, prompt: Prompt) -> _Data:
        words = prompt_text(prompt)
        own = mapping(msgspec.to_builtins(prompt))
        gone = {"place", "id", "time", "images", *(("text",) if prompt.text == words else ())}
        own = {name: value for name, value in own.items() if name not in gone}
        own = own if own != {"kind": "text"} else {}
        message = self._pictures.content(words, prompt.images)
        return {"timestamp": _moment(prompt.time), "source": "user", "message": message, "extra": _extra(prompt=own)}

    def _answer(self, step: AnswerStep, member: Session) -> _Data:
        about, usage = step.about, step.usage
        pictures = (block for block in step.blocks if isinstance(block, Image))
        own: _Data = {"message": step.message}
        own["hidden"] = any(isinstance(block, Thinking) and not block.text for block in step.blocks)
        own["unknown"] = [_unknown(block) for block in step.blocks if isinstance(block, Unknown)]
        final = any(not request.usage.floor for request in step.requests)
        own["stop"] = (about.stop if about is not None else "") or ("end" if final else "")
        if about is not None:
            own |= {"synthetic": about.synthetic, "retracted": about.retracted, "aborted": about.aborted}
        written = about is not None and about.synthetic and not step.thoughts and not step.requests
        metrics = {
            "prompt_tokens": usage.context,
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
            "cost_usd": float(step.cost) if step.cost is not None else None,
            "extra": _extra(requests=[_request(one) for one in step.requests]),
        }
        return {
            "timestamp": _moment(step.time),
            "source": "agent",
            "model_name": step.model or None,
            "reasoning_effort": (about.effort if about is not None else "") or None,
            "message": self._pictures.content(step.words, pictures),
            "reasoning_content": step.thoughts or None,
            "tool_calls": [self._call(call, step) for call in step.calls] or None,
            "observation": self._observation(step.calls, member),
            "metrics": {name: value for name, value in metrics.items() if value is not None} if step.requests else None,
            "llm_call_count": 0 if written else len(step.requests) or None,
            "extra": _extra(**own),
        }

    def _call(self, call: ToolCall, step: AnswerStep) -> _Data:
        wrapped = not isinstance(call.input, dict) and call.input is not None
        time = _moment(call.time) if call.time != step.time else None
        own = _extra(role=call.role, server=call.server, wrapped=wrapped, time=time)
        made = {"tool_call_id": call.call_id, "function_name": call.name, "arguments": call_arguments(call)}
        return made | ({"extra": own} if own else {})

    def _observation(self, calls: Iterable[ToolCall], member: Session) -> _Data | None:
        results: list[_Data] = []
        for call in calls:
            refs = [{"trajectory_id": agent.id} for agent in agents_of(call, member)]
            last = [*call.earlier, *([call.result] if call.result is not None else [])]
            made = [{"source_call_id": call.call_id, **self._result(result)} for result in last]
            if refs:
                made = made or [{"source_call_id": call.call_id}]
                made[-1]["subagent_trajectory_ref"] = refs
            results += made
        return {"results": results} if results else None

    def _result(self, result: Result, call_id: str = "") -> _Data:
        gone = ("type", "place", "id", "time", "images", "text", "call_id")
        own = {name: value for name, value in mapping(msgspec.to_builtins(result)).items() if name not in gone}
        extra = _extra(result=own, time=_moment(result.time), call_id=call_id)
        return {"content": self._pictures.content(result.text, result.images), **({"extra": extra} if extra else {})}

    def _beside(self, step: BesideStep) -> _Data:
        block = step.block
        made: _Data = {"timestamp": _moment(block.time), "source": "system", "message": ""}
        if isinstance(block, Notice):
            made["message"] = self._pictures.content(block.text, block.images)
            made["extra"] = _extra(kind=block.kind, facts=block.facts)
        elif isinstance(block, ToolCall) and block.result is not None:
            made["observation"] = {"results": [self._result(block.result, block.call_id)]}
        elif isinstance(block, Image):
            made |= {"message": self._pictures.content("", [block]), "extra": _extra(picture=True)}
        elif isinstance(block, Unknown):
            made["extra"] = _extra(unknown=_unknown(block))
        return made


class _StepPlaces:
    """Which step each line of a way went into."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._turns: list[int] = []

    def add(self, step: ExchangeStep) -> None:
        self._turns.append(step.turn)
        self._lines |= dict.fromkeys(_line_ids(step), len(self._turns))

    def behind(self, branch: Branch) -> int:
        """The step that a branch leaves behind, never the last, for then it would be no branch; 0 where it leaves at
        the beginning. Of a line that went into no step only the turn is known, which begins with its prompt."""
        begun = sum(turn < branch.after for turn in self._turns) + 1 if branch.after else 0
        return min(self._lines.get(branch.at, begun), len(self._turns) - 1) if branch.at else 0


def _line_ids(step: ExchangeStep) -> Iterator[str]:
    """The ids of the lines that a step was read from."""
    if isinstance(step, PromptStep):
        yield step.prompt.id
        return
    for block in step.blocks if isinstance(step, AnswerStep) else (step.block,):
        yield block.id
        if isinstance(block, ToolCall):
            yield from (result.id for result in (*block.earlier, block.result) if result is not None)


def _extra(**own: Json) -> _Data:
    """What is unspool's own, without what says nothing."""
    said = {name: value for name, value in own.items() if value not in (None, "", False, 0) and value not in ([], {})}
    return {"unspool": said} if said else {}


def _unknown(block: Unknown) -> _Data:
    return {"what": block.what, "data": block.data}


def _request(one: PricedRequest) -> _Data:
    own = {"id": one.id, "model": one.model, "time": _moment(one.time), "usage": msgspec.to_builtins(one.usage)}
    own |= {"speed": one.speed, "tier": one.tier, "geo": one.geo}
    return {name: value for name, value in own.items() if value}


def _moment(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time is not None else None
