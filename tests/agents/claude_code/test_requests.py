"""Requests that a log keeps are put together again, every message proven by its hash."""

from typing import Any

import pytest

from tests.log_builder.answers import request_digest
from tests.log_builder.builder import LogBuilder
from tests.reading.reading import FORMAT, entries, jsonl
from unspool.agents.claude_code.requests import ClaudeRequests
from unspool.model import Prompt, Result, ToolCall

TOOLS = [{"name": "Bash", "description": "Run a command.", "input_schema": {"type": "object"}}]


def recorded(log: LogBuilder | bytes) -> ClaudeRequests:
    return FORMAT.requests(entries(log if isinstance(log, bytes) else log.to_bytes()))


def conversation() -> LogBuilder:
    """Two prompts, a call with its result, and a request before each answer."""
    log = LogBuilder(version="2.1.325")
    log.prompt("List the folder.").sends("Be brief.", TOOLS, "It is Monday.")
    use = log.use("Bash", command="ls")
    log.assistant(log.think("How?"), use).result(use, "README.md").sends("Be brief.", TOOLS, "It is Monday.")
    log.assistant(log.text("A README.")).prompt("Thanks.").sends("Be brief.", [*TOOLS, {"name": "Read"}])
    return log.assistant(log.text("Bye."))


def test_every_request_is_whole() -> None:
    found = recorded(conversation())
    requests = [found.get(name) for name in found]
    assert [(one is not None and one.complete) for one in requests] == [True, True, True]
    first, second, third = (one for one in requests if one is not None)
    assert [len(one.messages) for one in (first, second, third)] == [2, 4, 5]
    assert first.system == ("Be brief.",)
    assert [tool["name"] for tool in third.tools] == ["Bash", "Read"]


def test_messages_are_understood_as_lines_of_the_conversation_are() -> None:
    found = recorded(conversation())
    second = found.get(list(found)[1])
    assert second is not None
    told, asked, answered, result = second.messages
    assert (told.role, asked.role, answered.role, result.role) == ("system", "user", "assistant", "user")
    assert isinstance(asked.prompt, Prompt)
    assert asked.prompt.text == "List the folder."
    assert [type(block) for block in answered.blocks][-1] is ToolCall
    assert [type(block) for block in result.blocks] == [Result]


def test_the_body_is_what_went_to_the_provider() -> None:
    found = recorded(conversation())
    one = found.get(next(iter(found)))
    assert one is not None
    assert one.body["model"] == "claude-opus-4-8"
    assert one.body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert one.body["messages"][1] == {"role": "user", "content": [{"type": "text", "text": "List the folder."}]}


def test_a_request_is_found_by_the_first_characters_of_its_id() -> None:
    found = recorded(conversation())
    name = list(found)[2]
    assert found.get(name[:6]) == found.get(name)
    assert found.get("") is None
    assert found.get("no such") is None


def test_answers_to_parallel_calls_are_one_message() -> None:
    """Their lines stand between those of the message that asked."""
    log = LogBuilder(version="2.1.325").prompt("Both.")
    one, two = log.use("Bash", command="a"), log.use("Bash", command="b")
    log.assistant(one, lambda: log.result(one, "A"), two).result(two, "B")
    results = [
        {"tool_use_id": use["id"], "type": "tool_result", "content": said, "is_error": False}
        for use, said in ((one, "A"), (two, "B"))
    ]
    tail = [request_digest({"role": "user", "content": results})]
    log.side("api-request-shape", shapeHash="s", shape={"system": [], "tools": []})
    log.side("api-request", id="r", keep=0, tail=tail, shapeHash="s", params={})
    found = recorded(log).get("r")
    assert found is not None
    assert found.complete
    assert [block.text for block in found.messages[0].blocks if isinstance(block, Result)] == ["A", "B"]


def test_what_the_log_does_not_hold_is_said() -> None:
    line = {"type": "api-request", "id": "r", "keep": 0, "tail": ["0" * 64], "shapeHash": "gone", "params": {}}
    found = recorded(jsonl(line)).get("r")
    assert found is not None
    assert not found.complete
    assert [message.known for message in found.messages] == [False]
    assert found.body["messages"] == [{"hash": "0" * 64}]


HOSTILE: list[dict[str, Any]] = [
    {"id": "r", "base": "r", "keep": 1, "tail": ["x"]},
    {"id": "r", "base": ["r"], "keep": "many", "tail": "all"},
    {"id": "r", "keep": -5, "tail": [None, {"a": 1}, 7]},
    {"id": "r", "keep": 10**30, "tail": [], "cacheControl": [{"path": ["messages", 10**9, "content"], "value": 1}]},
    {"id": "r", "keep": 0, "tail": [], "cacheControl": [{"path": "system"}, 7, {"path": [{}], "value": None}]},
    {"id": 7, "tail": []},
    {"id": "r", "params": [1], "shapeHash": {"no": "hash"}},
]


@pytest.mark.parametrize("fields", HOSTILE, ids=str)
def test_damaged_requests_are_read_as_far_as_they_go(fields: dict[str, Any]) -> None:
    shape = {"type": "api-request-shape", "shapeHash": 7, "shape": "none"}
    blob = {"type": "api-request-blob", "hash": [], "message": "none"}
    found = recorded(jsonl(shape, blob, {"type": "api-request", **fields}))
    for name in found:
        one = found.get(name)
        assert one is not None
        assert not one.complete


def test_a_circle_of_requests_ends() -> None:
    lines = [
        {"type": "api-request", "id": one, "base": other, "keep": 9, "tail": [one]}
        for one, other in (("a", "b"), ("b", "a"))
    ]
    found = recorded(jsonl(*lines))
    assert found.message_keys("a") == ("b", "a")
