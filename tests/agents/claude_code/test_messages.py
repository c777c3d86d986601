"""Results of tools: text, pictures, other pieces, denials, and output that was spilled to a file."""

import json
from typing import Any

import pytest

from unspool.agents.claude_code.line import line_of
from unspool.agents.claude_code.messages import CallMemory, ResultParser
from unspool.agents.records import Detail
from unspool.model import Event, Place, Result

EVENT = Event("result", Place(1, 0, 1), "line")
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def answer(content: Any, *, error: bool = False, files: dict[str, str] | None = None, **line: Any) -> Result:
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": error}
    whole = line_of({**line, "type": "user", "message": {"content": [block]}})
    assert whole.message is not None
    assert isinstance(whole.message.content, list)
    return ResultParser((files or {}).get, Detail.ALL, CallMemory()).parse(whole.message.content[0], whole, EVENT)


def test_text_blocks_are_joined_and_other_pieces_kept() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
    reference = {"type": "tool_reference", "tool_name": "WebFetch"}
    found = answer([{"type": "text", "text": "a"}, picture, "b", reference])
    assert found.text == "a\nb"
    assert [image.data for image in found.images] == ["iVBO"]
    assert found.parts == (reference,)


@pytest.mark.parametrize(("content", "parts"), [(None, ()), ("", ()), (7, (7,)), ({"x": 1}, ({"x": 1},))])
def test_content_of_any_type_is_kept(content: Any, parts: tuple[Any, ...]) -> None:
    assert answer(content).parts == parts


DENIALS = [
    (REJECTED, "user-rejected"),
    ("The user doesn't want to take this action right now. STOP", "user-rejected"),
    ("[Request interrupted by user for tool use]", "interrupted"),
    ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
    ("<tool_use_error>Cancelled: parallel tool call Bash errored</tool_use_error>", "cancelled"),
    ("Cancelled: parallel tool call", "cancelled"),
    ("Permission to use Bash with command rm has been denied.", "permission-rule"),
    ("File not found", ""),
]


@pytest.mark.parametrize(("words", "denial"), DENIALS)
def test_why_a_call_never_ran_is_read_from_its_text(words: str, denial: str) -> None:
    assert answer(words, error=True).denial == denial


def test_a_text_that_only_quotes_a_refusal_is_none() -> None:
    assert answer(REJECTED).denial == ""


@pytest.mark.parametrize(
    "kind", ["user-rejected", "permission-rule", "automode-blocked", "automode-unavailable", "interrupted"]
)
def test_newer_lines_say_why_a_call_never_ran(kind: str) -> None:
    assert answer("x", error=True, toolDenialKind=kind).denial == kind


def test_what_the_user_said_when_refusing_is_read_from_the_text_or_the_line() -> None:
    assert answer(f"{REJECTED} To tell you how to proceed, the user said:\nuse tabs", error=True).feedback == "use tabs"
    assert answer(REJECTED, error=True, toolDenialKind="user-rejected", userFeedback="no tabs").feedback == "no tabs"


def spilled(path: str = "/home/x/.claude/projects/p/s/tool-results/abc.txt") -> str:
    return (
        f"<persisted-output>\nOutput too large (96.8KB). Full output saved to: {path}\n\n"
        "Preview (first 2KB):\nhead\n</persisted-output>"
    )


def test_spilled_output_is_read_back_by_its_name() -> None:
    found = answer(spilled(), files={"abc.txt": "the whole"})
    assert (found.text, found.missing) == ("the whole", False)
    assert found.spilled.endswith("abc.txt")


def test_spilled_output_of_windows_is_read_back_by_its_name() -> None:
    assert answer(spilled("C:\\Users\\x\\tool-results\\abc.txt"), files={"abc.txt": "the whole"}).text == "the whole"


def test_spilled_output_that_is_gone_leaves_the_preview_and_says_so() -> None:
    found = answer(spilled())
    assert found.missing
    assert "head" in found.text


def test_spilled_output_that_only_the_structured_twin_names_is_read_back() -> None:
    found = answer("head", files={"k.txt": "all"}, toolUseResult={"stdout": "head", "persistedOutputPath": "/x/k.txt"})
    assert found.text == "all"


def test_spilled_json_holds_content_blocks() -> None:
    blocks = json.dumps([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    assert answer(spilled("/x/k.json"), files={"k.json": blocks}).text == "a\nb"
    assert answer(spilled("/x/k.json"), files={"k.json": "not json"}).text == "not json"


def test_spilled_json_that_holds_more_than_text_is_kept_as_it_is() -> None:
    mixed = json.dumps([{"type": "text", "text": "a"}, {"type": "image", "source": {}}])
    assert answer(spilled("/x/k.json"), files={"k.json": mixed}).text == mixed


def test_a_result_that_quotes_a_spill_in_its_middle_is_left_alone() -> None:
    words = "I saw: " + spilled()
    assert answer(words, files={"abc.txt": "no"}).text == words
