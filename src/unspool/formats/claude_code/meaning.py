"""What the agent's own tools mean: plans and their fate, questions and answers, todo lists, subagents."""

import re

from unspool.formats.claude_code import plans
from unspool.formats.claude_code.beside import Beside
from unspool.formats.claude_code.discover import ID
from unspool.formats.claude_code.questions import questionnaire
from unspool.formats.claude_code.todos import todos
from unspool.formats.claude_code.values import mapping, text
from unspool.model import Facts, Plan, PlanStatus, Questionnaire, Result, Todo, Todos, ToolCall

_APPROVED = re.compile(r"approved (?:your plan|exiting plan mode)", re.IGNORECASE)
_REJECTED = re.compile(r"rejected|doesn't want to proceed", re.IGNORECASE)
_AGENT_ID = re.compile(r"\bagent_?Id: ([A-Za-z0-9_-]+)", re.IGNORECASE)
_STATES = {"user-rejected": "rejected", "interrupted": "interrupted", "cancelled": "cancelled"}


class ClaudeCode:
    """The dialect of the format."""

    agent = ID

    def __init__(self, beside: Beside | None = None, facts: Facts | None = None) -> None:
        self._beside = beside or Beside(None)
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
        return Plan(plans.title(words or "Plan"), words, status, feedback, edited, path)

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
        return questionnaire(call)

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        return todos(call, before)

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
