"""Prompts typed while the agent worked are shown once, whichever lines tell of them."""

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import notices, prompts, session
from unspool.model import Session


def working(version: str = "2.1.90") -> LogBuilder:
    log = LogBuilder(version=version).prompt("go")
    return log.assistant(log.text("Working."))


def queued(read: Session) -> list[tuple[str, str]]:
    return [(prompt.kind, prompt.text) for prompt in prompts(read)[1:]]


def test_a_prompt_that_became_the_next_line_is_shown_once() -> None:
    log = working().queue("enqueue", "and tests").queue("dequeue").prompt("and tests")
    assert queued(session(log)) == [("text", "and tests")]


def test_a_prompt_that_was_slipped_into_the_turn_is_a_queued_prompt() -> None:
    log = working().queue("enqueue", "and tests").queue("remove")
    assert queued(session(log.assistant(log.text("Both.")))) == [("queued", "and tests")]


def test_a_record_and_an_attachment_of_one_prompt_are_one() -> None:
    assert queued(session(working("2.1.230").queued("and tests"))) == [("queued", "and tests")]


def test_prompts_leave_the_queue_in_the_order_they_came() -> None:
    log = working().queue("enqueue", "a").queue("enqueue", "b").queue("remove").queue("remove")
    assert queued(session(log)) == [("queued", "a"), ("queued", "b")]


def test_a_removal_that_names_its_text_takes_that_one() -> None:
    log = working().queue("enqueue", "a").queue("enqueue", "b").queue("remove", "b")
    read = session(log)
    assert queued(read) == [("queued", "b")]
    assert [notice.text for notice in notices(read, "queue")] == ["a"]


def test_prompts_put_back_into_the_input_box_begin_no_turn_but_are_kept() -> None:
    read = session(working().queue("enqueue", "a").queue("enqueue", "b").queue("popAll"))
    assert queued(read) == []
    assert [notice.text for notice in notices(read, "queue")] == ["a", "b"]


def test_a_prompt_put_back_and_sent_later_is_shown_once() -> None:
    read = session(working().queue("enqueue", "a").queue("popAll").prompt("a"))
    assert queued(read) == [("text", "a")]
    assert notices(read, "queue") == []


def test_the_same_words_queued_twice_are_two_prompts() -> None:
    log = working().queue("enqueue", "a").queue("enqueue", "a").queue("dequeue").prompt("a").queue("remove")
    assert sorted(queued(session(log))) == [("queued", "a"), ("text", "a")]


def test_a_queued_notice_of_finished_work_is_no_prompt() -> None:
    log = (
        working().queue("enqueue", "<task-notification><status>completed</status></task-notification>").queue("dequeue")
    )
    assert queued(session(log)) == []


def test_a_queued_command_that_was_run_is_shown_once() -> None:
    log = working().queue("enqueue", "/model opus").queue("dequeue").command("model", "opus", stdout="Set")
    assert [prompt.kind for prompt in prompts(session(log))] == ["text", "command"]


def test_taking_from_an_empty_queue_does_no_harm() -> None:
    assert queued(session(working().queue("dequeue").queue("remove").queue("popAll").queue("something-new"))) == []


def test_a_queued_prompt_stands_where_it_was_taken_up() -> None:
    log = working().queue("enqueue", "and tests").queue("remove")
    log.assistant(log.text("Both."))
    read = session(log.prompt("next"))
    assert [turn.prompt.text for turn in read.turns if turn.prompt] == ["go", "and tests", "next"]
