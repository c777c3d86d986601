"""What the agent hands over: pages, files, findings, notifications, proposals, structured answers."""

from unspool.doc import Node, Table
from unspool.model import ToolCall
from unspool.tools import data, plain, reply, words
from unspool.tools.given import Given
from unspool.tools.plain import About
from unspool.tools.shown import Shown

_FINDINGS = "ReportFindings"
_TABLE = {
    "Artifact": About(("file_path", "url"), ("description",), ("title",), ("url",)),
    "SendUserFile": About(("file_path", "path", "files", "caption"), ("caption", "message")),
    "PushNotification": About(("message",), (), ("disabledReason",)),
    "ReadNotifications": About(),
    "SendFeedback": About(("summary", "title", "message", "feedback"), ("message", "feedback")),
    "ProposeGoal": About(("goal", "title", "condition")),
    "ProposeSkills": About(("title", "skills")),
    "Projects": About(("method",), (), ("notice",)),
    "ClaudeDesign": About(("method", "action", "title", "prompt")),
    "StructuredOutput": About(),
}
NAMES: tuple[str, ...] = (_FINDINGS, *_TABLE)


def describe(call: ToolCall) -> Shown:
    return _reported(call) if call.name == _FINDINGS else plain.describe(call, _TABLE)


def _reported(call: ToolCall) -> Shown:
    given = Given(call.input)
    findings = [Given(entry) for entry in given.items("findings")]
    level = given.text("level")
    rows = tuple(_row(finding) for finding in findings)
    table = (Table(("where", "what", "how it fails", "verdict"), rows),) if rows else ()
    more: tuple[Node, ...] = tuple(node for finding in findings for node in finding.rest())
    nodes = (*table, *more, *given.rest(), *reply.printed(reply.text(call)))
    return Shown(f"{call.name} {words.count(len(findings), 'finding')}", level, nodes)


def _row(finding: Given) -> tuple[str, ...]:
    line = finding.number("line")
    place = finding.text("file") + ("" if line is None else f":{line:.0f}")
    judged = words.joined((finding.text("verdict"), finding.text("outcome"), finding.text("category")))
    return place, finding.text("summary"), data.text(finding.take("failure_scenario") or ""), judged
