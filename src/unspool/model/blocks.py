"""The blocks of a turn: prompts, messages, tool calls, results, notices; plans, todo lists and questions."""

from collections import Counter
from datetime import datetime
from typing import Literal

import msgspec

from unspool.model.entry import Json, Place
from unspool.model.usage import Call, Usage

PlanStatus = Literal["approved", "rejected", "pending"]


class Plan(msgspec.Struct, frozen=True, tag="plan", omit_defaults=True):
    """A plan and what the user made of it."""

    title: str
    text: str
    status: PlanStatus
    feedback: str = ""
    edited: bool = False
    path: str = ""
    settled_by: str = ""
    """The session that implements it, where the answer is only known from there."""


class Todo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to do. Written lists have no ids; created tasks do."""

    text: str
    status: str
    id: str = ""
    active: str = ""
    owner: str = ""
    blocked_by: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    priority: str = ""
    task: bool = False


class Todos(msgspec.Struct, frozen=True, tag="todos"):
    """The whole todo list as it stood after a call."""

    items: tuple[Todo, ...]


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """A choice offered."""

    label: str
    description: str = ""
    chosen: bool = False


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question put to the user, and the answer: an option's label, several, or free text."""

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    answer: str | None = None
    notes: str = ""


class Questionnaire(msgspec.Struct, frozen=True, tag="questionnaire", omit_defaults=True):
    """Questions asked together; `outcome` says why there are no answers, where there are none."""

    questions: tuple[Question, ...]
    outcome: Literal["answered", "rejected", "away", "pending"] = "pending"
    feedback: str = ""


class Text(msgspec.Struct, frozen=True, tag="text", omit_defaults=True):
    """Words of the assistant."""

    place: Place
    text: str
    message: str = ""
    id: str = ""
    time: datetime | None = None


class Thinking(msgspec.Struct, frozen=True, tag="thinking", omit_defaults=True):
    """Reasoning; the text may be empty where the log kept only its signature."""

    place: Place
    text: str
    message: str = ""
    id: str = ""
    time: datetime | None = None
    signature: str = ""
    redacted: bool = False
    milliseconds: int = 0
    """How long it took; 0 where the log does not tell."""


class Image(msgspec.Struct, frozen=True, tag="image", omit_defaults=True):
    """A picture or document: its data in base64 (of a text, the text itself), or the address it was at."""

    place: Place
    media_type: str
    data: str = ""
    url: str = ""
    path: str = ""
    label: str = ""
    id: str = ""
    time: datetime | None = None


class Unknown(msgspec.Struct, frozen=True, tag="unknown", omit_defaults=True):
    """Something well-formed that this version does not know, whole."""

    place: Place
    what: str
    data: Json
    message: str = ""
    id: str = ""
    time: datetime | None = None


class Notice(msgspec.Struct, frozen=True, tag="notice", omit_defaults=True):
    """What happened around the conversation: hooks, reminders, compaction, errors, interruptions, ..."""

    place: Place
    kind: str
    text: str = ""
    facts: dict[str, Json] = {}
    id: str = ""
    time: datetime | None = None
    images: tuple[Image, ...] = ()


class Result(msgspec.Struct, frozen=True, tag="result", omit_defaults=True):
    """What a tool answered. `detail` is the agent's structured twin of the text, where it kept one."""

    place: Place
    call_id: str
    text: str
    error: bool = False
    images: tuple[Image, ...] = ()
    detail: Json = None
    parts: tuple[Json, ...] = ()
    """Pieces of the answer that are neither text nor image."""
    denial: str = ""
    """Why it never ran: user-rejected, permission-rule, automode-blocked, interrupted, cancelled, ..."""
    feedback: str = ""
    """What the user said when refusing."""
    spilled: str = ""
    """The file that `text` was read back from, or that is missing."""
    missing: bool = False
    """True where the full answer was in a file that is gone: `text` is the preview."""
    permission: str = ""
    """Who let it run, or did not, where the log says: user, rule, mode, hook."""
    id: str = ""
    time: datetime | None = None


CallState = Literal["ok", "error", "rejected", "denied", "interrupted", "cancelled", "running", "unanswered", "orphan"]

