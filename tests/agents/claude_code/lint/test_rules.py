"""Every rule of an agent's own log: a log that breaks exactly that one, and a sound one that breaks none."""

import base64
from typing import Any

import pytest

from tests.agents.claude_code.lint.logs import Break, Lines, broken, compacted, findings, raw, rules, talk
from tests.log_builder.prompts import make_png
from unspool.agents.claude_code.lint import lint
from unspool.agents.claude_code.mending import repair_log


def content(lines: Lines, at: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lines[at]["message"]["content"]
    return found


def set_content(at: int, value: object) -> Break:
    return lambda lines: lines[at]["message"].update(content=value)


def set_line(at: int, **fields: object) -> Break:
    return lambda lines: lines[at].update(fields)


def set_block(at: int, **fields: object) -> Break:
    return lambda lines: content(lines, at)[-1].update(fields)


def image(data: bytes, media: str = "image/png") -> Break:
    source = {"type": "base64", "media_type": media, "data": base64.b64encode(data).decode()}
    return lambda lines: content(lines, 8)[-1].update(source=source)


def again(lines: Lines, at: int, **fields: object) -> dict[str, Any]:
    """The line once more, under an id of its own."""
    return {**lines[at], "uuid": f"00000000-0000-4000-8000-00000000000{at}", **fields}


def later_result(lines: Lines) -> None:
    """The second result stands behind the next answer."""
    result = lines.pop(5)
    lines.insert(6, {**result, "parentUuid": lines[5]["uuid"], "sourceToolAssistantUUID": None})
    lines[5]["parentUuid"] = lines[4]["uuid"]
    lines[7]["parentUuid"] = lines[6]["uuid"]


def two_results(lines: Lines) -> None:
    content(lines, 5).append(dict(content(lines, 5)[0]))


def stray_result(lines: Lines) -> None:
    content(lines, 5).append({**content(lines, 5)[0], "tool_use_id": "toolu_gone"})


def no_result(lines: Lines) -> None:
    gone = lines.pop(4)
    for line in lines:
        if line.get("parentUuid") == gone["uuid"]:
            line["parentUuid"] = gone["parentUuid"]


def odd_ids(lines: Lines) -> None:
    content(lines, 3)[0]["id"] = content(lines, 5)[0]["tool_use_id"] = "toolu 7"


def two_calls(lines: Lines) -> None:
    content(lines, 6).append(dict(content(lines, 3)[0]))


def hidden_end(lines: Lines) -> None:
    """A remark of the agent's own hangs from the last words, and there is another end."""
    lines.append(again(lines, 8, parentUuid=lines[9]["uuid"], isMeta=True))
    lines.insert(2, again(lines, 0, parentUuid=lines[1]["uuid"]))


BREAKS: dict[str, tuple[str, Break]] = {
    "a parent that is not there": ("missing-parent", set_line(6, parentUuid="gone")),
    "lines in a circle": ("cycle", lambda lines: lines[0].update(parentUuid=lines[6]["uuid"])),
    "two lines with one id": ("duplicate-uuid", lambda lines: lines.insert(6, {**lines[5], "cwd": "/elsewhere"})),
    "another end": ("wrong-leaf", hidden_end),
    "a call in the middle without a result": ("orphan-call", no_result),
    "a result without a call": ("orphan-result", stray_result),
    "a result too late": ("result-not-next", later_result),
    "a result twice": ("duplicate-result", two_results),
    "a call twice": ("duplicate-call-id", two_calls),
    "an empty prompt": ("empty-content", set_content(0, "  \n")),
    "no blocks": ("empty-content", set_content(9, [])),
    "an empty text": ("empty-content", set_block(9, text="")),
    "a text that is no text": ("bad-json-type", set_block(9, text=7)),
    "a call without input": ("bad-json-type", set_block(3, input=None)),
    "a call with text as input": ("bad-json-type", set_block(3, input="ls")),
    "a block of no kind": ("bad-json-type", lambda lines: content(lines, 9).append({"type": "te xt"})),
    "no message": ("empty-content", lambda lines: lines[9].pop("message")),
    "a message that is no object": ("bad-json-type", set_line(9, message=[1])),
    "a wrong role": ("role-order", lambda lines: lines[9]["message"].update(role="user")),
    "reasoning without signature": ("bad-thinking", lambda lines: content(lines, 1)[0].pop("signature")),
    "reasoning with an empty signature": ("bad-thinking", set_block(1, signature="")),
    "an image of too many bytes": ("oversized-image", image(make_png(2, 2, b"\0\1\2\3") + bytes(4_000_000))),
    "an image of too many pixels": ("oversized-image", image(make_png(8001, 1, bytes(8001)))),
    "an image of an unknown kind": ("bad-image", image(b"BM", "image/bmp")),
    "an image of another kind": ("bad-image", image(b"GIF89a\x02\0\x02\0", "image/png")),
    "an image that is no base64": (
        "bad-image",
        set_block(8, source={"type": "base64", "data": "?", "media_type": "x"}),
    ),
    "an image without source": ("bad-image", lambda lines: content(lines, 8)[-1].pop("source")),
    "an id with a space": ("bad-call-id", odd_ids),
    "half a character": ("lone-surrogate", set_content(0, "so \ud83d")),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_keeps_a_session_from_resuming_is_an_error_of_its_rule(name: str) -> None:
    rule, how = BREAKS[name]
    found = broken(talk(), how)
    expected = {rule, "empty-content"} if name == "a message that is no object" else {rule}
    assert rules(found, "error") == expected, found


ODD: dict[str, tuple[str, Break]] = {
    "a call at the end": ("orphan-call", lambda lines: lines.__delitem__(slice(4, None))),
    "white space of the assistant": ("empty-content", set_block(9, text="\n\n")),
    "reasoning at the end": (
        "bad-thinking",
        set_content(9, [{"type": "thinking", "thinking": "", "signature": "c2ln"}]),
    ),
    "the same line twice": ("duplicate-uuid", lambda lines: lines.insert(6, dict(lines[5]))),
    "a beginning in the air": ("missing-parent", set_line(0, parentUuid="gone")),
    "two beginnings": ("many-roots", lambda lines: lines.insert(0, again(lines, 8, parentUuid=None))),
    "two sessions": ("foreign-session", set_line(3, sessionId="other")),
    "a dangling reference": ("dangling-reference", set_line(9, supersedesUuids=["gone"])),
    "a program's session": ("hidden-from-picker", set_line(0, entrypoint="sdk-py")),
    "a team's session": ("hidden-from-picker", set_line(0, teamName="harbour")),
    "a background worker": ("hidden-from-picker", set_line(0, sessionKind="daemon-worker")),
    "a loop": ("hidden-from-picker", set_content(0, "/loop check the tide")),
    "a time that is a number": ("bad-json-type", set_line(3, timestamp=12)),
    "a line without a type": ("bad-json-type", lambda lines: lines.insert(0, {"uuid": "x"})),
    "input written as text": ("bad-json-type", set_block(3, input='{"command":"pwd"}')),
    "more in the record": ("result-mismatch", set_line(4, toolUseResult={"stdout": "word " * 900})),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_only_odd_is_a_warning_of_its_rule(name: str) -> None:
    rule, how = ODD[name]
    found = broken(talk(), how)
    assert rules(found) == {rule}, found
    assert rules(found, "error") == set()


@pytest.mark.parametrize("made", [talk, compacted])
def test_a_sound_log_breaks_no_rule(made: Any) -> None:
    assert findings(made()) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b'{"type":"user","uuid":"x"\n', "torn-line"),
        (b'{"type":"mode"}{"type":"mode"}\n', "glued-lines"),
        (b'\0\0{"type":"mode"}\n', "nul-bytes"),
        (b'{"type":NaN}\n', "torn-line"),
    ],
)
def test_bytes_that_the_agent_cannot_read_are_errors(line: bytes, rule: str) -> None:
    lines = raw(talk())
    found = lint([*lines[:3], line, *lines[3:]], strict=False)
    assert [(one.rule, one.line, one.severity) for one in found] == [(rule, 4, "error")]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"\0\0\0\n", "nul-bytes"),
        (b'{"type":"mode","mode":"\xff"}\n', "not-utf8"),
        (b"[1]\n", "bad-json-type"),
        (b'{"type":"mode"}', "no-newline"),
    ],
)
def test_bytes_that_do_no_harm_are_warnings(line: bytes, rule: str) -> None:
    found = lint([*raw(talk()), line], strict=False)
    assert [(one.rule, one.line, one.severity) for one in found] == [(rule, 11, "warning")]


