"""Lines of type system, attachment and progress: typed notices, and the prompts that hide in them."""

from typing import Any

import pytest

from tests.reading.reading import event, jsonl, transcript
from unspool.model import Notice

CALLED = "<command-name>/model</command-name><command-message>model</command-message><command-args>opus</command-args>"


def line(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": "u",
        "parentUuid": "p",
        "sessionId": "s",
        "timestamp": "2026-03-02T09:00:00Z",
        **fields,
    }


def system(subtype: str, **fields: Any) -> dict[str, Any]:
    return line("system", subtype=subtype, **fields)


def attached(kind: str, **fields: Any) -> dict[str, Any]:
    return line("attachment", attachment={"type": kind, **fields})


def notice(data: dict[str, Any]) -> Notice:
    (block,) = event(data).blocks
    assert isinstance(block, Notice)
    return block


SYSTEM = [
    ("compact_boundary", "compaction"),
    ("microcompact_boundary", "micro-compaction"),
    ("turn_duration", "duration"),
    ("stop_hook_summary", "hook"),
    ("hook_response", "hook"),
    ("api_error", "retry"),
    ("away_summary", "recap"),
    ("model_refusal_fallback", "refusal"),
    ("model_fallback", "model-switch"),
    ("informational", "info"),
    ("bridge_status", "bridge_status"),
    ("never_met_before", "never_met_before"),
]


@pytest.mark.parametrize(("subtype", "kind"), SYSTEM)
def test_a_system_line_is_a_notice_of_its_kind(subtype: str, kind: str) -> None:
    found = notice(system(subtype, content="Words", level="info", extra={"n": 1}))
    assert (found.kind, found.text) == (kind, "Words")
    assert found.facts == {"level": "info", "extra": {"n": 1}}


def test_chatter_of_old_versions_is_information() -> None:
    assert notice(line("system", content="Running PostToolUse:Bash...", level="info")).kind == "info"


def test_a_boundary_names_the_line_it_continues() -> None:
    found = event(
        system("compact_boundary", content="Conversation compacted", parentUuid=None, logicalParentUuid="before")
    )
    assert (found.boundary, found.logical, found.parent) == (True, "before", None)


def test_a_refusal_names_the_lines_it_withdrew() -> None:
    assert event(system("model_refusal_fallback", retractedMessageUuids=["a", "b"])).retracts == ("a", "b")


def test_a_command_in_a_system_line_is_a_prompt() -> None:
    found = event(system("local_command", content=CALLED))
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.command, found.prompt.arguments) == ("command", "/model", "opus")


def test_the_output_of_a_command_in_a_system_line_is_a_notice() -> None:
    found = event(system("local_command", content="<local-command-stdout>Set to opus</local-command-stdout>"))
    assert found.prompt is None
    assert [(block.kind, block.text) for block in found.blocks if isinstance(block, Notice)] == [
        ("command-output", "Set to opus")
    ]


ATTACHMENTS = [
    ("hook_success", "hook"),
    ("hook_blocking_error", "hook"),
    ("async_hook_response", "hook"),
    ("nested_memory", "memory"),
    ("plan_mode", "plan-mode"),
    ("todo_reminder", "reminder"),
    ("diagnostics", "ide"),
    ("selected_lines_in_ide", "ide"),
    ("task_status", "task-notification"),
    ("file", "attachment"),
    ("from_the_future", "attachment"),
]


@pytest.mark.parametrize(("kind", "shown"), ATTACHMENTS)
def test_an_attachment_is_a_notice_that_keeps_what_it_holds(kind: str, shown: str) -> None:
    found = notice(attached(kind, filename="/a", content={"type": "text"}, n=[1]))
    assert found.kind == shown
    assert found.facts == {"type": kind, "filename": "/a", "content": {"type": "text"}, "n": [1]}


def test_the_output_of_a_hook_is_its_text() -> None:
    found = notice(attached("hook_success", hookName="Stop", content="all green", exitCode=0))
    assert (found.text, found.facts["exitCode"]) == ("all green", 0)


def test_a_prompt_typed_while_the_agent_worked_is_a_prompt() -> None:
    found = event(attached("queued_command", prompt="also fix b", commandMode="prompt", origin={"kind": "human"}))
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.text) == ("queued", "also fix b")


def test_a_queued_prompt_of_blocks_keeps_its_picture() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
    found = event(attached("queued_command", prompt=[{"type": "text", "text": "see"}, image], commandMode="prompt"))
    assert found.prompt is not None
    assert (found.prompt.text, len(found.prompt.images)) == ("see", 1)


QUEUED = [
    {
        "prompt": "<task-notification><status>completed</status><summary>Done</summary></task-notification>",
        "commandMode": "task-notification",
    },
    {"prompt": "words", "commandMode": "prompt", "isMeta": True},
    {"prompt": "words", "commandMode": "prompt", "origin": {"kind": "peer"}},
    {"prompt": "words", "commandMode": "something-new"},
]


@pytest.mark.parametrize("fields", QUEUED)
def test_what_the_agent_queued_itself_is_no_prompt(fields: dict[str, Any]) -> None:
    found = event(attached("queued_command", **fields))
    assert found.prompt is None
    assert found.blocks


def test_a_queued_bash_line_is_one() -> None:
    found = event(attached("queued_command", prompt="ls", commandMode="bash"))
    assert found.prompt is not None
    assert found.prompt.kind == "bash"


def test_a_queued_command_keeps_its_name_and_arguments() -> None:
    found = event(attached("queued_command", prompt=CALLED, commandMode="prompt"))
    assert found.prompt is not None
    assert (found.prompt.kind, found.prompt.command, found.prompt.arguments) == ("command", "/model", "opus")


def test_progress_is_a_notice_that_keeps_its_data() -> None:
    found = notice(line("progress", data={"type": "bash_progress", "output": "x"}, toolUseID="t", parentToolUseID="t"))
    assert (found.kind, found.text, found.facts["output"]) == ("progress", "bash_progress", "x")


def test_progress_of_a_subagent_tells_which_call_started_it() -> None:
    told = line("progress", data={"type": "agent_progress", "agentId": "a1"}, parentToolUseID="toolu_1")
    assert transcript(jsonl(told)).facts.agents == {"a1": "toolu_1"}


def test_where_a_line_was_copied_from_is_no_fact_of_a_notice() -> None:
    assert "forkedFrom" not in notice(system("turn_duration", durationMs=5, forkedFrom={"sessionId": "s"})).facts
