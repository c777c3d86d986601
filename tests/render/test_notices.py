"""Each kind of notice has a line a person can read."""

from typing import Any

import pytest

from tests.render.build import NOTICES, notice, place
from tests.render.seen import seen
from tests.stack import small_stack
from unspool.doc import Fields, Fold, Heading, Terminal
from unspool.model import Notice
from unspool.render.notices import notice_nodes

DEEP: Any = []
for _ in range(5_000):
    DEEP = [DEEP]


def line(kind: str, text: str = "", **facts: Any) -> tuple[str, str, str]:
    first = next(notice_nodes(Notice(place(), kind, text, facts), 3))
    assert isinstance(first, Fold)
    return first.summary, first.outcome, first.tone


@pytest.mark.parametrize("kind", NOTICES)
def test_nothing_of_a_notice_is_lost(kind: str) -> None:
    """Text, facts and pictures of every kind are there, under a summary of one line."""
    document = list(notice_nodes(notice(kind), 3))
    text = seen(document)
    assert f"What the {kind} said\nin two lines" in text
    assert all(fact in text for fact in ("preTokens", "150000", "nested", f"of {kind}"))
    assert all("\n" not in node.summary for node in document if isinstance(node, Fold))


SAID: list[tuple[tuple[str, str, str], tuple[str, str, str]]] = [
    (line("hook", hookName="Stop", exitCode=2, durationMs=40), ("Hook: Stop", "exit code 2 · 40 ms", "bad")),
    (line("hook", hookName="Stop"), ("Hook: Stop", "", "quiet")),
    (line("hook", hookInfos=[{"command": "check.sh"}], hookErrors=["x"]), ("Hook: check.sh: x", "failed", "bad")),
    (line("hook", "", blockingError={"blockingError": "no"}, hookEvent="Stop"), ("Hook: Stop: no", "blocked", "bad")),
    (
        line("hook", hookName="Stop", preventedContinuation=True, stopReason="tests are red\nall of them"),
        ("Hook: Stop: tests are red", "blocked", "bad"),
    ),
    (
        line("hook", hookName="Edit", exitCode=127, stderr="not found"),
        ("Hook: Edit: not found", "exit code 127", "bad"),
    ),
    (line("hook", hookName="Edit", exitCode=0, stderr="not found"), ("Hook: Edit", "", "quiet")),
    (
        line("hook", hookName="Bash", decision="deny", permissionDecisionReason="no network"),
        ("Hook: Bash: no network", "deny", "quiet"),
    ),
    (line("progress", "bash_progress", elapsedTimeSeconds=65), ("Progress: bash", "1 m 5 s", "quiet")),
    (line("retry", error={"message": "529 busy"}), ("Request tried again: 529 busy", "", "warn")),
    (line("reminder", type="todo_reminder"), ("Reminder to the model: todo reminder", "", "quiet")),
    (line("retry", attempt=2, limit=10, wait_ms=900), ("Request tried again", "attempt 2 of 10 · 900 ms", "warn")),
    (line("model-switch", before={"model": "big"}, to="small"), ("Model: big → small", "", "warn")),
    (line("task-notification", "x", status="failed", summary="Tests"), ("Background task: Tests", "failed", "bad")),
    (line("teammate", "hello", teammate_id="ann"), ("Message from teammate ann: hello", "", "quiet")),
    (line("duration", duration_ms=65_000), ("Turn took 1 m 5 s", "", "quiet")),
    (line("attachment", type="edited_text_file", path="a.py"), ("Attached: edited text file · a.py", "", "quiet")),
    (line("queue", "go on", operation="enqueue"), ("Queued: go on", "", "quiet")),
    (line("interruption"), ("Interrupted by the user", "", "warn")),
    (
        line("micro-compaction", saved=12_000),
        ("Old tool results cleared from the window", "12 k tokens saved", "quiet"),
    ),
    (line("brand_new-kind", "words"), ("Brand new kind: words", "", "quiet")),
    (line(""), ("Notice", "", "quiet")),
]


@pytest.mark.parametrize(("found", "said"), SAID, ids=[str(number) for number in range(len(SAID))])
def test_the_line_of_a_notice(found: tuple[str, str, str], said: tuple[str, str, str]) -> None:
    """The line says what happened and how it ended."""
    assert found == said


def test_a_compaction_divides_the_document() -> None:
    """It is a heading with what it cost, not one more fold."""
    facts = {"trigger": "auto", "preTokens": 150_000}
    first, second = notice_nodes(Notice(place(), "compaction", "", {"compactMetadata": facts}), 3)
    assert first == Heading("compaction", 3, "Conversation compacted", notes=("auto · 150 k tokens",))
    assert isinstance(second, Fold)


def test_command_output_keeps_its_colours() -> None:
    """What a command printed is a terminal's text, its escapes already styles."""
    (fold,) = notice_nodes(Notice(place(), "command-output", "\x1b[31mred\x1b[0m\x1b]0;title\x07"), 3)
    assert isinstance(fold, Fold)
    assert isinstance(fold.children[0], Terminal)
    assert fold.children[0].text == "red"
    assert fold.children[0].spans[0].fg == "red"


@pytest.mark.parametrize("value", [None, [], {}, True, 10**400, float("nan"), "word", [[1]], {"a": None}, DEEP])
@pytest.mark.parametrize("kind", NOTICES)
def test_facts_of_any_shape_do_no_harm(kind: str, value: Any) -> None:
    """Whatever stands where a number or a name is looked for, the notice is shown."""
    names = ("preTokens", "durationMs", "attempt", "exitCode", "hookName", "from", "status", "operation", "type")
    with small_stack():
        assert list(notice_nodes(Notice(place(), kind, "", dict.fromkeys(names, value)), 3))


def test_what_a_command_printed_stands_once() -> None:
    (fold,) = notice_nodes(Notice(place(), "bash-output", "so far\nalas", {"stdout": "so far", "stderr": "alas\n"}), 3)
    assert seen([fold]).count("alas") == 1
    assert seen([fold]).count("so far") == 1


def test_a_progress_line_does_not_repeat_what_its_subagent_said() -> None:
    said = Notice(place(), "progress", "agent_progress", {"agentId": "a1", "prompt": "Look around", "message": {}})
    assert "Look around" not in seen(list(notice_nodes(said, 3)))
    assert "a1" in seen(list(notice_nodes(said, 3)))


def test_a_long_fact_that_is_told_twice_is_shown_once() -> None:
    printed = "line of output\n" * 10
    facts = {"output": printed, "fullOutput": printed, "totalLines": 10}
    shown = seen(list(notice_nodes(Notice(place(), "progress", "bash_progress", facts), 3)))
    assert shown.count("line of output") == 10
    assert "the same as output" in shown


def test_output_that_a_longer_one_holds_is_shown_once() -> None:
    lines = [f"line {number} of what was printed" for number in range(10)]
    facts = {"output": "\n".join(lines[5:]), "fullOutput": "\n".join(lines), "totalLines": 10}
    shown = seen(list(notice_nodes(Notice(place(), "progress", "bash_progress", facts), 3)))
    assert all(shown.count(line) == 1 for line in lines)
    assert "part of fullOutput" in shown


def test_the_name_of_a_progress_line_is_among_its_facts() -> None:
    said = Notice(place(), "progress", "hook_progress", {"type": "hook_progress", "hookName": "Stop"})
    (fold,) = notice_nodes(said, 3)
    assert isinstance(fold, Fold)
    assert fold.children == (Fields((("type", "hook_progress"), ("hookName", "Stop"))),)
