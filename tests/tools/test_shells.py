"""Work in the background."""

from tests.tools.calls import called
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Code, Fields, Prose, Span, Terminal


def test_output_of_a_shell_comes_with_its_status_and_exit_code() -> None:
    asked, answer, detail = EXAMPLES["BashOutput"]
    fold = tools.describe(called("BashOutput", asked, answer, detail={**detail, "command": "make"}))
    assert (fold.summary, fold.outcome) == ("BashOutput b1 make", "completed · exit 2 · 3 lines")
    assert fold.children == (Terminal((Span("a\nb"),), exit_code=2), Terminal((Span("c"),)))


def test_output_of_a_task_comes_with_its_answer() -> None:
    asked, answer, detail = EXAMPLES["TaskOutput"]
    fold = tools.describe(called("TaskOutput", asked, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("TaskOutput t1", "completed · exit 0 · 1 line")
    assert fold.children == (Fields((("block", "true"),)), Terminal((Span("x"),), exit_code=0), Prose("done"))


def test_a_stopped_task_says_what_it_was() -> None:
    asked, _, detail = EXAMPLES["TaskStop"]
    fold = tools.describe(called("TaskStop", asked, "gone", detail=detail))
    assert (fold.summary, fold.outcome) == ("TaskStop t1 sleep 5", "stopped")


def test_a_watched_command_is_shown_with_its_task() -> None:
    asked = {"description": "CI", "command": "gh run watch", "timeout_ms": 1}
    fold = tools.describe(called("Monitor", asked, "", detail={"taskId": "t1", "timeoutMs": 60000}))
    assert (fold.summary, fold.outcome) == ("Monitor CI", "task t1 · 1 m")
    assert fold.children[0] == Code("gh run watch", "bash")
