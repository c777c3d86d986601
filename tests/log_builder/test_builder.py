"""The builder writes lines as each version of Claude Code does."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.log_builder.tool_calls import structured_patch


def lines(log: LogBuilder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.to_bytes().splitlines()]


def two_blocks(version: str) -> list[dict[str, Any]]:
    """A message of two blocks, as that version writes it."""
    log = LogBuilder(version=version)
    log.prompt("hi").assistant(log.think("hm"), log.text("hello"), usage=DemoTokens(output=500))
    return lines(log)[1:]


def test_the_same_calls_give_the_same_bytes() -> None:
    assert two_blocks("2.1.230") == two_blocks("2.1.230")
    assert LogBuilder(seed="a").prompt("x").to_bytes() != LogBuilder(seed="b").prompt("x").to_bytes()


@pytest.mark.parametrize(
    ("version", "stops", "outputs"),
    [
        ("1.0.88", [None, None], [8, 500]),
        ("2.0.76", [None, None], [8, 500]),
        ("2.1.20", [None, None], [3, 3]),
        ("2.1.33", [None, None], [8, 500]),
        ("2.1.90", [None, "end_turn"], [8, 500]),
        ("2.1.120", ["end_turn", "end_turn"], [500, 500]),
    ],
)
def test_stop_reason_and_output_are_spread_as_the_version_does(
    version: str, stops: list[Any], outputs: list[int]
) -> None:
    written = two_blocks(version)
    assert [line["message"]["stop_reason"] for line in written] == stops
    assert [line["message"]["usage"]["output_tokens"] for line in written] == outputs


def test_lines_of_one_message_share_its_ids_and_follow_each_other() -> None:
    first, second = two_blocks("2.1.300")
    assert first["message"]["id"] == second["message"]["id"]
    assert first["requestId"] == second["requestId"]
    assert second["parentUuid"] == first["uuid"]
    assert [len(line["message"]["content"]) for line in (first, second)] == [1, 1]
    assert [first["apiBlockIndex"], second["apiBlockIndex"]] == [0, 1]


def test_a_result_may_arrive_between_two_blocks() -> None:
    log = LogBuilder()
    one, two = log.use("Read", file_path="/a"), log.use("Read", file_path="/b")
    log.prompt("hi").assistant(one, lambda: log.result(one, "A"), two).result(two, "B")
    _, first, early, second, late = lines(log)
    assert early["parentUuid"] == second["parentUuid"] == first["uuid"]
    assert late["parentUuid"] == late["sourceToolAssistantUUID"] == second["uuid"]


def test_before_2_1_a_result_hangs_below_the_last_line() -> None:
    log = LogBuilder(version="1.0.88")
    one, two = log.use("Read", file_path="/a"), log.use("Read", file_path="/b")
    log.prompt("hi").assistant(one, two).result(one, "A").result(two, "B")
    written = lines(log)
    assert [line["parentUuid"] for line in written[1:]] == [line["uuid"] for line in written[:-1]]


def test_a_rewound_prompt_makes_a_branch() -> None:
    log = LogBuilder().prompt("first")
    at = log.last
    log.prompt("second").rewind(at).prompt("third")
    assert [line["parentUuid"] for line in lines(log)] == [None, at, at]


def test_extra_fields_override_the_envelope() -> None:
    (line,) = lines(LogBuilder().prompt("x", uuid="u", parentUuid="gone", teamName="crew"))
    assert (line["uuid"], line["parentUuid"], line["teamName"]) == ("u", "gone", "crew")


def test_raw_bytes_and_lone_surrogates_go_through_as_they_are() -> None:
    log = LogBuilder().prompt("\ud800").raw(b"\xff{torn")
    assert b'"\\ud800"' in log.to_bytes()
    assert log.to_bytes().endswith(b"\n\xff{torn")


@pytest.mark.parametrize(
    ("version", "place"),
    [
        ("2.0.76", "agent-"),
        ("2.1.2", "{sid}/subagents/agent-"),
        ("2.1.230", "{sid}/subagents/agent-"),
    ],
)
def test_a_subagent_is_written_where_the_version_puts_it(tmp_path: Path, version: str, place: str) -> None:
    log = LogBuilder(version=version)
    use = log.agent_use("Explore", "look", "Look around")
    log.prompt("go").assistant(use).subagent(use, "Explore", "look", lambda agent: agent.assistant(agent.text("Seen.")))
    folder = log.write(tmp_path).parent
    (written,) = folder.rglob("agent-*.jsonl")
    assert str(written.relative_to(folder)).startswith(place.format(sid=log.session_id))
    first = json.loads(written.read_bytes().splitlines()[0])
    assert (first["isSidechain"], first["sessionId"]) == (True, log.session_id)
    assert f"agent-{first['agentId']}" == written.stem
    assert lines(log)[-1]["toolUseResult"]["agentId"] == first["agentId"]
    assert written.with_suffix(".meta.json").exists() == (version == "2.1.230")


def test_in_1_x_a_subagent_is_inline_and_leaves_the_main_chain_alone() -> None:
    log = LogBuilder(version="1.0.88")
    use = log.agent_use("Explore", "look", "Look around")
    log.prompt("go").assistant(use).subagent(use, "Explore", "look", lambda agent: agent.assistant(agent.text("Seen.")))
    _, call, order, seen, result = lines(log)
    assert [line["isSidechain"] for line in (order, seen, result)] == [True, True, False]
    assert order["parentUuid"] is None
    assert result["parentUuid"] == call["uuid"]


def test_a_background_agent_reports_later() -> None:
    log = LogBuilder()
    use = log.agent_use("Explore", "look", "Look around")
    log.prompt("go").assistant(use)
    log.subagent(use, "Explore", "look", lambda agent: agent.assistant(agent.text("Seen.")), background=True)
    log.notify(use, "done", "Seen.")
    *_, launched, notice = lines(log)
    assert launched["toolUseResult"]["status"] == "async_launched"
    assert f"<tool-use-id>{use['id']}</tool-use-id>" in notice["message"]["content"]
    assert notice["origin"] == {"kind": "task-notification"}


@pytest.mark.parametrize(("version", "count"), [("2.1.90", 1), ("2.1.230", 0)])
def test_a_queued_prompt_is_a_user_line_or_an_attachment(version: str, count: int) -> None:
    written = lines(LogBuilder(version=version).queued("faster"))
    assert [line["operation"] for line in written[:2]] == ["enqueue", "dequeue" if count else "remove"]
    assert (written[2]["type"] == "user") == bool(count)


@pytest.mark.parametrize(("version", "same"), [("2.1.7", True), ("2.1.33", False)])
def test_a_cleared_plan_goes_on_in_the_same_file_or_another(version: str, same: bool) -> None:
    log = LogBuilder(version=version).prompt("plan it").plan("# Plan", "cleared")
    assert ("Implement the following plan:" in log.to_bytes().decode()) == same
    assert lines(log)[3]["message"]["content"][0]["is_error"] is True


def test_an_implementing_session_points_at_its_planning_session() -> None:
    planning = LogBuilder(version="2.1.33", session_id="planning")
    (line,) = lines(LogBuilder(version="2.1.33").implement("# Plan", planning))
    assert line["planContent"] == "# Plan"
    assert line["message"]["content"].endswith("/home/dev/.claude/projects/-home-dev-harbour/planning.jsonl")


def test_compaction_starts_a_new_chain_and_may_keep_a_tail() -> None:
    log = LogBuilder().prompt("long ago")
    before = str(log.last)
    _, boundary, summary = lines(log.compact("auto", "So far so good.", keep=[before]))
    assert (boundary["parentUuid"], boundary["logicalParentUuid"]) == (None, before)
    assert boundary["compactMetadata"]["preservedSegment"]["anchorUuid"] == summary["uuid"]
    assert summary["isCompactSummary"]


def test_a_spilled_result_is_written_beside_the_log(tmp_path: Path) -> None:
    log = LogBuilder()
    use = log.use("Bash", command="cat everything")
    path = log.prompt("go").assistant(use).spilled(use, "x" * 5000).write(tmp_path)
    kept = path.with_suffix("") / "tool-results" / f"{use['id']}.txt"
    assert kept.read_text() == "x" * 5000
    assert lines(log)[-1]["toolUseResult"]["persistedOutputSize"] == 5000


def test_a_copy_keeps_the_uuids_and_changes_the_session() -> None:
    log = LogBuilder().prompt("hi")
    plain, fork = log.copied("other"), log.copied("fork", fork=True)
    (line,), (forked,) = lines(plain), lines(fork)
    assert (line["uuid"], line["sessionId"], line["session_id"]) == (log.last, "other", "other")
    assert forked["forkedFrom"] == {"sessionId": log.session_id, "messageUuid": log.last}
    assert lines(plain.prompt("more"))[1]["parentUuid"] == log.last
    assert len(log.lines) == 1


def test_a_patch_turns_the_old_text_into_the_new() -> None:
    before = "\n".join(map(str, range(40)))
    after = before.replace("\n20\n", "\ntwenty\nand a bit\n")
    (hunk,) = structured_patch(before, after)
    assert (hunk["oldStart"], hunk["oldLines"], hunk["newStart"], hunk["newLines"]) == (18, 7, 18, 8)
    assert hunk["lines"] == [" 17", " 18", " 19", "-20", "+twenty", "+and a bit", " 21", " 22", " 23"]
