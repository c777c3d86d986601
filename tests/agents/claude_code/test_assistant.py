"""Lines of type assistant: pieces of messages, and what the agent says itself."""

from typing import Any

import pytest

from tests.reading.reading import event
from unspool.model import Notice, Result, Text, Thinking, ToolCall, Unknown


def line(*content: Any, **extra: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"id": "msg_1", "role": "assistant", "model": "claude-opus-4-8", "content": list(content)}
    message |= {"stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 5}, **extra.pop("message", {})}
    return {"type": "assistant", "uuid": "u", "parentUuid": "p", "requestId": "req_1", "message": message, **extra}


def test_words_are_text() -> None:
    (block,) = event(line({"type": "text", "text": "Hello"})).blocks
    assert isinstance(block, Text)
    assert (block.text, block.message) == ("Hello", "msg_1")


def test_content_that_is_a_string_is_text() -> None:
    (block,) = event(line(message={"content": "Hello"})).blocks
    assert isinstance(block, Text)


def test_thinking_keeps_its_signature_even_without_words() -> None:
    (block,) = event(line({"type": "thinking", "thinking": "", "signature": "abc"})).blocks
    assert isinstance(block, Thinking)
    assert (block.text, block.signature, block.redacted) == ("", "abc", False)


def test_encrypted_thinking_is_marked() -> None:
    (block,) = event(line({"type": "redacted_thinking", "data": "xyz"})).blocks
    assert isinstance(block, Thinking)
    assert block.redacted


def test_a_call_keeps_id_name_and_input() -> None:
    (block,) = event(line({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}})).blocks
    assert isinstance(block, ToolCall)
    assert (block.call_id, block.name, block.input, block.role, block.server) == (
        "toolu_1",
        "Bash",
        {"command": "ls"},
        "shell",
        False,
    )


def test_an_input_that_was_written_as_a_string_is_decoded() -> None:
    (block,) = event(line({"type": "tool_use", "id": "t", "name": "Bash", "input": '{"command":"ls"}'})).blocks
    assert isinstance(block, ToolCall)
    assert block.input == {"command": "ls"}


@pytest.mark.parametrize("given", ["not json", "[1]", "[" * 100_000])
def test_an_input_that_is_some_other_string_is_kept(given: str) -> None:
    (block,) = event(line({"type": "tool_use", "id": "t", "name": "Bash", "input": given})).blocks
    assert isinstance(block, ToolCall)
    assert block.input == given


def test_a_tool_of_the_provider_and_its_answer_are_read() -> None:
    use = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "tides"}}
    answer = {
        "type": "web_search_tool_result",
        "tool_use_id": "srv_1",
        "content": [{"type": "web_search_result", "url": "https://x"}],
    }
    call, result = event(line(use, answer)).blocks
    assert isinstance(call, ToolCall)
    assert call.server
    assert isinstance(result, Result)
    assert (result.call_id, result.error, len(result.parts)) == ("srv_1", False, 1)


def test_an_advisors_error_is_an_error() -> None:
    content = {"type": "advisor_tool_result_error", "error_code": "overloaded"}
    (result,) = event(line({"type": "advisor_tool_result", "tool_use_id": "srv_2", "content": content})).blocks
    assert isinstance(result, Result)
    assert (result.error, result.detail) == (True, content)


def test_a_fallback_is_a_switch_of_models() -> None:
    (block,) = event(line({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}})).blocks
    assert isinstance(block, Notice)
    assert (block.kind, block.text) == ("model-switch", "a → b")


def test_unknown_blocks_are_kept_whole() -> None:
    odd = {"type": "dream", "of": ["sheep"]}
    (block,) = event(line(odd)).blocks
    assert isinstance(block, Unknown)
    assert (block.what, block.data) == ("dream", odd)


@pytest.mark.parametrize("odd", [{"type": "text", "text": 7}, {"type": "thinking"}, 5, None, "words", []])
def test_blocks_of_the_wrong_shape_are_kept(odd: Any) -> None:
    (block,) = event(line(odd)).blocks
    assert isinstance(block, Unknown)
    assert block.data == odd


