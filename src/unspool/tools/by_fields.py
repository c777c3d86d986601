"""Tools that their fields tell enough about: skills, teams, work trees, schedules, and what is handed to the user."""

from unspool import human
from unspool.doc import Code, Node, Table
from unspool.model import ToolCall
from unspool.tools import fields, nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription, KeyFields

_TABLE = {
    "Skill": KeyFields(("skill", "command", "name"), ("args",), ("status",)),
    "SlashCommand": KeyFields(("command",)),
    "TeamCreate": KeyFields(("team_name",), ("description",)),
    "TeamDelete": KeyFields(("team_name",)),
    "ListAgents": KeyFields(),
    "advisor": KeyFields(("question",), ("question",)),
    "EnterWorktree": KeyFields(("name", "path"), (), ("worktreeBranch", "worktreePath")),
    "ExitWorktree": KeyFields(("action",), (), ("worktreeBranch", "worktreePath")),
    "CronCreate": KeyFields(("cron",), ("prompt",), ("humanSchedule",)),
    "CronDelete": KeyFields(("id",)),
    "CronList": KeyFields(),
    "RemoteTrigger": KeyFields(("action",), (), ("summary", "status")),
    "Artifact": KeyFields(("file_path", "url"), ("description",), ("title",), ("url",)),
    "SendUserFile": KeyFields(("file_path", "path", "files", "caption"), ("caption", "message")),
    "PushNotification": KeyFields(("message",), (), ("disabledReason",)),
    "ReadNotifications": KeyFields(),
    "SendFeedback": KeyFields(("summary", "title", "message", "feedback"), ("message", "feedback")),
    "ProposeGoal": KeyFields(("goal", "title", "condition")),
    "ProposeSkills": KeyFields(("title", "skills")),
    "Projects": KeyFields(("method",), (), ("notice",)),
    "ClaudeDesign": KeyFields(("method", "action", "title", "prompt")),
    "StructuredOutput": KeyFields(),
}
_LAUNCHED = {"async_launched": "in background", "remote_launched": "remote"}


def _sent(call: ToolCall) -> CallDescription:
    given = ToolFields(call.input)
    to, summary = given.first("to", "recipient"), given.text("summary")
    key = "message" if isinstance(given.see("message"), str) else "content"
    message = given.text(key)
    said = summary or message or given.text("type")
    shown = (*nodes.prose_nodes(message), *given.rest(), *nodes.answer_nodes(call))
    outcome = "sent" if nodes.good_result(call) else ""
    return CallDescription(f"{call.name} → {to or 'everyone'}: {said}", outcome, shown)


def _workflow(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    name = given.first("name", "title", "scriptPath", "description") or detail.text("workflowName")
    script = given.text("script")
    shown: tuple[Node, ...] = (Code(script, "javascript", "script"),) if script else ()
    status, run = detail.text("status"), detail.text("runId")
    outcome = summary.join_facts(_LAUNCHED.get(status, status), f"run {run}" if run else "")
    told = (*nodes.answer_nodes(call), *nodes.link_nodes(detail.text("sessionUrl"), "session"))
    return CallDescription(f"{call.name} {name}", outcome, (*shown, *given.rest(), *told))


def _woken(call: ToolCall) -> CallDescription:
    given, detail = ToolFields(call.input), nodes.result_fields(call)
    delay, reason = given.number("delaySeconds"), given.text("reason")
    clamped = detail.number("clampedDelaySeconds")
    when = "" if delay is None else f"in {human.duration(delay)}"
    outcome = f"in {human.duration(clamped)}" if clamped is not None and clamped != delay else ""
    shown = (*nodes.prose_nodes(given.text("prompt")), *given.rest(), *nodes.answer_nodes(call))
    return CallDescription(f"{call.name} {when}: {reason}" if reason else f"{call.name} {when}", outcome, shown)


def _reported(call: ToolCall) -> CallDescription:
    given = ToolFields(call.input)
    findings = [ToolFields(entry) for entry in given.items("findings")]
    level = given.text("level")
    rows = tuple(_row(finding) for finding in findings)
    table = (Table(("where", "what", "how it fails", "verdict"), rows),) if rows else ()
    more: tuple[Node, ...] = tuple(node for finding in findings for node in finding.rest())
    shown = (*table, *more, *given.rest(), *nodes.answer_nodes(call))
    return CallDescription(f"{call.name} {human.count(len(findings), 'finding')}", level, shown)


def _row(finding: ToolFields) -> tuple[str, ...]:
    line = finding.number("line")
    place = finding.text("file") + ("" if line is None else f":{line:.0f}")
    judged = summary.join_facts(*(finding.text(key) for key in ("verdict", "outcome", "category")))
    return place, finding.text("summary"), fields.json_text(finding.take("failure_scenario") or ""), judged


_SPECIAL = {"SendMessage": _sent, "Workflow": _workflow, "ScheduleWakeup": _woken, "ReportFindings": _reported}
NAMES: tuple[str, ...] = (*_TABLE, *_SPECIAL)


def describe(call: ToolCall) -> CallDescription:
    special = _SPECIAL.get(call.name)
    return special(call) if special else nodes.describe_by_fields(call, _TABLE)
