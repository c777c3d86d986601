"""A session of one agent as one that another resumes: what was said and done, tools named as the other names them.

Nothing here is the log of the first agent any more: thinking, notices and what nobody can map stay behind, and are
counted. A tool that the other agent has none for is told in words, with its answer.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents import AGENTS, CodingAgent, resume_command
from unspool.agents.handed import HandedAnswer, HandedCall, HandedPrompt, NewSession, SessionTaker, Step
from unspool.errors import Unsound, UsageProblem
from unspool.model import Json, Message, Notice, Prompt, Session, Text, Thinking, ToolCall
from unspool.model.tool_input import patch_of, patched_files, usual_input

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST = 20_000
"""Characters of an answer that are told in words."""


class HandOver(NamedTuple):
    """A session handed over, nothing written yet."""

    session: NewSession
    path: Path
    data: bytes
    command: str
    mapped: dict[str, str]
    """The other agent's tool, by the tool that was used."""
    told: dict[str, int]
    """How often a tool was used that is told in words."""
    left: dict[str, int]
    """What stays behind, by kind."""


def takers() -> list[CodingAgent]:
    """The agents that sessions can be handed over to."""
    return [agent for agent in AGENTS if agent.taker is not None]


def hand_over(session: Session, agent: CodingAgent, home: Path | None = None, *, whole: bool = False) -> HandOver:
    """Make a session for another agent; UsageProblem where none can be made for it, Unsound where nothing was said.
    A `whole` one is to be read, not gone on with: it keeps what was thought and used."""
    taker = agent.taker
    if taker is None:
        known = ", ".join(one.name for one in takers())
        raise UsageProblem(f"Sessions can be handed over to {known}, not to {agent.name}.")
    handing = _Handing(taker, whole=whole)
    steps = list(handing.steps(session))
    if not any(isinstance(step, HandedPrompt) for step in steps):
        raise Unsound(f"Nothing was asked in session {session.id}; there is nothing to hand over.")
    started = session.started or datetime.now(UTC)
    new = NewSession(taker.new_id(), session.cwd, session.title, session.branch, started)
    path = taker.place(home or agent.roots(os.environ, Path.home())[0], new)
    data = b"".join(taker.lines(new, steps))
    command = taker.command(new, path) or resume_command(agent.id, new.id, new.cwd)
    left = {name: number for name, number in handing.left.items() if number}
    if session.agents:
        left["subagents"] = len(session.agents)
    if session.branches:
        left["branches"] = len(session.branches)
    return HandOver(new, path, data, command, handing.mapped, dict(handing.told), left)


class _Handing:
    """Goes through a session and tells what becomes of it."""

    def __init__(self, taker: SessionTaker, *, whole: bool) -> None:
        self._taker, self._whole = taker, whole
        self.mapped: dict[str, str] = {}
        self.told: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self._time = datetime.now(UTC)

    def steps(self, session: Session) -> Iterator[Step]:
        messages = {message.id: message for message in session.messages}
        self._time = session.started or self._time
        for turn in session.turns:
            if turn.prompt is not None:
                yield self._prompt(turn.prompt)
            group: list[Text | ToolCall | Thinking] = []
            for block in turn.blocks:
                if isinstance(block, Text | ToolCall) or (self._whole and isinstance(block, Thinking)):
                    if group and block.message != group[0].message:
                        yield self._answer(group, messages)
                        group = []
                    group.append(block)
                else:
                    kind = (
                        "thinking"
                        if isinstance(block, Thinking)
                        else "notices"
                        if isinstance(block, Notice)
                        else "other"
                    )
                    self.left[kind] += 1
            if group:
                yield self._answer(group, messages)

    def _prompt(self, prompt: Prompt) -> HandedPrompt:
        self._time = prompt.time or self._time
        words = f"!{prompt.text}" if prompt.kind == "bash" else prompt.text
        return HandedPrompt(words, self._time, tuple(image for image in prompt.images if image.data))

    def _answer(self, group: list[Text | ToolCall | Thinking], messages: dict[str, Message]) -> HandedAnswer:
        words: list[str] = []
        calls: list[HandedCall] = []
        message = messages.get(group[0].message)
        thoughts = tuple(block.text for block in group if isinstance(block, Thinking))
        for block in group:
            self._time = block.time or self._time
            if isinstance(block, Text):
                words.append(block.text)
            if not isinstance(block, ToolCall):
                continue
            made = self._call(block)
            if isinstance(made, str):
                words.append(made)
            else:
                calls.append(made)
        model, used = (message.model, message.usage) if message is not None else ("", None)
        said = "\n\n".join(filter(str.strip, words))
        return HandedAnswer(said, tuple(calls), model, self._time, thoughts, used if self._whole else None)

    def _call(self, call: ToolCall) -> HandedCall | str:
        role, given = call.role, usual_input(call)
        found = self._taker.tool(role, given) if isinstance(given, dict) else None
        if found is None and role == "edit" and (patch := patch_of(call.input)):
            found = self._taker.tool(*_one_change(patch))
        answer = call.result.text if call.result is not None else "The log holds no answer of this call."
        failed = call.end not in ("ok",)
        if found is None:
            self.told[call.name or "a tool"] += 1
            said = msgspec.json.encode(call.input).decode()[:_LONGEST]
            return f"[{call.name} was called with {said}]\n\n{answer[:_LONGEST]}"
        self.mapped[call.name] = found[0]
        identity = (
            call.call_id
            if _NAME.fullmatch(call.call_id)
            else sha256(call.call_id.encode(errors="replace")).hexdigest()[:24]
        )
        return HandedCall(identity, *found, answer, failed)


def _one_change(patch: str) -> tuple[str, dict[str, Json]]:
    """A patch that changes one place of one file, or makes one, as an edit or a file that is written."""
    files = list(patched_files(patch))
    if len(files) != 1 or files[0].moved_to:
        return "", {}
    one, path = files[0], files[0].path.strip()
    if one.action == "Add":
        return "write", {"file_path": path, "content": "".join(f"{line[1:]}\n" for line in one.lines)}
    runs = [line for line in one.lines if line.startswith("@@")]
    if one.action != "Update" or len(runs) > 1:
        return "", {}
    old = "\n".join(line[1:] for line in one.lines if line[:1] in " -" and line)
    new = "\n".join(line[1:] for line in one.lines if line[:1] in " +" and line)
    return "edit", {"file_path": path, "old_string": old, "new_string": new}
