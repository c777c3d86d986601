"""Subagents started."""

from typing import Any

import pytest

from tests.tools.calls import called
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Fields, Link, Prose

ASKED = {"description": "look", "prompt": "Look.", "subagent_type": "Explore"}


def test_a_finished_agent_tells_what_it_took() -> None:
    asked, answer, detail = EXAMPLES["Task"]
    fold = tools.describe(called("Task", asked, answer, detail=detail, role="agent"))
    assert fold.kind == "agent"
    assert (fold.summary, fold.outcome) == ("Task Explore: look", "1,200 tokens · 3 tool uses · 1 m 1 s")
    assert fold.children == (
        Fields((("type", "Explore"), ("model", "m"))),
        Prose("Look."),
        Prose("Found."),
        Fields((("agent", "a1"),)),
    )


@pytest.mark.parametrize(
    ("detail", "outcome"),
    [
        ({"status": "async_launched", "agentId": "a1"}, "in background"),
        ({"status": "remote_launched", "taskId": "t1"}, "remote"),
        ({"status": "teammate_spawned", "name": "bob", "agent_id": "bob@t"}, "teammate · bob"),
        ({"content": [], "wasInterrupted": True, "totalTokens": 5}, "interrupted · 5 tokens"),
    ],
)
def test_an_agent_that_did_not_simply_finish_says_so(detail: dict[str, Any], outcome: str) -> None:
    assert tools.describe(called("Agent", ASKED, "Started.", detail=detail)).outcome == outcome


def test_the_answer_is_the_text_where_no_twin_was_kept() -> None:
    assert tools.describe(called("Agent", ASKED, "Found.")).children[-1] == Prose("Found.")


def test_a_remote_agent_links_to_its_session() -> None:
    detail = {"status": "remote_launched", "taskId": "t1", "sessionUrl": "https://a.b/s"}
    children = tools.describe(called("Agent", ASKED, "", detail=detail)).children
    assert children[-2:] == (Link("https://a.b/s", "session"), Fields((("agent", "t1"),)))
