"""Branches are where a person typed again or the model answered again, and nowhere else."""

from itertools import count

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import asked, text
from tests.reading.lines import said as told
from tests.reading.reading import jsonl, prompts, said, session, texts
from unspool.model import Session


def answered(log: LogBuilder, words: str) -> LogBuilder:
    return log.assistant(log.text(words))


def branches(read: Session) -> list[list[str]]:
    return [said(branch.turns) for branch in read.branches]


def test_an_edited_prompt_leaves_a_branch() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    at = log.last
    answered(log.prompt("two"), "2").rewind(at)
    answered(log.prompt("two, edited"), "3")
    read = session(log)
    assert said(read.turns) == ["one", "two, edited"]
    assert branches(read) == [["two"]]
    (branch,) = read.branches
    assert (branch.after, branch.parent, branch.at) == (1, 0, at)
    assert texts(read) == ["1", "3", "2"]


def test_an_answer_made_again_leaves_a_branch_without_a_prompt() -> None:
    log = LogBuilder().prompt("one")
    at = log.last
    answered(log, "first try").rewind(at)
    answered(log, "second try")
    read = session(log)
    assert said(read.turns) == ["one"]
    assert [block.text for block in read.turns[0].blocks if hasattr(block, "text")] == ["second try"]
    assert branches(read) == [[""]]
    assert [message.live for message in read.messages] == [False, True]


def test_a_prompt_edited_twice_leaves_two_branches() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    at = log.last
    for words in ("a", "b", "c"):
        answered(log.rewind(at).prompt(words), words)
    read = session(log)
    assert said(read.turns) == ["one", "c"]
    assert sorted(branches(read)) == [["a"], ["b"]]


def test_an_edit_inside_a_branch_that_is_left_itself_is_a_branch_of_that_branch() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    outer = log.last
    answered(log.prompt("two"), "2")
    inner = log.last
    answered(log.prompt("three"), "3").rewind(inner)
    answered(log.prompt("three again"), "4").rewind(outer)
    answered(log.prompt("two again"), "5")
    read = session(log)
    assert said(read.turns) == ["one", "two again"]
    by_number = {branch.number: branch for branch in read.branches}
    nested = [branch for branch in read.branches if branch.parent]
    assert sorted(words for branch in branches(read) for words in branch) == ["three", "three again", "two"]
    assert len(nested) == 1
    assert by_number[nested[0].parent].parent == 0


def test_a_rewind_to_the_first_prompt_leaves_all_that_was_there() -> None:
    log = answered(answered(LogBuilder().prompt("one"), "1").prompt("two"), "2").rewind(None)
    answered(log.prompt("another one"), "3")
    read = session(log)
    assert said(read.turns) == ["another one"]
    assert branches(read) == [["one", "two"]]


def test_a_cleared_context_is_no_rewind() -> None:
    log = answered(LogBuilder().prompt("one"), "1").command("clear")
    answered(log.rewind(None).prompt("two"), "2")
    read = session(log)
    assert [prompt.text for prompt in prompts(read) if prompt.kind == "text"] == ["one", "two"]
    assert read.branches == ()


def test_results_of_parallel_calls_make_no_branch() -> None:
    log = LogBuilder().prompt("both")
    one, two, three = (log.use("Read", file_path=f"/{name}") for name in "abc")
    log.assistant(log.think(), one, two, three).result(two, "B").result(one, "A").result(three, "C")
    answered(log, "Done.")
    read = session(log)
    assert read.branches == ()
    assert [type(block).__name__ for block in read.turns[0].blocks] == ["Thinking", *["ToolCall"] * 3, "Text"]


def test_progress_attachments_and_hooks_make_no_branch() -> None:
    for version in ("1.0.88", "2.1.33", "2.1.230"):
        log = LogBuilder(version=version).hook("SessionStart", "start.sh").prompt("go")
        use_ = log.use("Bash", command="make")
        log.assistant(use_)
        at = log.last
        log.hook("PostToolUse", "lint.sh").rewind(at).attachment("file", filename="/a").rewind(at)
        log.progress({"type": "bash_progress"}, use_["id"]).rewind(at).result(use_, "ok")
        answered(log, "Done.")
        read = session(log)
        assert read.branches == (), version
        assert said(read.turns)[-1] == "go"


def test_an_error_of_the_api_before_the_real_answer_makes_no_branch() -> None:
    log = LogBuilder().prompt("go")
    at = log.last
    log.synthetic("API Error: 529", isApiErrorMessage=True).rewind(at)
    read = session(answered(log, "Done."))
    assert read.branches == ()
    assert texts(read) == ["Done."]


def test_an_answer_and_a_prompt_below_one_meta_line_make_no_branch() -> None:
    log = LogBuilder().command("review", body="Review all of it.")
    at = log.last
    answered(log, "Reviewed.").rewind(at)
    read = session(answered(log.prompt("go on"), "Done."))
    assert read.branches == ()
    assert texts(read) == ["Reviewed.", "Done."]


