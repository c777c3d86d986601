"""Lines that share a message are one message: all blocks in order, none lost, none doubled, billed once."""

from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import DemoTokens
from tests.reading.lines import answer, asked, said, text, thinking, use
from tests.reading.reading import blocks, jsonl, session, texts
from unspool.model import Message, Session, Text, Thinking, ToolCall, Usage

HI = asked("u1", "hi")


def read(*lines: dict[str, Any]) -> Session:
    return session(jsonl(HI, *lines))


def message(found: Session) -> Message:
    (only,) = found.messages
    return only


def kinds(found: Session) -> list[str]:
    return [type(block).__name__ for block in blocks(found)]


def test_one_block_a_line_makes_one_message_of_all_blocks() -> None:
    found = read(
        said("a", "m", [thinking("hm", "s1")], "u1"),
        said("b", "m", [text("Looking.")], "a"),
        said("c", "m", [use("t1")], "b"),
        said("d", "m", [use("t2")], "c", stop="tool_use"),
    )
    assert kinds(found) == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert (message(found).lines, message(found).stop) == ((2, 3, 4, 5), "tool_use")


def test_lines_of_other_things_between_its_blocks_do_not_break_a_message() -> None:
    log = LogBuilder().prompt("hi")
    one, two = log.use("Read", file_path="/a"), log.use("Read", file_path="/b")
    log.assistant(log.text("Both."), one, lambda: log.result(one, "A"), lambda: log.queue("enqueue", "x"), two)
    log.result(two, "B")
    found = session(log)
    assert len(found.messages) == 1
    assert [block.result.text for block in blocks(found) if isinstance(block, ToolCall) and block.result] == ["A", "B"]


def test_snapshots_without_an_id_of_their_own_give_way_to_the_last() -> None:
    found = read(
        said(None, "m", [text("Hel")], "u1", output=1),
        said(None, "m", [text("Hello")], "u1", output=2),
        said("c", "m", [text("Hello world")], "u1", output=9, stop="end_turn"),
    )
    assert texts(found) == ["Hello world"]
    assert message(found).usage == Usage(10, 9)
    assert (found.lines.superseded, found.lines.conversation, found.lines.total) == (2, 2, 4)


def test_snapshots_of_several_blocks_give_way_to_the_fullest() -> None:
    found = read(
        said("a", "m", [text("One")], "u1"),
        said("b", "m", [text("One"), use("t1", command="l")], "u1"),
        said("c", "m", [text("One and"), use("t1", command="ls"), text("Two")], "u1", stop="end_turn"),
    )
    assert texts(found) == ["One and", "Two"]
    (call,) = [block for block in blocks(found) if isinstance(block, ToolCall)]
    assert call.input == {"command": "ls"}


def test_snapshots_under_one_uuid_give_way_to_the_last() -> None:
    found = read(
        said("a", "m", [text("Wri")], "u1"),
        said("a", "m", [text("Writing")], "u1"),
        said("a", "m", [text("Writing it"), use("t1")], "u1", stop="tool_use"),
    )
    assert kinds(found) == ["Text", "ToolCall"]
    assert texts(found) == ["Writing it"]
    assert found.branches == ()


def test_a_shorter_snapshot_that_comes_late_changes_nothing() -> None:
    found = read(said("a", "m", [text("Hello"), use("t1")], "u1"), said("b", "m", [text("Hel"), use("t1")], "u1"))
    assert texts(found) == ["Hello"]
    assert kinds(found) == ["Text", "ToolCall"]


def test_numbered_blocks_are_put_in_the_order_of_their_numbers() -> None:
    found = read(
        said("b", "m", [text("two")], "u1", apiBlockIndex=1),
        said("c", "m", [text("three")], "b", apiBlockIndex=2),
        said("a", "m", [text("one")], "u1", apiBlockIndex=0),
    )
    assert texts(found) == ["one", "two", "three"]


def test_unnumbered_blocks_stay_in_the_order_of_the_file() -> None:
    found = read(said("b", "m", [text("two")], "u1"), said("a", "m", [text("one")], "b", apiBlockIndex=0))
    assert texts(found) == ["two", "one"]


def test_a_line_that_is_there_again_counts_as_repeated() -> None:
    line = said("a", "m", [text("Hello")], "u1", stop="end_turn")
    found = read(line, line, {**line, "timestamp": "2026-01-01T00:00:00Z"})
    assert texts(found) == ["Hello"]
    assert (found.lines.repeated, found.lines.total) == (2, 4)
    assert message(found).usage == Usage(10, 5)


def test_the_same_words_twice_in_one_message_are_both_kept_where_they_are_numbered() -> None:
    found = read(
        said("a", "m", [text("OK")], "u1", apiBlockIndex=0),
        said("b", "m", [use("t1")], "a", apiBlockIndex=1),
        said("c", "m", [text("OK")], "b", apiBlockIndex=2),
    )
    assert kinds(found) == ["Text", "ToolCall", "Text"]


def test_words_that_begin_alike_on_lines_of_their_own_are_both_kept() -> None:
    found = read(said("a", "m", [text("OK")], "u1"), said("b", "m", [text("OK, done")], "a"))
    assert texts(found) == ["OK", "OK, done"]


