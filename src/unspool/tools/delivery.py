"""What the agent hands over: pages, files, findings, notifications, proposals, structured answers."""

from unspool import human
from unspool.doc import Node, Table
from unspool.model import ToolCall
from unspool.tools import fields, summary
from unspool.tools import nodes as plain
from unspool.tools import nodes as reply
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription, KeyFields

_FINDINGS = "ReportFindings"
_TABLE = {
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
NAMES: tuple[str, ...] = (_FINDINGS, *_TABLE)


def describe(call: ToolCall) -> CallDescription:
    return _reported(call) if call.name == _FINDINGS else plain.describe_by_fields(call, _TABLE)


def _reported(call: ToolCall) -> CallDescription:
    given = ToolFields(call.input)
    findings = [ToolFields(entry) for entry in given.items("findings")]
    level = given.text("level")
    rows = tuple(_row(finding) for finding in findings)
    table = (Table(("where", "what", "how it fails", "verdict"), rows),) if rows else ()
    more: tuple[Node, ...] = tuple(node for finding in findings for node in finding.rest())
    nodes = (*table, *more, *given.rest(), *reply.printed_nodes(reply.result_text(call)))
    return CallDescription(f"{call.name} {human.count(len(findings), 'finding')}", level, nodes)


def _row(finding: ToolFields) -> tuple[str, ...]:
    line = finding.number("line")
    place = finding.text("file") + ("" if line is None else f":{line:.0f}")
    judged = summary.join_facts((finding.text("verdict"), finding.text("outcome"), finding.text("category")))
    return place, finding.text("summary"), fields.json_text(finding.take("failure_scenario") or ""), judged