def test_a_parent_that_is_missing_is_bridged_to_the_line_before() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    answered(log.rewind("00000000-0000-4000-8000-00000000dead").prompt("two"), "2")
    read = session(log)
    assert said(read.turns) == ["one", "two"]
    assert read.branches == ()


def test_a_line_that_is_its_own_parent_does_no_harm() -> None:
    read = session(jsonl(asked("a", "one", "a"), told("b", "m", [text("1")], "a"), asked("c", "two", "c")))
    assert [prompt.text for prompt in prompts(read)] == ["one", "two"]
    assert texts(read) == ["1"]


def test_lines_that_are_each_others_parents_do_no_harm() -> None:
    read = session(jsonl(asked("a", "one", "c"), told("b", "m", [text("1")], "a"), asked("c", "two", "b")))
    assert sorted(prompt.text for prompt in prompts(read)) == ["one", "two"]
    assert texts(read) == ["1"]


def test_several_roots_that_no_person_typed_are_one_history() -> None:
    log = LogBuilder(version="2.1.33").hook("SessionStart", "a.sh").rewind(None).hook("SessionStart", "b.sh")
    read = session(answered(log.prompt("go"), "1"))
    assert read.branches == ()
    assert [prompt.text for prompt in prompts(read)] == ["go"]


def test_a_clock_that_jumps_back_changes_nothing() -> None:
    log = LogBuilder().prompt("one")
    answered(log.wait(-86_400), "1").wait(-3_600)
    read = session(answered(log.prompt("two"), "2"))
    assert (said(read.turns), texts(read), read.branches) == (["one", "two"], ["1", "2"], ())
    assert read.started is not None
    assert read.ended is not None
    assert read.started < read.ended


def test_lines_in_the_wrong_order_are_one_path_still() -> None:
    log = LogBuilder().prompt("one")
    use_ = log.use("Bash", command="ls")
    log.assistant(use_).result(use_, "a")
    answered(log, "Done.")
    lines = log.to_bytes().splitlines(keepends=True)
    read = session(lines[0] + lines[2] + lines[1] + lines[3])
    assert read.branches == ()
    assert [type(block).__name__ for block in read.turns[0].blocks] == ["ToolCall", "Text"]


def test_a_first_line_that_stands_behind_its_children_makes_no_branch() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    first, *rest = answered(log.prompt("two"), "2").to_bytes().splitlines(keepends=True)
    read = session(b"".join([rest[0], first, *rest[1:]]))
    assert read.branches == ()
    assert sorted(prompt.text for prompt in prompts(read)) == ["one", "two"]


def test_a_queued_prompt_in_the_middle_of_a_turn_makes_no_branch() -> None:
    log = LogBuilder().prompt("go")
    use_ = log.use("Bash", command="make")
    log.assistant(use_)
    at = log.last
    log.queued("and hurry").rewind(at).result(use_, "ok")
    read = session(answered(log, "Done."))
    assert read.branches == ()
    assert sorted(prompt.text for prompt in prompts(read)) == ["and hurry", "go"]


@pytest.mark.parametrize("version", ["1.0.88", "2.0.76", "2.1.20", "2.1.90", "2.1.230", "2.1.300"])
def test_a_long_plain_conversation_has_no_branches_in_any_version(version: str) -> None:
    log = LogBuilder(version=version)
    for number in range(4):
        log.prompt(f"prompt {number}")
        one, two = log.use("Bash", command="a"), log.use("Bash", command="b")
        log.assistant(log.think("hm"), log.text(f"say {number}"), one, two).result(one, "1").result(two, "2")
        answered(log, f"done {number}")
    read = session(log)
    assert read.branches == ()
    assert said(read.turns) == [f"prompt {number}" for number in range(4)]
    assert all(len(turn.blocks) == 5 for turn in read.turns)


def test_a_tree_of_edits_keeps_every_prompt_once() -> None:
    log, numbers = LogBuilder(), count()
    points: list[str | None] = []
    for depth in (0, 1, 2, 0, 1, 1, 2, 0):
        log.rewind(points[depth - 1] if depth else None)
        answered(log.prompt(f"p{next(numbers)}"), "ok")
        points[depth:] = [log.last]
    read = session(log)
    assert sorted(prompt.text for prompt in prompts(read)) == sorted(f"p{number}" for number in range(8))
    assert said(read.turns) == ["p7"]


def test_the_figures_of_an_abandoned_branch_stay_with_it() -> None:
    log = answered(LogBuilder().prompt("one"), "1")
    at = log.last
    use_ = log.prompt("two").use("Bash", command="x")
    log.assistant(use_).result(use_, "boom", error=True).rewind(at)
    read = session(answered(log.prompt("three"), "3"))
    (branch,) = read.branches
    assert branch.turns[0].usage.output > 0
    assert sum(turn.usage.total for turn in (*read.turns, *branch.turns)) == sum(m.usage.total for m in read.messages)