def test_the_same_words_in_two_messages_are_both_kept() -> None:
    found = read(said("a", "m1", [text("OK")], "u1"), said("b", "m2", [text("OK")], "a", request="req_2"))
    assert texts(found) == ["OK", "OK"]


def test_thinking_is_told_apart_by_its_signature_even_without_words() -> None:
    found = read(
        said("a", "m", [thinking("", "s1")], "u1"),
        said("b", "m", [thinking("", "s2")], "a"),
        said("c", "m", [thinking("", "s1")], "b"),
    )
    assert [block.signature for block in blocks(found) if isinstance(block, Thinking)] == ["s1", "s2"]


def test_a_call_that_is_there_again_with_a_fuller_input_is_one_call() -> None:
    found = read(said("a", "m", [use("t1")], "u1"), said("b", "m", [use("t1", command="ls")], "a"))
    (call,) = [block for block in blocks(found) if isinstance(block, ToolCall)]
    assert call.input == {"command": "ls"}


def test_a_retry_under_another_request_keeps_both_contents_and_bills_both() -> None:
    found = read(
        said("a", "m", [text("first")], "u1", request="req_1", output=7, stop="end_turn"),
        said("b", "m", [text("second")], "a", request="req_2", output=9, stop="end_turn"),
    )
    assert texts(found) == ["first", "second"]
    assert [call.usage.output for call in message(found).calls] == [7, 9]
    assert message(found).usage == Usage(20, 16)


def test_a_line_that_names_no_request_belongs_to_its_messages_own() -> None:
    found = read(said("a", "m", [text("a")], "u1", request=None), said("b", "m", [text("b")], "a", request="req_1"))
    assert len(message(found).calls) == 1


def test_each_figure_is_the_largest_of_any_line_and_counted_once() -> None:
    one = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7}
    two = {"input_tokens": 3, "output_tokens": 90, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 0}
    found = read(
        said("a", "m", [text("a")], "u1", usage=one), said("b", "m", [use("t")], "a", usage=two, stop="tool_use")
    )
    assert message(found).usage == Usage(3, 90, 50, 7)
    assert found.turns[-1].usage == Usage(3, 90, 50, 7)


@pytest.mark.parametrize(
    ("version", "output", "floor"),
    [("1.0.88", 500, True), ("2.1.20", 3, True), ("2.1.90", 500, False), ("2.1.230", 500, False)],
)
def test_output_that_was_never_final_is_a_lower_bound(version: str, output: int, floor: bool) -> None:
    log = LogBuilder(version=version).prompt("hi")
    log.assistant(log.think("hm"), log.text("hello"), usage=DemoTokens(output=500))
    usage = message(session(log)).usage
    assert (usage.output, usage.floor) == (output, floor)


def test_a_line_without_usage_takes_nothing_from_the_others() -> None:
    found = read(said("a", "m", [text("a")], "u1", output=8), said("b", "m", [text("b")], "a", usage=None))
    assert message(found).usage.output == 8


def test_what_the_agent_says_itself_is_never_joined_and_costs_nothing() -> None:
    error = {"model": "<synthetic>", "isApiErrorMessage": True}
    found = read(
        said("a", "same", [text("API Error: 529")], "u1", **error),
        said("b", "same", [text("API Error: 500")], "a", **error),
        said("c", "m", [text("Back.")], "b", stop="end_turn"),
    )
    assert [one.synthetic for one in found.messages] == [True, True, False]
    assert sum((one.usage for one in found.messages), Usage()) == Usage(10, 5)


def test_lines_that_were_withdrawn_are_marked_and_still_billed() -> None:
    found = read(
        said("a", "m1", [text("No.")], "u1", stop="refusal"),
        {
            "type": "system",
            "subtype": "model_refusal_fallback",
            "uuid": "r",
            "parentUuid": "a",
            "retractedMessageUuids": ["a"],
        },
        said("b", "m2", [text("Yes.")], "r", request="req_2", stop="end_turn"),
    )
    assert [(one.id, one.retracted, one.usage.output) for one in found.messages] == [("m1", True, 5), ("m2", False, 5)]
    assert [block.text for block in blocks(found) if isinstance(block, Text)] == ["No.", "Yes."]


def test_a_message_knows_when_it_began_and_ended() -> None:
    found = read(
        said("a", "m", [text("a")], "u1", timestamp="2026-03-02T09:00:05Z"),
        said("b", "m", [text("b")], "a", timestamp="2026-03-02T09:00:02Z"),
    )
    only = message(found)
    assert only.time is not None
    assert only.ended is not None
    assert (only.time.second, only.ended.second) == (2, 5)


def test_the_answer_of_a_provider_tool_joins_its_call() -> None:
    result = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"type": "web_search_result"}]}
    call = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
    found = read(said("a", "m", [call], "u1"), said("b", "m", [result], "a"), said("c", "m", [text("Found.")], "b"))
    assert kinds(found) == ["ToolCall", "Text"]
    (tool,) = [block for block in blocks(found) if isinstance(block, ToolCall)]
    assert (tool.state, tool.server) == ("ok", True)


def test_a_message_whose_result_comes_before_its_call_is_paired() -> None:
    found = read(asked("r", [answer("t1")], "u1"), said("a", "m", [use("t1")], "r"))
    (call,) = [block for block in blocks(found) if isinstance(block, ToolCall)]
    assert call.state == "ok"