def test_an_api_error_is_a_notice_with_its_facts() -> None:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
    found = event(line(message=message, isApiErrorMessage=True, error="rate_limit", apiErrorStatus=529))
    (block,) = found.blocks
    assert isinstance(block, Notice)
    assert (block.kind, block.text) == ("api-error", "API Error: 529")
    assert block.facts == {"error": "rate_limit", "apiErrorStatus": 529}
    assert found.part is not None
    assert found.part.synthetic


def test_what_the_agent_says_itself_never_shares_a_message_with_other_lines() -> None:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
    found = event(line(message=message))
    assert found.part is not None
    assert found.part.message == "u"


def test_where_a_block_stands_in_its_message_is_read() -> None:
    found = event(line({"type": "text", "text": "x"}, apiBlockIndex=3, effort="high", isAbortedMidStream=True))
    assert found.part is not None
    assert (found.part.index, found.part.effort, found.part.aborted) == (3, "high", True)


@pytest.mark.parametrize(
    ("record", "written", "hour"),
    [
        ({"cache_creation_input_tokens": 900}, 900, 0),
        (
            {
                "cache_creation_input_tokens": 0,
                "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 600},
            },
            900,
            600,
        ),
        ({"cache_creation_input_tokens": 900, "cache_creation": {"ephemeral_1h_input_tokens": 900}}, 900, 900),
        ({"cache_creation": None, "cache_creation_input_tokens": None}, 0, 0),
    ],
)
def test_cache_writes_are_the_larger_of_the_two_figures(record: dict[str, Any], written: int, hour: int) -> None:
    found = event(line(message={"usage": record}))
    assert found.part is not None
    assert found.part.usage is not None
    assert (found.part.usage.cache_write, found.part.usage.cache_write_1h) == (written, hour)


def test_breakdowns_of_a_call_are_not_added_to_it() -> None:
    usage = {
        "input_tokens": 2,
        "output_tokens": 10,
        "iterations": [{"input_tokens": 2, "output_tokens": 10}],
        "output_tokens_details": {"thinking_tokens": 4},
    }
    found = event(line(message={"usage": usage}))
    assert found.part is not None
    assert found.part.usage is not None
    assert found.part.usage.total == 12


def test_searches_speed_tier_and_place_are_read() -> None:
    usage = {
        "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1},
        "speed": "fast",
        "service_tier": "batch",
        "inference_geo": "us",
    }
    part = event(line(message={"usage": usage})).part
    assert part is not None
    assert part.usage is not None
    assert (part.usage.web_searches, part.usage.web_fetches) == (2, 1)
    assert (part.speed, part.tier, part.geo) == ("fast", "batch", "us")


def test_a_line_without_usage_has_none() -> None:
    part = event(line(message={"usage": None})).part
    assert part is not None
    assert part.usage is None


@pytest.mark.parametrize("odd", ["7", -5, True, [], None])
def test_figures_of_the_wrong_type_count_nothing(odd: Any) -> None:
    part = event(line(message={"usage": {"input_tokens": odd, "output_tokens": 5}})).part
    assert part is not None
    assert part.usage is not None
    assert (part.usage.input, part.usage.output) == (0, 5)


def test_how_long_the_model_thought_and_which_request_it_answered_are_known() -> None:
    """A request reference names the request that the log keeps; wrong types are nothing."""
    thought = {"type": "thinking", "thinking": "", "signature": "abc"}
    found = event(line(thought, thinkingDurationMs=4200, requestRef="r-1"))
    (block,) = found.blocks
    assert isinstance(block, Thinking)
    assert block.milliseconds == 4200
    assert found.part is not None
    assert found.part.request_ref == "r-1"
    wrong = event(line(thought, thinkingDurationMs="long", requestRef=7))
    assert isinstance(wrong.blocks[0], Thinking)
    assert wrong.blocks[0].milliseconds == 0
