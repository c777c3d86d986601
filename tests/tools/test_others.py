"""Small families: skills, servers, teams, schedules, worktrees, deliveries, and tools nobody knows."""

from typing import Any

import pytest

from tests.tools.calls import called, text_of
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Code, Fields, Link, Prose, Raw, Span, Table, Terminal

SUMMARIES = {
    "Skill": ("Skill pdf", "forked"),
    "ToolSearch": ("ToolSearch select:A", "2 tools"),
    "LSP": ("LSP hover a.py:3:5", "1 result"),
    "SendMessage": ("SendMessage → bob: greets", "sent"),
    "ScheduleWakeup": ("ScheduleWakeup in 1 m 30 s: CI", "in 1 m"),
    "CronCreate": ("CronCreate 0 9 * * *", "daily at 9"),
    "EnterWorktree": ("EnterWorktree w", "b"),
    "Workflow": ("Workflow w", "in background · run r1"),
    "ListMcpResources": ("ListMcpResources s", "1 resource"),
    "ReadMcpResource": ("ReadMcpResource s > u://1", "1 part"),
    "Artifact": ("Artifact /p/a.html", "Page"),
    "ReportFindings": ("ReportFindings 1 finding", "high"),
    "mcp__server__tool": ("server > tool q", "2 items"),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_call_is_summed_up_in_one_line(name: str) -> None:
    asked, answer, detail = EXAMPLES[name]
    fold = tools.describe(called(name, asked, answer, detail=detail))
    assert (fold.summary, fold.outcome) == SUMMARIES[name]


@pytest.mark.parametrize(
    ("name", "asked", "summary"),
    [
        ("SlashCommand", {"command": "/review 12"}, "SlashCommand /review 12"),
        ("TeamCreate", {"team_name": "t", "description": "d"}, "TeamCreate t"),
        ("CronDelete", {"id": "c1"}, "CronDelete c1"),
        ("CronList", {}, "CronList"),
        ("RemoteTrigger", {"action": "run", "trigger_id": "t"}, "RemoteTrigger run"),
        ("ExitWorktree", {"action": "keep"}, "ExitWorktree keep"),
        ("PushNotification", {"message": "Done", "status": "proactive"}, "PushNotification Done"),
        ("StructuredOutput", {"answer": 42}, "StructuredOutput"),
        ("SendMessage", {"type": "broadcast", "content": "hi"}, "SendMessage → everyone: hi"),
        ("SendMessage", {"to": "bob", "message": {"type": "shutdown"}}, "SendMessage → bob:"),
        ("Workflow", {"scriptPath": "/w.js"}, "Workflow /w.js"),
        ("EnterPlanMode", {}, "EnterPlanMode"),
        ("mcp__plugin_x_y__do-it", {"path": "/p"}, "plugin_x_y > do-it /p"),
        ("mcp__odd", {}, "odd"),
        ("Brand_New", {"thing": 1, "query": "q"}, "Brand_New q"),
    ],
)
def test_a_call_without_an_answer_is_summed_up(name: str, asked: dict[str, Any], summary: str) -> None:
    fold = tools.describe(called(name, asked, None))
    assert (fold.summary, fold.outcome, fold.tone) == (summary, "no answer", "quiet")


def test_the_arguments_of_a_skill_are_shown() -> None:
    asked, answer, detail = EXAMPLES["Skill"]
    children = tools.describe(called("Skill", asked, answer, detail=detail)).children
    assert children == (Prose("x"), Terminal((Span("loaded"),)))


def test_references_to_tools_are_listed_once() -> None:
    parts = ({"type": "tool_reference", "tool_name": "A"}, {"type": "tool_reference", "tool_name": "C"})
    fold = tools.describe(called("ToolSearch", {"query": "q"}, "", detail={"matches": ["A"]}, parts=parts))
    assert (fold.outcome, fold.children) == ("2 tools", (Code("A\nC"),))


def test_resources_of_a_server_are_a_table_of_what_they_have() -> None:
    asked, answer, detail = EXAMPLES["ListMcpResources"]
    children = tools.describe(called("ListMcpResources", asked, answer, detail=detail)).children
    assert children == (Table(("uri", "name", "server"), (("u://1", "one", "s"),)),)


def test_findings_are_a_table_and_what_it_has_no_column_for_follows() -> None:
    finding = {"file": "a.py", "line": 3, "summary": "s", "failure_scenario": "f", "verdict": "CONFIRMED", "extra": "e"}
    fold = tools.describe(called("ReportFindings", {"findings": [finding]}, None))
    assert fold.children == (
        Table(("where", "what", "how it fails", "verdict"), (("a.py:3", "s", "f", "CONFIRMED"),)),
        Fields((("extra", "e"),)),
    )


def test_a_published_page_is_a_link() -> None:
    asked, answer, detail = EXAMPLES["Artifact"]
    children = tools.describe(called("Artifact", asked, answer, detail=detail)).children
    assert children[-1] == Link("https://a.b/1", "https://a.b/1")


def test_a_long_subject_is_shown_whole_below_the_summary() -> None:
    message = "word " * 100
    fold = tools.describe(called("PushNotification", {"message": message}, None))
    assert fold.summary.endswith("…")
    assert fold.children == (Fields((("message", message),)),)


def test_json_answered_by_a_server_is_laid_out() -> None:
    fold = tools.describe(called("mcp__s__t", {}, '{"a":[1]}'))
    assert fold.children == (Code('{\n  "a": [\n    1\n  ]\n}', "json"),)


def test_an_unknown_tool_shows_its_fields_and_its_output() -> None:
    fold = tools.describe(called("Brand_New", {"thing": {"a": 1}}, "two\nlines"))
    assert fold.outcome == "2 lines"
    assert fold.children == (Fields((("thing", '{\n  "a": 1\n}'),)), Terminal((Span("two\nlines"),)))


def test_an_unknown_tool_without_text_shows_the_twin_of_its_result() -> None:
    assert tools.describe(called("Brand_New", {}, "", detail={"a": 1})).children == (Raw('{\n  "a": 1\n}', "result"),)


@pytest.mark.parametrize("asked", ["just text", ["a"], 5, True])
def test_input_that_is_no_object_is_shown_as_data(asked: Any) -> None:
    assert isinstance(tools.describe(called("Bash", asked, "")).children[0], Raw)


def test_a_call_of_another_shape_falls_back_to_its_fields() -> None:
    fold = tools.describe(called("Bash", {"command": ["ls", "-l"]}, "out"))
    assert fold.summary == "Bash"
    assert '"-l"' in text_of(fold)
    assert "out" in text_of(fold)
