"""The demo shows everything the product knows, in the same bytes every time."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder import demo_sessions
from tests.log_builder.story import autumn
from unspool.demo import write_demo

LINE_TYPES = {
    "user", "assistant", "system", "attachment", "progress", "summary", "custom-title", "ai-title",
    "agent-name", "last-prompt", "mode", "permission-mode", "queue-operation", "file-history-snapshot",
    "file-history-delta", "pr-link", "cost-state", "tide-oracle", "barometer", "api-request",
    "api-request-shape", "api-request-blob", "tools-used",
}  # fmt: skip
BLOCK_TYPES = {
    "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "fallback", "tool_reference",
    "almanac_reading",
}  # fmt: skip
TOOLS = {
    "Bash", "BashOutput", "KillShell", "Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "LS", "WebFetch",
    "WebSearch", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "AskUserQuestion",
    "ExitPlanMode", "Skill", "ToolSearch", "LSP", "Task", "Agent", "mcp__browser__take_screenshot",
    "mcp__weather__pressure",
}  # fmt: skip
SUBTYPES = {
    "", "local_command", "compact_boundary", "turn_duration", "stop_hook_summary", "api_error",
    "model_refusal_fallback", "away_summary",
}  # fmt: skip
ATTACHMENTS = {
    "hook_success", "hook_additional_context", "hook_blocking_error", "opened_file_in_ide",
    "selected_lines_in_ide", "task_reminder", "plan_mode", "plan_mode_exit", "diagnostics", "queued_command",
    "edited_text_file", "task_status", "compact_file_reference", "environment", "model", "session_context",
    "prompt_snapshot",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def logs(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Every line that is JSON, by the name of its log."""
    return {path.stem: list(_lines(path)) for path in sorted((root / "projects").rglob("*.jsonl"))}


@pytest.fixture(scope="module")
def lines(logs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for log in logs.values() for line in log]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for raw in path.read_bytes().splitlines():
        try:
            yield json.loads(raw)
        except json.JSONDecodeError:
            continue


def _blocks(value: Any) -> Iterator[dict[str, Any]]:
    """Content blocks, those inside results included."""
    for block in value if isinstance(value, list) else []:
        yield block
        yield from _blocks(block.get("content"))


