"""The live path is what the agent itself would load: visible lines in order, parallel results put back."""

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import answer, asked, said, text, use
from tests.reading.reading import jsonl, session


def test_a_plain_conversation_is_live_from_first_to_last() -> None:
    log = LogBuilder().prompt("one")
    use_ = log.use("Bash", command="ls")
    log.assistant(log.think(), use_).result(use_, "a").assistant(log.text("Done."))
    assert list(session(log).live) == [line["uuid"] for line in log.lines if isinstance(line, dict)]


def test_lines_that_a_person_does_not_see_are_not_live() -> None:
    log = (
        LogBuilder().meta("caveat").prompt("one").system("informational", content="x").attachment("file", filename="/a")
    )
    read = session(log.assistant(log.text("1")))
    assert len(read.live) == 2


def test_an_abandoned_branch_is_not_live() -> None:
    log = LogBuilder().prompt("one")
    at = log.last
    log.assistant(log.text("left")).rewind(at).assistant(log.text("kept"))
    assert list(session(log).live) == [at, log.last]


def test_results_of_parallel_calls_are_put_back_behind_their_message() -> None:
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m", [use("t1")], "u"),
            said("b", "m", [use("t2")], "a"),
            asked("r1", [answer("t1")], "a", sourceToolAssistantUUID="a"),
            asked("r2", [answer("t2")], "b", sourceToolAssistantUUID="b"),
            said("c", "m2", [text("Done.")], "r2"),
        )
    )
    assert read.live == ("u", "a", "b", "r1", "r2", "c")


def test_the_last_line_in_the_file_decides_which_path_is_live() -> None:
    log = LogBuilder().prompt("one")
    first = log.last
    log.assistant(log.text("1"))
    tip = log.last
    log.rewind(first).prompt("other").rewind(tip).prompt("on the first path")
    assert log.last in session(log).live
    assert len(session(log).live) == 3


def test_an_empty_log_has_no_live_path() -> None:
    assert session(b"").live == ()
    assert session(jsonl({"type": "tag"})).live == ()


def test_a_line_that_stands_twice_is_loaded_once() -> None:
    twice = said("a", "m", [use("t1")], "u")
    read = session(jsonl(asked("u", "go"), twice, twice, asked("r", [answer("t1")], "a")))
    assert read.live == ("u", "a", "r")


def test_a_result_of_a_call_that_two_messages_made_belongs_to_neither() -> None:
    """Unless it hangs below one of them."""
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m1", [use("t1")], "u"),
            said("b", "m2", [use("t1")], "a"),
            asked("left", "another way", "u"),
            asked("r", [answer("t1")], "left"),
            said("c", "m3", [text("Done.")], "b"),
        )
    )
    assert read.live == ("u", "a", "b", "c")


def test_a_result_that_another_writer_wrote_is_not_put_back() -> None:
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m1", [use("t1")], "u"),
            asked("left", "another way", "u"),
            asked("r", [answer("t1")], "left", sourceToolAssistantUUID="a", agentId="other"),
            said("c", "m3", [text("Done.")], "a"),
        )
    )
    assert read.live == ("u", "a", "c")
