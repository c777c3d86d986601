"""What the agent's own tools mean: plans, questions and answers, todo lists, subagents."""

import re
from typing import Literal

from unspool.agents.claude_code import prompts
from unspool.agents.claude_code.agent_files import Companions
from unspool.agents.claude_code.discover import ID
from unspool.agents.values import items, mapping, text
from unspool.model import (
    AgentDetails,
    Facts,
    Json,
    Option,
    Plan,
    PlanStatus,
    Question,
    Questionnaire,
    Result,
    Todo,
    Todos,
    ToolCall,
)

_CLOSING = re.compile(r'(?<!\\)"(?=[,.;\s]|\Z)')
_AWAY = "No response after"


def parse_questionnaire(call: ToolCall) -> Questionnaire | None:
    """The questions of a call with what was answered; None where it asks none."""
    asked = items(mapping(call.input).get("questions"))
    if not asked:
        return None
    answers, notes = _answers(call, asked)
    questions = tuple(_question(mapping(item), answers, notes) for item in asked)
    return Questionnaire(questions, _outcome(call, answers), call.result.feedback if call.result else "")


def _outcome(call: ToolCall, answers: dict[str, str]) -> Literal["answered", "rejected", "away", "pending"]:
    if call.result is None:
        return "pending"
    if call.result.denial:
        return "rejected"
    if call.result.text.startswith(_AWAY):
        return "away"
    return "answered" if answers or not call.result.error else "pending"


def _answers(call: ToolCall, asked: list[Json]) -> tuple[dict[str, str], dict[str, str]]:
    """(answers, notes) by question text: the structured record first, else what the text says."""
    if call.result is None:
        return {}, {}
    detail = mapping(call.result.detail)
    given = mapping(detail.get("answers"))
    marks = mapping(detail.get("annotations"))
    notes = {question: text(mapping(mark).get("notes")) for question, mark in marks.items()}
    if given:
        return {question: _joined(answer) for question, answer in given.items()}, notes
    return _from_text(call.result.text, asked)


def _joined(answer: Json) -> str:
    return ", ".join(text(part) for part in answer) if isinstance(answer, list) else text(answer)


def _from_text(words: str, asked: list[Json]) -> tuple[dict[str, str], dict[str, str]]:
    """What the text of a result says after each question."""
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    questions = filter(None, (text(mapping(item).get("question")) for item in asked))
    places = sorted((words.find(f'"{question}"='), question) for question in questions)
    for number, (at, question) in enumerate(places):
        if at < 0:
            continue
        end = places[number + 1][0] if number + 1 < len(places) else len(words)
        answer, rest = _quoted(words[at + len(question) + 3 : end])
        if answer:
            answers[question] = answer
        _, noted, note = rest.partition("notes: ")
        if noted:
            notes[question] = note.split("\n")[0].split(". You can")[0].rstrip(", ").strip()
    return answers, notes


def _quoted(said: str) -> tuple[str, str]:
    """A quoted answer and what stands behind it; quotes inside it are escaped or followed by more words."""
    if not said.startswith('"'):
        return "", said
    closing = _CLOSING.search(said, 1)
    end = closing.start() if closing else len(said)
    return said[1:end].replace('\\"', '"'), said[end + 1 :]


def _question(item: dict[str, Json], answers: dict[str, str], notes: dict[str, str]) -> Question:
    words = text(item.get("question"))
    answer = answers.get(words)
    several = item.get("multiSelect") is True
    chosen = _chosen(answer, several=several)
    options = tuple(
        Option(text(option.get("label")), text(option.get("description")), text(option.get("label")) in chosen)
        for option in map(mapping, items(item.get("options")))
    )
    return Question(words, text(item.get("header")), options, several, answer, notes.get(words, ""))


def _chosen(answer: str | None, *, several: bool) -> set[str]:
    if answer is None:
        return set()
    return {answer, *(part.strip() for part in answer.split(","))} if several else {answer}


_WRITTEN = "written:"
"""Key prefix of items that were written as a whole list and have no lasting id."""


def todos_after(call: ToolCall, before: dict[str, Todo]) -> Todos | None:
    """The list after a call, which `before` is brought up to; None where the call changed nothing."""
    given = mapping(call.input)
    failed = call.result is not None and call.result.error
    if failed:
        return None
    if isinstance(given.get("todos"), list):
        _write(given["todos"], before)
    elif text(given.get("subject")) and not given.get("taskId"):
        _create(call, given, before)
    elif given.get("taskId") is not None and len(given) > 1:
        _update(given, before)
    else:
        return None
    return Todos(tuple(before.values()))


def _write(listed: list[Json], before: dict[str, Todo]) -> None:
    for key in [key for key in before if key.startswith(_WRITTEN)]:
        del before[key]
    for number, item in enumerate(listed):
        if isinstance(item, dict):
            before[f"{_WRITTEN}{number}"] = Todo(
                text(item.get("content")),
                text(item.get("status")) or "pending",
                str(item["id"]) if item.get("id") is not None else "",
                text(item.get("activeForm")),
                priority=text(item.get("priority")),
            )