def test_blank_lines_and_lines_of_unknown_types_are_nobodys_fault() -> None:
    lines = raw(talk())
    assert lint([*lines[:2], b"\n", b'{"type":"of tomorrow","uuid":"u","x":[1]}\r\n', *lines[2:]], strict=False) == []


@pytest.mark.parametrize("followed", [True, False])
def test_a_line_of_an_unknown_type_in_the_conversation_is_noted_and_followed(followed: bool) -> None:
    lines = talk()
    lines[7]["type"] = "of-tomorrow"
    lines[8]["parentUuid"] = lines[7 if followed else 6]["uuid"]
    found = findings(lines)
    assert [(one.rule, one.severity, one.line) for one in found] == [("unknown-type", "warning", 8)]
    assert "of-tomorrow" in found[0].message
    assert repair_log(raw(lines)).deeds == ()


def test_a_byte_order_mark_hides_no_line() -> None:
    lines = raw(talk())
    found = lint([b"\xef\xbb\xbf" + lines[0], *lines[1:]], strict=False)
    assert [(one.rule, one.severity) for one in found] == [("byte-order-mark", "warning")]


def test_nothing_to_resume_is_an_error_of_the_whole_log() -> None:
    found = lint([b'{"type":"summary","summary":"x","leafUuid":"y"}\n'], strict=False)
    assert [(one.rule, one.line) for one in found] == [("no-chain", 0)]
    assert rules(lint([], strict=False)) == {"no-chain"}


