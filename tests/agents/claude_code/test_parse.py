"""Lines beside the conversation are kept whole, and what they say of the session is known."""

from typing import Any

import pytest

from tests.reading.reading import jsonl, session, transcript
from unspool.agents.claude_code.known import BESIDE
from unspool.model import Facts, Unknown


def learned(*lines: dict[str, Any]) -> Facts:
    return transcript(jsonl(*lines)).facts


@pytest.mark.parametrize("kind", sorted(BESIDE))
def test_a_side_line_of_every_known_type_is_kept_whole(kind: str) -> None:
    line = {"type": kind, "sessionId": "s", "payload": {"n": 1}}
    read = session(jsonl(line))
    assert [(side.type, side.data) for side in read.side] == [(kind, line)]
    assert read.lines.side == 1


def test_a_line_of_a_type_nobody_has_met_is_kept_whole_in_the_conversation() -> None:
    line = {"type": "from-the-future", "payload": [1]}
    read = session(jsonl(line))
    (block,) = [block for turn in read.turns for block in turn.blocks]
    assert isinstance(block, Unknown)
    assert (block.what, block.data) == ("from-the-future", line)


@pytest.mark.parametrize("line", [{}, {"type": 7}, {"type": None, "x": 1}, {"type": ["user"]}])
def test_a_line_without_a_usable_type_is_kept_whole(line: dict[str, Any]) -> None:
    read = session(jsonl(line))
    (block,) = [block for turn in read.turns for block in turn.blocks]
    assert isinstance(block, Unknown)
    assert block.data == line


def test_the_last_title_of_each_rank_wins() -> None:
    facts = learned(
        {"type": "custom-title", "customTitle": "one"},
        {"type": "ai-title", "aiTitle": "a"},
        {"type": "custom-title", "customTitle": "two"},
        {"type": "ai-title", "aiTitle": "b"},
    )
    assert (facts.custom_title, facts.generated_title) == ("two", "b")


def test_summaries_are_known_by_the_line_they_describe() -> None:
    facts = learned(
        {"type": "summary", "summary": "Fixed it", "leafUuid": "l1"},
        {"type": "summary", "summary": " ", "leafUuid": "l2"},
    )
    assert facts.summaries == {"l1": "Fixed it"}


def test_pull_requests_are_known() -> None:
    facts = learned(
        {
            "type": "pr-link",
            "prNumber": 7,
            "prUrl": "https://h/o/r/pull/7",
            "prRepository": "o/r",
            "timestamp": "2026-03-02T09:00:00Z",
        }
    )
    assert (facts.links[0]["number"], facts.links[0]["url"], facts.links[0]["repository"]) == (
        7,
        "https://h/o/r/pull/7",
        "o/r",
    )


def test_what_the_agent_says_it_cost_is_known_and_the_last_word_wins() -> None:
    assert (
        learned({"type": "cost-state", "totalCostUSD": 1.5}, {"type": "cost-state", "totalCostUSD": 2.25}).reported_cost
        == "2.25"
    )


def test_the_queue_is_known_with_text_from_blocks_too() -> None:
    facts = learned(
        {"type": "queue-operation", "operation": "enqueue", "content": "a"},
        {"type": "queue-operation", "operation": "enqueue", "content": [{"type": "text", "text": "b"}]},
        {"type": "queue-operation", "operation": "popAll"},
    )
    assert [(operation, words) for operation, words, _, _ in facts.queue] == [
        ("enqueue", "a"),
        ("enqueue", "b"),
        ("popAll", ""),
    ]


def test_where_a_session_moved_is_known() -> None:
    facts = learned(
        {"type": "continued-in", "continuedInSessionId": "next"},
        {"type": "relocated", "relocatedCwd": "/new"},
        {"type": "worktree-state", "worktreeSession": {"originalCwd": "/main", "worktreePath": "/w"}},
    )
    assert (facts.moved_to, facts.relocated, facts.worktree_of) == ("next", "/new", "/main")


def test_the_envelope_tells_versions_folders_branch_slug_and_span() -> None:
    common = {"type": "user", "sessionId": "s", "message": {"content": "x"}}
    facts = learned(
        {
            **common,
            "uuid": "1",
            "parentUuid": None,
            "cwd": "/p",
            "gitBranch": "main",
            "version": "2.1.1",
            "slug": "a-b",
            "timestamp": "2026-03-02T09:00:05Z",
        },
        {
            **common,
            "uuid": "2",
            "parentUuid": "1",
            "cwd": "/q",
            "gitBranch": "dev",
            "version": "2.1.2",
            "timestamp": "2026-03-02T09:00:01Z",
            "sessionKind": "bg",
        },
    )
    assert (facts.cwd, list(facts.cwds), facts.branch, facts.slug) == ("/p", ["/p", "/q"], "main", "a-b")
    assert list(facts.versions) == ["2.1.1", "2.1.2"]
    assert (facts.background, facts.headless) == (True, False)
    assert facts.started is not None
    assert facts.ended is not None
    assert (facts.ended - facts.started).total_seconds() == 4
