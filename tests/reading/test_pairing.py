"""Calls and results find each other by id wherever they stand; what has no partner is kept and marked."""

from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.lines import answer, asked, said, text, use
from tests.reading.reading import call, calls, jsonl, opened, session

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def asking(version: str = "2.1.230") -> tuple[LogBuilder, dict[str, Any]]:
    log = LogBuilder(version=version).prompt("go")
    return log, log.use("Bash", command="make")


def test_a_result_belongs_to_its_call() -> None:
    log, use_ = asking()
    found = call(session(log.assistant(use_).result(use_, "built", {"stdout": "built"})), "Bash")
    assert found.result is not None
    assert (found.state, found.result.text, found.result.detail) == ("ok", "built", {"stdout": "built"})


def test_an_error_is_an_error() -> None:
    log, use_ = asking()
    assert call(session(log.assistant(use_).result(use_, "Exit code 2", error=True)), "Bash").state == "error"


@pytest.mark.parametrize("version", ["1.0.88", "2.1.230"])
def test_a_refusal_says_what_the_user_wants_instead(version: str) -> None:
    log, use_ = asking(version)
    found = call(session(log.assistant(use_).rejected(use_, "use ninja")), "Bash")
    assert found.result is not None
    assert (found.state, found.result.feedback) == ("rejected", "use ninja")


DENIED = [
    ({"toolDenialKind": "user-rejected"}, "rejected"),
    ({"toolDenialKind": "permission-rule"}, "denied"),
    ({"toolDenialKind": "automode-blocked"}, "denied"),
    ({"toolDenialKind": "automode-unavailable"}, "denied"),
    ({"toolDenialKind": "interrupted"}, "interrupted"),
]


@pytest.mark.parametrize(("extra", "state"), DENIED)
def test_each_way_of_not_running_has_its_state(extra: dict[str, Any], state: str) -> None:
    log, use_ = asking()
    assert call(session(log.assistant(use_).result(use_, "no", error=True, **extra)), "Bash").state == state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("Cancelled: parallel tool call Bash(make) errored", "cancelled"),
        ("[Request interrupted by user for tool use]", "interrupted"),
        ("Permission to use Bash has been denied.", "denied"),
        (REJECTED, "rejected"),
    ],
)
def test_old_logs_tell_the_state_by_the_words_of_the_result(words: str, state: str) -> None:
    log, use_ = asking("2.1.90")
    assert call(session(log.assistant(use_).result(use_, words, error=True)), "Bash").state == state


def test_a_call_without_result_at_the_end_still_runs() -> None:
    log, use_ = asking()
    assert call(session(log.assistant(use_)), "Bash").state == "running"


def test_a_call_without_result_before_an_interruption_was_interrupted() -> None:
    log, use_ = asking()
    assert call(session(log.assistant(use_).interrupt(tool=True)), "Bash").state == "interrupted"


def test_a_call_without_result_in_an_earlier_turn_was_never_answered() -> None:
    log, use_ = asking()
    read = session(log.assistant(use_).prompt("never mind"))
    assert call(read, "Bash").state == "unanswered"


def test_a_result_without_call_is_kept_as_an_orphan() -> None:
    read = session(jsonl(asked("u", "go"), asked("r", [answer("toolu_gone", "left over")], "u")))
    (found,) = calls(read)
    assert found.result is not None
    assert (found.state, found.name, found.call_id, found.result.text) == ("orphan", "", "toolu_gone", "left over")


def test_a_result_that_stands_in_a_later_turn_finds_its_call() -> None:
    log, use_ = asking()
    log.assistant(use_).prompt("and now?").result(use_, "late")
    read = session(log)
    found = call(read, "Bash")
    assert found.result is not None
    assert found.result.text == "late"
    assert found in read.turns[0].blocks


def test_a_result_on_another_branch_finds_its_call() -> None:
    log, use_ = asking()
    at = log.last
    log.assistant(use_)
    log.rewind(at).user([answer(use_["id"], "found")])
    assert call(session(log), "Bash").state == "ok"


def test_a_second_result_replaces_the_first_and_keeps_it() -> None:
    log, use_ = asking()
    log.assistant(use_).result(use_, "first").result(use_, "second")
    found = call(session(log), "Bash")
    assert found.result is not None
    assert (found.result.text, [one.text for one in found.earlier]) == ("second", ["first"])


def test_several_results_on_one_line_each_find_their_call() -> None:
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m", [use("t1"), use("t2")], "u"),
            asked("r", [answer("t2", "two", error=True), answer("t1", "one")], "a"),
        )
    )
    assert [(one.call_id, one.state, one.result and one.result.text) for one in calls(read)] == [
        ("t1", "ok", "one"),
        ("t2", "error", "two"),
    ]


def test_a_call_id_used_twice_gives_each_call_its_own_result() -> None:
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m1", [use("t")], "u"),
            asked("r", [answer("t", "one")], "a"),
            said("b", "m2", [use("t")], "r", request="req_2"),
            asked("s", [answer("t", "two")], "b"),
        )
    )
    assert [one.result.text for one in calls(read) if one.result] == ["one", "two"]


def test_a_result_answers_the_call_of_its_id_that_waits_and_else_the_last_one() -> None:
    read = session(
        jsonl(
            asked("u", "go"),
            said("a", "m1", [use("t")], "u"),
            asked("r", [answer("t", "one")], "a"),
            asked("s", [answer("t", "one again")], "r"),
            said("b", "m2", [use("t")], "s", request="req_2"),
            said("c", "m3", [use("t")], "b", request="req_3"),
            asked("v", [answer("t", "two")], "c"),
        )
    )
    assert [(one.state, one.result and one.result.text) for one in calls(read)] == [
        ("ok", "one again"),
        ("ok", "two"),
        ("running", None),
    ]


def test_calls_without_ids_take_no_results() -> None:
    read = session(
        jsonl(asked("u", "go"), said("a", "m", [use(""), text("x")], "u"), asked("r", [answer("", "whose?")], "a"))
    )
    assert "orphan" in [one.state for one in calls(read)]
    assert len(calls(read)) == 2


def spilling(*, kept: bool) -> LogBuilder:
    log, use_ = asking()
    log.assistant(use_).spilled(use_, "line\n" * 20_000)
    if not kept:
        log.files.clear()
    return log


def test_spilled_output_is_read_back_from_its_file(tmp_path: Path) -> None:
    found = call(opened(tmp_path, spilling(kept=True)), "Bash").result
    assert found is not None
    assert (found.text, found.missing) == ("line\n" * 20_000, False)


def test_spilled_output_whose_file_is_gone_is_marked(tmp_path: Path) -> None:
    found = call(opened(tmp_path, spilling(kept=False)), "Bash").result
    assert found is not None
    assert found.missing
    assert "line" in found.text


def test_a_log_cannot_name_a_file_outside_its_session(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    log, use_ = asking()
    log.assistant(use_).result(use_, "preview", {"persistedOutputPath": f"/x/../{secret}"})
    log.prompt("again").assistant(other := log.use("Read", file_path="/x"))
    log.result(other, "preview", {"persistedOutputPath": "../../../secret.txt"})
    found = calls(opened(tmp_path / "home", log))
    assert [one.result.text for one in found if one.result] == ["preview", "preview"]
