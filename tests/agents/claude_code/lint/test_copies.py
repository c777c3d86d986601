"""The rules for copies of ours: everything an agent's own log may have, and a copy may not."""

import pytest

from tests.agents.claude_code.lint.logs import Break, Lines, compacted, copied, findings, rules, talk
from tests.agents.claude_code.lint.test_rules import BREAKS, ODD, set_line


def old_id(lines: Lines) -> None:
    lines[9]["uuid"] = lines[9]["forkedFrom"]["messageUuid"]


def later_elsewhere(lines: Lines) -> None:
    lines[6]["timestamp"] = "2027-01-01T00:00:00.000Z"


def out_of_order(lines: Lines) -> None:
    lines[6], lines[7] = lines[7], lines[6]


def beside(kind: str) -> Break:
    return lambda lines: lines.insert(3, {"type": kind, "sessionId": lines[0]["sessionId"]})


def progress(lines: Lines) -> None:
    lines[7].update(type="progress", data={})


def off_path(lines: Lines) -> None:
    other = {**lines[9], "uuid": "bbbbbbbb-0000-4000-8000-000000000009", "timestamp": "2026-03-02T09:00:00.000Z"}
    other["message"] = {**other["message"], "id": "msg_other"}
    lines.insert(9, other)


BREAKS_OF_COPIES: dict[str, tuple[str, Break]] = {
    "no origin": ("no-origin", lambda lines: lines[3].pop("forkedFrom")),
    "the old session": ("old-session", lambda lines: lines[3]["forkedFrom"].update(sessionId=lines[0]["sessionId"])),
    "an old id": ("old-uuid", old_id),
    "an id that is none": ("old-uuid", set_line(9, uuid="nine")),
    "an old reference": (
        "old-reference",
        lambda lines: lines[9].update(supersedesUuids=[lines[3]["forkedFrom"]["messageUuid"]]),
    ),
    "an old id in a line of an unknown type": (
        "old-reference",
        lambda lines: lines.insert(0, {"type": "of tomorrow", "of": [lines[3]["forkedFrom"]["messageUuid"]]}),
    ),
    "an old source of an attachment": (
        "old-reference",
        lambda lines: lines[7]["attachment"].update(source_uuid=lines[3]["forkedFrom"]["messageUuid"]),
    ),
    "a record of what was left out": (
        "result-mismatch",
        lambda lines: lines[4]["message"]["content"][0].update(content="[left out: 9 characters]"),
    ),
    "a dangling call": ("dangling-reference", set_line(5, sourceToolAssistantUUID="gone")),
    "another session": ("foreign-session", set_line(4, session_id="other")),
    "a team": ("kept-link", set_line(4, slug="quirky-otter")),
    "progress": ("foreign-line", progress),
    "words beside": ("off-path", off_path),
    "a child before its parent": ("out-of-order", out_of_order),
    "a later line": ("wrong-leaf", later_elsewhere),
    "a meta end": ("wrong-leaf", set_line(9, isMeta=True)),
    "no title": ("no-title", lambda lines: lines.pop()),
    "an empty title": ("no-title", set_line(10, customTitle=" ")),
    "a second root": ("many-roots", set_line(7, parentUuid=None)),
    "a summary of elsewhere": (
        "dangling-reference",
        lambda lines: lines.insert(0, {"type": "summary", "summary": "x", "leafUuid": "gone"}),
    ),
    "a checkpoint of elsewhere": (
        "dangling-reference",
        lambda lines: lines.insert(0, {"type": "file-history-snapshot", "messageId": "gone", "snapshot": {}}),
    ),
    **{
        f"a {kind} line": ("latch-line", beside(kind))
        for kind in (
            "bridge-session", "worktree-state", "atis-latch", "isolation-latch", "cost-state", "continued-in",
            "queue-operation", "relocated", "fork-context-ref",
        )
    },
}  # fmt: skip

ALSO = {
    "an old reference": {"dangling-reference"},
    "a second root": {"off-path"},
    "a call at the end": {"no-title", "wrong-leaf"},
    "an old id": set(),
}


@pytest.mark.parametrize("made", [talk, compacted])
def test_a_sound_copy_breaks_no_rule(made: type) -> None:
    assert findings(copied(made()), strict=True) == []


@pytest.mark.parametrize("name", BREAKS_OF_COPIES)
def test_a_copy_that_breaks_a_rule_of_copies_is_refused(name: str) -> None:
    rule, how = BREAKS_OF_COPIES[name]
    lines = copied(talk())
    how(lines)
    found = rules(findings(lines, strict=True), "error")
    assert rule in found
    assert found <= {rule} | ALSO.get(name, set()), found


@pytest.mark.parametrize("name", BREAKS)
def test_what_keeps_a_log_from_resuming_is_an_error_of_a_copy_too(name: str) -> None:
    rule, how = BREAKS[name]
    lines = copied(talk())
    how(lines)
    assert rule in rules(findings(lines, strict=True), "error")


HARMLESS = {
    *("a program's session", "a background worker", "a team's session", "a loop"),
    "input written as text",
}
"""What a copy may have too: warnings."""


@pytest.mark.parametrize("name", sorted(set(ODD) - HARMLESS))
def test_what_is_only_odd_in_a_log_is_an_error_of_a_copy(name: str) -> None:
    rule, how = ODD[name]
    lines = copied(talk())
    how(lines)
    assert rule in rules(findings(lines, strict=True), "error")


def test_what_came_before_a_compaction_must_be_sound_in_a_copy() -> None:
    lines = copied(compacted())
    lines[2]["compactMetadata"] = {"trigger": "auto"}
    assert findings(lines, strict=True) == []
    lines[1]["message"]["content"] = []
    assert rules(findings(lines, strict=True), "error") == {"empty-content"}


def test_a_subagents_lines_may_be_carried_along() -> None:
    lines = copied(talk())
    side = {
        **lines[0],
        "uuid": "cccccccc-0000-4000-8000-000000000001",
        "forkedFrom": {"sessionId": "s", "messageUuid": "m"},
        "isSidechain": True,
    }
    assert findings([*lines[:-1], side, lines[-1]], strict=True) == []
