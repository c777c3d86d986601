"""Things to do."""

from tests.tools.calls import called
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Check, Checklist, Fields
from unspool.model import Todo, Todos

LIST = Todos(
    (
        Todo("a", "completed", "1", task=True),
        Todo("b", "in_progress", "2", owner="bob", blocked_by=("1", "7"), task=True),
        Todo("c", "deleted", "3", task=True),
        Todo("d", "pending", priority="high"),
    )
)
CHECKS = Checklist(
    (
        Check("#1 a", "done"),
        Check("#2 b", "active", "bob · after #1, #7"),
        Check("#3 c", "dropped"),
        Check("d", "open", "high"),
    )
)


def test_a_written_list_tells_what_is_being_done() -> None:
    asked, answer, detail = EXAMPLES["TodoWrite"]
    fold = tools.describe(called("TodoWrite", asked, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("TodoWrite doing a", "0 of 1 done")
    assert fold.children == (Checklist((Check("a", "active"),)),)


def test_a_list_with_nothing_being_done_is_counted() -> None:
    asked = {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "completed"}]}
    fold = tools.describe(called("TodoWrite", asked, "ok"))
    assert (fold.summary, fold.outcome) == ("TodoWrite 2 items", "2 of 2 done")


def test_the_whole_list_as_it_stood_is_shown_where_it_is_known() -> None:
    fold = tools.describe(called("TaskUpdate", {"taskId": "2", "status": "in_progress"}, "ok", meaning=LIST))
    assert (fold.kind, fold.summary, fold.outcome) == ("todos", "TaskUpdate #2 → in_progress", "1 of 3 done")
    assert fold.children == (CHECKS,)


def test_a_new_task_has_the_number_its_result_gave_it() -> None:
    asked, answer, detail = EXAMPLES["TaskCreate"]
    fold = tools.describe(called("TaskCreate", asked, answer, detail=detail))
    assert fold.summary == "TaskCreate #3 a"
    assert fold.children[0] == Fields((("description", "b"),))


def test_another_change_of_a_task_names_what_changed() -> None:
    fold = tools.describe(called("TaskUpdate", {"taskId": 3, "owner": "bob", "addBlocks": ["4"]}, "ok"))
    assert fold.summary == "TaskUpdate #3 → owner, addBlocks"


def test_listed_tasks_are_a_checklist() -> None:
    asked, answer, detail = EXAMPLES["TaskList"]
    fold = tools.describe(called("TaskList", asked, answer, detail=detail, role="todos"))
    assert (fold.kind, fold.summary, fold.outcome) == ("todos", "TaskList 1 task", "0 of 1 done")
    assert fold.children == (Checklist((Check("#3 a", "open", "after #1"),)),)


def test_one_task_looked_at_is_shown() -> None:
    asked, answer, detail = EXAMPLES["TaskGet"]
    assert tools.describe(called("TaskGet", asked, answer, detail=detail)).summary == "TaskGet #3 a"
