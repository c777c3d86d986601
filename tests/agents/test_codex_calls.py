"""Calls of Codex with their answers, in all forms that its versions have written, and what they mean."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.codex_rollouts import TURN, answer, blocks, called, done, output, read, told
from tests.agents.stories.codex import item, record
from unspool.model import Plan, Questionnaire, Text, Todos, ToolCall


@pytest.mark.parametrize(
    ("held", "printed", "state"),
    [
        (json.dumps({"output": "quay\n", "metadata": {"exit_code": 1, "duration_seconds": 0.2}}), "quay\n", "error"),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nquay", "quay", "ok"),
        (
            "Command: ls\nChunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nquay",
            "quay",
            "error",
        ),
        ([{"type": "input_text", "text": "Script failed\nWall time 0.2 seconds\n"}], None, "error"),
        ([{"type": "input_text", "text": "Script completed\n"}, {"type": "input_text", "text": "quay"}], None, "ok"),
        ("Output:\nProcess exited with code 3", None, "ok"),
        ('{"output": 7', None, "ok"),
    ],
)
def test_the_forms_of_an_answer(held: Any, printed: str | None, state: str, tmp_path: Path) -> None:
    (call,) = blocks(read(tmp_path, called("exec_command"), output(held)), ToolCall)
    assert call.state == state
    assert (call.result.detail or {}).get("stdout") == printed


ENDED = {"exit_code": 2, "aggregated_output": "all of it", "stderr": "", "status": "failed"}


@pytest.mark.parametrize(
    "end", [told("exec_command_end", call_id="c1", **ENDED), done("CommandExecution", id="c1", **ENDED)]
)
def test_events_tell_how_commands_ended(end: dict[str, Any], tmp_path: Path) -> None:
    (before,) = blocks(read(tmp_path, called("exec_command"), end, output("Script completed")), ToolCall)
    assert (before.state, before.result.detail["exit_code"], before.result.detail["stdout"]) == (
        "error",
        2,
        "all of it",
    )
    running = output("Process running with session ID 7\nOutput:\nall")
    (after,) = blocks(read(tmp_path, called("exec_command"), running, end), ToolCall)
    assert (after.state, after.result.text) == ("error", "all of it")


def test_refused_commands_did_not_fail(tmp_path: Path) -> None:
    end = done("CommandExecution", id="c1", status="declined")
    (call,) = blocks(read(tmp_path, called("exec_command"), end, output("exec command rejected by user")), ToolCall)
    assert call.end == "refused"


@pytest.mark.parametrize("kind", ["patch_apply_end", "FileChange"])
def test_patches_have_what_they_changed(kind: str, tmp_path: Path) -> None:
    changes = {"/home/ada/quay.py": {"type": "add", "content": "stone\n"}}
    said = {"changes": changes, "success": True, "status": "completed"}
    end = told(kind, call_id="c1", **said) if kind.islower() else done(kind, id="c1", **said)
    patch = item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch\n*** End Patch")
    (call,) = blocks(read(tmp_path, patch, end, item("custom_tool_call_output", call_id="c1", output="Done")), ToolCall)
    assert (call.role, call.result.detail["changes"]) == ("edit", changes)


def test_servers_answer_under_their_names(tmp_path: Path) -> None:
    call = item("function_call", name="_fetch", namespace="mcp__tides", arguments="{}", call_id="c1")
    end = told("mcp_tool_call_end", call_id="c1", invocation={"server": "tides"}, result={"Err": "no tide"})
    (found,) = blocks(read(tmp_path, call, end, output("no tide")), ToolCall)
    assert (found.name, found.state, found.result.detail["result"]) == ("mcp__tides_fetch", "error", {"Err": "no tide"})


def test_calls_that_the_provider_answers_are_answered(tmp_path: Path) -> None:
    search = item("web_search_call", status="completed", action={"type": "search", "query": "tides"})
    drawn = item("image_generation_call", status="completed", revised_prompt="a quay", result="aGk=")
    end = told("web_search_end", call_id="ws_1", query="tides", results=[{"url": "https://tides.example"}])
    found = blocks(read(tmp_path, end, search, drawn), ToolCall)
    assert [(call.name, call.role, call.state, call.server) for call in found] == [
        ("web_search", "web", "ok", True), ("image_generation", "", "ok", True)]  # fmt: skip
    assert found[0].input == {"query": "tides"}
    assert found[0].result.detail["results"][0]["url"] == "https://tides.example"
    assert found[1].result.images[0].data == "aGk="


def test_other_calls_have_their_roles_and_meanings(tmp_path: Path) -> None:
    asked = json.dumps(
        {"questions": [{"id": "q1", "header": "Sea", "question": "Which?", "options": [{"label": "North"}]}]}
    )
    said = json.dumps({"answers": {"q1": {"answers": ["North"]}}})
    shell = item("local_shell_call", call_id="c3", status="completed", action={"type": "exec", "command": ["ls", "-l"]})
    found = read(
        tmp_path,
        called("update_plan", json.dumps({"plan": [{"step": "Mend", "status": "in_progress"}]})), output("Done"),
        called("request_user_input", asked, "c2"), output(said, "c2"),
        shell, output("quay", "c3"),
        item("custom_tool_call", name="exec", input="await tools.exec_command({cmd:\"ls\"})", call_id="c4"),
        called("view_image", '{"path":"/q.png"}', "c5"),
        output([{"type": "input_image", "image_url": "data:image/png;base64,aGk="}], "c5"),
        item("tool_search_call", call_id="c6", arguments={"query": "tides"}),
        item("tool_search_output", call_id="c6", tools=[{"name": "tides", "tools": [{"name": "low"}]}]),
        called("x", "{no json", "c7"),
    )  # fmt: skip
    calls = {call.call_id: call for call in blocks(found, ToolCall)}
    assert [call.role for call in calls.values()] == ["todos", "question", "shell", "shell", "read", "search", ""]
    todos, questions = calls["c1"].meaning, calls["c2"].meaning
    assert isinstance(todos, Todos)
    assert isinstance(questions, Questionnaire)
    assert [(one.text, one.status) for one in todos.items] == [("Mend", "in_progress")]
    assert [one.answer for one in questions.questions] == ["North"]
    assert calls["c5"].result.images[0].data == "aGk="
    assert (calls["c6"].result.text, calls["c7"].input) == ("tides\nlow", "{no json")


def test_a_plan_is_told_once_and_accepted_by_going_on_without_the_plan_mode(tmp_path: Path) -> None:
    def mode(name: str) -> dict[str, Any]:
        return record("turn_context", {"turn_id": TURN, "model": "gpt-5.5", "collaboration_mode": {"mode": name}})

    plan = "# Mend\n1. Stones"
    asked = [mode("plan"), told("user_message", message="Plan it")]
    lines = [*asked, done("Plan", id=f"{TURN}-plan", text=plan), answer(f"<proposed_plan>\n{plan}\n</proposed_plan>")]
    open_plan = read(tmp_path, *lines)
    (call,) = blocks(open_plan, ToolCall)
    assert isinstance(call.meaning, Plan)
    assert (call.meaning.title, call.meaning.status, open_plan.kind) == ("Mend", "pending", "planning")
    assert blocks(open_plan, Text) == []
    again = [
        told("task_started", turn_id=f"{TURN[:-1]}5"),
        mode("default"),
        told("user_message", message="Implement the plan."),
    ]
    (call,) = blocks(read(tmp_path, *lines, *again), ToolCall)
    assert call.meaning.status == "approved"