def test_what_was_said_before_a_compaction_is_not_sent_and_may_be_anything() -> None:
    lines = compacted()
    lines[2]["compactMetadata"] = {"trigger": "auto"}
    lines[1]["message"]["content"] = []
    assert rules(findings(lines)) == set()


@pytest.mark.parametrize("kept", ["preservedSegment", "preservedMessages"])
def test_a_compaction_that_kept_what_is_not_there_is_untrue(kept: str) -> None:
    lines = compacted()
    facts = lines[2]["compactMetadata"]
    facts.pop("preservedMessages" if kept == "preservedSegment" else "preservedSegment")
    assert findings(lines) == []
    facts[kept].update({"headUuid": "gone"} if kept == "preservedSegment" else {"uuids": ["gone"]})
    assert rules(findings(lines), "error") == {"boundary-untrue"}


def test_a_compaction_may_continue_a_line_of_another_file() -> None:
    lines = compacted()
    lines[2]["logicalParentUuid"] = "gone"
    found = findings(lines)
    assert [(one.rule, one.severity) for one in found] == [("boundary-untrue", "warning")]


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        ("claude-opus-5-5", True),
        ("claude-fable-5-1-20260901", True),
        ("claude-opus-4-8", False),
        ("claude-opus-4-20250514", False),
        ("claude-sonnet-5", False),
        ("claude-3-7-sonnet-20250219", False),
    ],
)
def test_reasoning_behind_a_change_is_refused_by_models_that_bind_it(model: str, bound: bool) -> None:
    lines = talk()
    lines[1]["message"]["model"] = model
    assert rules(lint(raw(lines), strict=False, edited_from=1)) == ({"bound-thinking"} if bound else set())
    assert lint(raw(lines), strict=False, edited_from=3) == []


def test_a_session_that_nothing_near_its_ends_names_is_hidden() -> None:
    """The first prompt stands behind the first 64 KB; a title near the end makes up for it."""
    lines = talk()
    big = {"type": "of tomorrow", "data": "x" * 70_000}
    assert rules(findings([big, *lines, big])) == {"hidden-from-picker"}
    assert findings([big, *lines, big, {"type": "custom-title", "customTitle": "Tides"}]) == []


def test_a_subagents_lines_in_the_log_are_no_part_of_what_is_resumed() -> None:
    lines = talk()
    side = again(lines, 0, isSidechain=True, agentId="a1", parentUuid=None)
    orphan = again(lines, 5, isSidechain=True, agentId="a1", parentUuid="gone")
    assert findings([*lines[:4], side, orphan, *lines[4:]]) == []


def test_a_number_without_end_beside_a_field_of_a_wrong_type_is_no_error() -> None:
    """The agent reads 1e999 as it reads any other number."""
    lines = raw(talk())
    lines[0] = lines[0].replace(b"{", b'{"cost":1e999,"slug":7,', 1)
    assert [(one.rule, one.line) for one in lint(lines, strict=False)] == [("bad-json-type", 1)]


def test_half_a_character_is_found_however_it_is_written() -> None:
    for half in (b"\\ud83d", b"\\uD83D"):
        lines = raw(talk())
        lines[0] = lines[0].replace(b"What is here?", b"What is here?" + half)
        assert rules(lint(lines, strict=False)) == {"lone-surrogate"}