def _content(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield from _blocks(line.get("message", {}).get("content"))


def _texts(lines: list[dict[str, Any]]) -> str:
    contents = [line.get("message", {}).get("content") for line in lines if line["type"] == "user"]
    said = [content for content in contents if isinstance(content, str)]
    return "\n".join(said + [str(block.get("text") or block.get("content")) for block in _content(lines)])


def test_the_files_are_what_the_builder_makes(root: Path) -> None:
    """After a change of the story, `python -m tests.log_builder` writes them anew."""
    made = {Path(name): data for session in demo_sessions() for name, data in session.tree().items()}
    assert {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()} == made
    assert len(made) > 12


def test_a_log_is_as_old_as_its_last_line(root: Path) -> None:
    for session in demo_sessions():
        path = root / session.path
        last = re.findall(rb'"timestamp":"([^"]+)"', path.read_bytes())[-1].decode()
        assert path.stat().st_mtime == pytest.approx(datetime.fromisoformat(last).timestamp())


def test_only_the_torn_line_is_not_json(root: Path) -> None:
    torn = [
        (path.stem, raw)
        for path in (root / "projects").rglob("*.jsonl")
        for raw in path.read_bytes().splitlines()
        if not raw.endswith(b"}")
    ]
    assert [name for name, _ in torn] == [autumn.RELEASE_ID]
    total = sum(path.read_bytes().count(b"\n") for path in (root / "projects").rglob("*.jsonl"))
    assert sum(len(list(_lines(path))) for path in (root / "projects").rglob("*.jsonl")) == total - 1


def test_every_line_type_is_shown(lines: list[dict[str, Any]]) -> None:
    assert {line["type"] for line in lines} == LINE_TYPES
    assert {line.get("subtype", "") for line in lines if line["type"] == "system"} == SUBTYPES
    assert {line["attachment"]["type"] for line in lines if line["type"] == "attachment"} == ATTACHMENTS
    kinds = {line["data"]["type"] for line in lines if line["type"] == "progress"}
    assert kinds == {"hook_progress", "agent_progress", "bash_progress"}


def test_every_block_type_and_tool_is_shown(lines: list[dict[str, Any]]) -> None:
    assert {block["type"] for block in _content(lines)} == BLOCK_TYPES
    assert {block["name"] for block in _content(lines) if block["type"] == "tool_use"} == TOOLS
    thinking = [block["thinking"] for block in _content(lines) if block["type"] == "thinking"]
    assert any(thinking)
    assert not all(thinking)


@pytest.mark.parametrize(
    "words",
    [
        "<command-name>/init</command-name>", "<local-command-stdout>", "<bash-input>", "<user-memory-input>",
        "<system-reminder>", "<ide_opened_file>", "<task-notification>", "<persisted-output>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]", "Implement the following plan:", "User has approved your plan",
        "(edited by user)", "To tell you how to proceed, the user said:\nToo big.", "STOP what you are doing",
        "This session is being continued", "Permission to use Bash", "User has answered your questions",
        "API Error: 529",
        "\x1b[32m", "[main (root-commit) 9f3c2ab]", "[fix/port-time 4be7d10]", "/pull/7",
    ],
)  # fmt: skip
def test_every_situation_is_shown(lines: list[dict[str, Any]], words: str) -> None:
    assert words in _texts(lines)


def test_parents_are_in_the_same_log(logs: dict[str, list[dict[str, Any]]]) -> None:
    for log in logs.values():
        known: set[str | None] = {None}
        for line in log:
            assert line.get("parentUuid") in known, line
            known.add(line.get("uuid"))


def test_every_call_is_answered_except_the_open_plan(lines: list[dict[str, Any]]) -> None:
    used = {block["id"]: block["name"] for block in _content(lines) if block["type"] == "tool_use"}
    answered = {block["tool_use_id"] for block in _content(lines) if block["type"] == "tool_result"}
    assert answered <= set(used)
    assert [used[call] for call in set(used) - answered] == ["ExitPlanMode"]


def test_one_prompt_was_rewound(logs: dict[str, list[dict[str, Any]]]) -> None:
    prompts: dict[str, list[str]] = {}
    for line in [line for log in logs.values() for line in log if line["type"] == "user" and not line["isSidechain"]]:
        if isinstance(line["message"]["content"], str):
            prompts.setdefault(str(line["parentUuid"]), []).append(line["message"]["content"])
    assert [both for parent, both in prompts.items() if len(both) > 1 and parent != "None"] == [
        ["Make it longer, with the physics.", "Keep it to one sentence."]
    ]


def test_the_second_session_points_at_the_plan_it_carries_out(root: Path, lines: list[dict[str, Any]]) -> None:
    (order,) = [line for line in lines if "planContent" in line]
    source = order["message"]["content"].rpartition(" ")[2]
    planned = root / Path(source).relative_to("/home/dev/.claude")
    assert order["slug"] in planned.read_text()
    assert (root / "plans" / f"{order['slug']}.md").read_text() == order["planContent"]


def test_subagents_lie_where_each_era_put_them(root: Path, lines: list[dict[str, Any]]) -> None:
    beside = list((root / "projects").glob("*/agent-*.jsonl"))
    inside = list((root / "projects").glob("*/*/subagents/agent-*.jsonl"))
    assert (len(beside), len(inside)) == (1, 3)
    assert [line for line in lines if line.get("isSidechain") and "agentId" not in line and line["version"] == "1.0.88"]
    sidecars = [json.loads(path.with_suffix(".meta.json").read_bytes()) for path in inside]
    assert sum("parentAgentId" in sidecar for sidecar in sidecars) == 1


def test_the_spilled_result_is_in_its_file(root: Path) -> None:
    (kept,) = (root / "projects").glob("*/*/tool-results/*.txt")
    assert kept.read_text().count("\n") == 364


def test_pictures_are_real_ones(lines: list[dict[str, Any]]) -> None:
    pictures = [base64.b64decode(block["source"]["data"]) for block in _content(lines) if block["type"] == "image"]
    assert len(pictures) == 4
    for picture in pictures:
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        start = picture.index(b"IDAT") + 4
        assert zlib.decompress(picture[start : start + int.from_bytes(picture[start - 8 : start - 4])])


def test_times_are_in_2026_and_do_not_run_backwards_in_a_log(logs: dict[str, list[dict[str, Any]]]) -> None:
    for log in logs.values():
        times = [line["timestamp"] for line in log if "timestamp" in line]
        assert all(time.startswith("2026-") for time in times)
        assert times == sorted(times)


def test_no_real_place_or_person_is_named(root: Path) -> None:
    folders = [path.name for path in (root / "projects").iterdir()]
    assert folders == ["-home-dev-harbour"]