CallEnd = Literal["ok", "failed", "refused", "interrupted", "unanswered"]
"""How a call ended, as every count has it: only one that ran and went wrong is `failed`."""

_ENDS: dict[str, CallEnd] = {
    "ok": "ok", "error": "failed", "rejected": "refused", "denied": "refused", "interrupted": "interrupted",
    "cancelled": "interrupted", "running": "unanswered", "unanswered": "unanswered", "orphan": "ok",
}  # fmt: skip


class ToolCall(msgspec.Struct, frozen=True, tag="tool", omit_defaults=True):
    """A tool used, with its result. State `orphan`: a result whose call is not in the log."""

    place: Place
    call_id: str
    name: str
    input: Json
    state: CallState
    role: str = ""
    """What the tool is for, in the agent's own terms made neutral: shell, read, write, edit, agent, plan, ..."""
    result: Result | None = None
    earlier: tuple[Result, ...] = ()
    """Answers to the same call that the last one replaced."""
    meaning: Plan | Todos | Questionnaire | None = None
    agents: tuple[str, ...] = ()
    """Ids of the subagents this call started."""
    message: str = ""
    id: str = ""
    time: datetime | None = None
    server: bool = False
    """Run by the model's provider, not by the agent."""

    @property
    def end(self) -> CallEnd:
        """How it ended. A plan that was accepted in another place than its answer went well."""
        if isinstance(self.meaning, Plan) and self.meaning.status != "pending":
            return "ok" if self.meaning.status == "approved" else "refused"
        return call_end(self.state, self.result)


def call_end(state: str, result: Result | None) -> CallEnd:
    """How a call ended that is in a state and has a result."""
    wrong = result is not None and result.error and not result.denial
    return "failed" if wrong and state in ("ok", "orphan") else _ENDS[state]


def count_ends(failed: int, refused: int, interrupted: int, unanswered: int) -> Counter[CallEnd]:
    """How many calls ended in each way that is not well."""
    ends: dict[CallEnd, int] = {"failed": failed, "refused": refused}
    return Counter({**ends, "interrupted": interrupted, "unanswered": unanswered})


Block = Text | Thinking | ToolCall | Image | Notice | Unknown

PromptKind = Literal["text", "command", "bash", "memory", "queued", "plan"]


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person typed. `plan`: the text an accepted plan put in the person's mouth."""

    place: Place
    kind: PromptKind
    text: str
    id: str = ""
    time: datetime | None = None
    command: str = ""
    arguments: str = ""
    images: tuple[Image, ...] = ()
    plan: Plan | None = None
    source: str = ""
    """The session log that an accepted plan came from, as the log names it."""
    mode: str = ""
    """The permission mode it was sent in."""
    origin: str = ""
    """How it came: typed, queued, sdk, ..."""

    @property
    def words(self) -> str:
        """What it says to a reader: of an accepted plan the plan, without the agent's order before it and the path of
        the log after it."""
        planned = self.plan.text.strip() if self.plan is not None else ""
        if not planned:
            return self.text
        rest = self.text.rpartition(planned)[2].split("\n\n")
        added = (part.strip() for part in rest if not self.source or self.source not in part)
        return "\n\n".join((planned, *filter(None, added)))


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of a model, joined from all the lines that carried it."""

    id: str
    model: str
    calls: tuple[Call, ...]
    stop: str = ""
    lines: tuple[int, ...] = ()
    time: datetime | None = None
    ended: datetime | None = None
    synthetic: bool = False
    """Written by the agent itself (an error, a limit notice): costs nothing."""
    retracted: bool = False
    aborted: bool = False
    effort: str = ""
    live: bool = True
    request: str = ""
    """The id under which the log keeps the request that it answers, whole; empty where it does not."""
    copied: bool = False
    """Whether it stands in the session that this one copied its history from, and was paid there."""

    @property
    def own_calls(self) -> tuple[Call, ...]:
        """The requests that it answers itself: without those of other models that it asked on its way."""
        own = f"{self.id}:"
        return tuple([call for call in self.calls if call.key.startswith(own)])

    @property
    def usage(self) -> Usage:
        """What its own requests used together."""
        own = self.own_calls
        return own[0].usage if len(own) == 1 else sum((call.usage for call in own), Usage())