def _create(call: ToolCall, given: dict[str, Json], before: dict[str, Todo]) -> None:
    """The id of a new task is only known from the result."""
    detail = mapping(mapping(call.result.detail).get("task")) if call.result else {}
    identity = str(detail["id"]) if detail.get("id") is not None else f"?{call.call_id}"
    status = text(given.get("status")) or "pending"
    before[identity] = Todo(text(given["subject"]), status, identity, text(given.get("activeForm")), task=True)


def _update(given: dict[str, Json], before: dict[str, Todo]) -> None:
    identity = str(given["taskId"])
    status = text(given.get("status"))
    if status == "deleted":
        before.pop(identity, None)
        return
    was = before.get(identity) or Todo("", "pending", identity, task=True)
    before[identity] = Todo(
        text(given.get("subject")) or was.text,
        status or was.status,
        identity,
        text(given.get("activeForm")) or was.active,
        text(given.get("owner")) or was.owner,
        _more(was.blocked_by, given.get("addBlockedBy")),
        _more(was.blocks, given.get("addBlocks")),
        was.priority,
        task=True,
    )


def _more(before: tuple[str, ...], added: Json) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *(str(item) for item in items(added)))))


_APPROVED = re.compile(r"approved (?:your plan|exiting plan mode)", re.IGNORECASE)
_REJECTED = re.compile(r"rejected|doesn't want to proceed", re.IGNORECASE)
_AGENT_ID = re.compile(r"\bagent_?Id: ([A-Za-z0-9_-]+)", re.IGNORECASE)
_STATES = {"user-rejected": "rejected", "interrupted": "interrupted", "cancelled": "cancelled"}


class ClaudeCodeDialect:
    """The dialect of the format."""

    agent = ID

    def __init__(self, beside: Companions | None = None, facts: Facts | None = None) -> None:
        self._beside = beside or Companions(None)
        self._facts = facts or Facts()  # what a log tells of itself may come with its lines, after this
        self._written: dict[str, str] = {}
        self.named: set[str] = set()

    def note(self, call: ToolCall) -> None:
        """Remember what was written to a plan file: some versions put the plan nowhere else."""
        given = mapping(call.input)
        path = text(given.get("file_path"))
        if "/plans/" not in path.replace("\\", "/") or call.state != "ok":
            return
        if isinstance(given.get("content"), str):
            self._written[path] = given["content"]
        elif path in self._written and isinstance(given.get("old_string"), str):
            self._written[path] = self._written[path].replace(given["old_string"], text(given.get("new_string")), 1)

    def plan(self, call: ToolCall) -> Plan | None:
        given, detail = mapping(call.input), mapping(call.result.detail) if call.result else {}
        status, feedback = _fate(call)
        told = text(detail.get("plan"))
        words = told if told and status == "approved" else text(given.get("plan")) or told
        words = words or self._plan_file(text(given.get("planFilePath")) or text(detail.get("filePath")))
        edited = detail.get("planWasEdited") is True or bool(told and given.get("plan") and told != given["plan"])
        path = text(given.get("planFilePath")) or text(detail.get("filePath"))
        return Plan(prompts.plan_title(words or "Plan"), words, status, feedback, edited, path)

    def _plan_file(self, path: str) -> str:
        if path in self._written:
            return self._written[path]
        if not path and self._written:
            return list(self._written.values())[-1]
        name = re.split(r"[\\/]", path)[-1] if path else f"{self._facts.slug}.md" if self._facts.slug else ""
        if name and "\n" not in name:
            self.named.add(f"plans/{name}")
        return self._beside.plan(name) or ""

    def questions(self, call: ToolCall) -> Questionnaire | None:
        return parse_questionnaire(call)

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        return todos_after(call, before)

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        if call.result is None:
            return ()
        detail = mapping(call.result.detail)
        named = text(detail.get("agentId")) or text(detail.get("agent_id"))
        if named:
            return (named,)
        found = _AGENT_ID.search(call.result.text[-2000:])
        return (found[1],) if found else ()

    def agent_prompt(self, call: ToolCall) -> str:
        return text(mapping(call.input).get("prompt"))

    def agent_details(self, call: ToolCall) -> AgentDetails:
        given = mapping(call.input)
        return AgentDetails(
            text(given.get("subagent_type")), text(given.get("description")), given.get("run_in_background") is True
        )

    def state(self, result: Result) -> str:
        if result.denial:
            return _STATES.get(result.denial, "denied")
        return "error" if result.error else "ok"


def _fate(call: ToolCall) -> tuple[PlanStatus, str]:
    if call.result is None:
        return "pending", ""
    words = call.result.text
    if not call.result.error and _APPROVED.search(words):
        return "approved", ""
    if call.result.denial or _REJECTED.search(words):
        return "rejected", call.result.feedback
    detail = mapping(call.result.detail)
    if not call.result.error and isinstance(detail.get("plan"), str) and not detail.get("awaitingLeaderApproval"):
        return "approved", ""
    return "pending", ""
