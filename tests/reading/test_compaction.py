"""Compaction joins what it separates for a reader, and ends the path that the agent itself would load."""

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import all_turns, notices, prompts, said, session, texts
from unspool.model import Session


def before() -> LogBuilder:
    log = LogBuilder().prompt("one")
    log.assistant(log.text("1")).prompt("two")
    return log.assistant(log.text("2"))


def after(log: LogBuilder) -> LogBuilder:
    log.prompt("three")
    return log.assistant(log.text("3"))


def logical(log: LogBuilder, value: str | None) -> LogBuilder:
    """Make the boundary name another line as the one it continues."""
    for line in log.lines:
        if isinstance(line, dict) and line.get("subtype") == "compact_boundary":
            if value is None:
                del line["logicalParentUuid"]
            else:
                line["logicalParentUuid"] = value
    return log


def whole(read: Session) -> None:
    assert said(read.turns) == ["one", "two", "three"]
    assert texts(read) == ["1", "2", "3"]
    assert read.branches == ()
    assert [notice.kind for notice in notices(read) if notice.kind in ("compaction", "summary")] == [
        "compaction",
        "summary",
    ]


def test_history_before_and_after_a_boundary_is_one() -> None:
    whole(session(after(before().compact("auto", "We did one and two."))))


@pytest.mark.parametrize("value", [None, "00000000-0000-4000-8000-00000000dead"], ids=["absent", "unknown"])
def test_a_boundary_whose_logical_parent_is_missing_continues_the_line_before(value: str | None) -> None:
    whole(session(logical(after(before().compact("manual", "sum")), value)))


def test_a_boundary_whose_logical_parent_comes_later_continues_the_line_before() -> None:
    log = after(before().compact("auto", "sum"))
    whole(session(logical(log, str(log.last))))


def test_a_boundary_that_names_itself_continues_the_line_before() -> None:
    log = before().compact("auto", "sum")
    (boundary,) = [line for line in log.lines if isinstance(line, dict) and line.get("subtype") == "compact_boundary"]
    whole(session(logical(after(log), boundary["uuid"])))


def test_the_agent_would_load_only_what_follows_the_boundary() -> None:
    log = before().compact("auto", "sum")
    summary = str(log.last)
    read = session(after(log))
    assert len(read.live) == 3
    assert read.live[0] == summary


def test_a_tail_that_is_preserved_stays_in_its_place_and_is_not_doubled() -> None:
    log = before()
    kept = [line["uuid"] for line in log.lines[-2:] if isinstance(line, dict)]
    whole(session(after(log.compact("auto", "sum", keep=kept))))


def test_a_preserved_tail_that_hangs_below_the_summary_makes_no_cycle() -> None:
    log = before()
    kept = str(log.last)
    log.compact("auto", "sum", keep=[kept])
    whole(session(after(log.rewind(kept))))


def test_several_compactions_are_all_joined() -> None:
    log = before()
    for number in range(3):
        log.compact("auto", f"sum {number}").prompt(f"after {number}").assistant(log.text(f"ok {number}"))
    read = session(log)
    assert said(read.turns) == ["one", "two", "after 0", "after 1", "after 2"]
    assert len(notices(read, "compaction")) == 3


def test_what_a_compaction_says_of_itself_is_kept() -> None:
    (found,) = notices(session(before().compact("auto", "sum", tokens=150_000)), "compaction")
    assert found.facts["compactMetadata"] == {"trigger": "auto", "preTokens": 150_000}


def test_a_file_that_begins_with_a_summary_begins_no_turn_with_it() -> None:
    log = LogBuilder(version="1.0.30").user(
        "This session is being continued from a previous conversation that ran out of context."
    )
    read = session(after(log))
    assert [prompt.text for prompt in prompts(read)] == ["three"]
    assert len(notices(read, "summary")) == 1


def test_clearing_old_results_from_the_context_separates_nothing() -> None:
    log = before().system(
        "microcompact_boundary",
        content="Context microcompacted",
        microcompactMetadata={"trigger": "auto", "tokensSaved": 9},
    )
    read = session(after(log))
    assert said(read.turns) == ["one", "two", "three"]
    assert len(notices(read, "micro-compaction")) == 1


def test_an_edit_after_a_compaction_is_a_branch_after_it() -> None:
    log = before().compact("auto", "sum")
    at = log.last
    after(log).rewind(at).prompt("three, edited")
    log.assistant(log.text("4"))
    read = session(log)
    assert said(read.turns) == ["one", "two", "three, edited"]
    (branch,) = read.branches
    assert (said(branch.turns), branch.after, branch.at) == (["three"], 2, at)


def test_a_rewind_to_before_a_compaction_leaves_the_compaction_on_a_branch() -> None:
    log = LogBuilder().prompt("one")
    log.assistant(log.text("1"))
    at = log.last
    log.prompt("two").assistant(log.text("2")).compact("auto", "sum")
    after(log).rewind(at).prompt("two, edited").assistant(log.text("5"))
    read = session(log)
    assert said(read.turns) == ["one", "two, edited"]
    assert sorted(words for turn in all_turns(read) for words in said((turn,))) == [
        "one",
        "three",
        "two",
        "two, edited",
    ]
