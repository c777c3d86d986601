"""One todo list, whatever wrote it, as it stood after each call."""

from typing import Any

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session, todos


def written(log: LogBuilder, *items: tuple[str, str]) -> LogBuilder:
    listed = [{"content": text, "status": status, "activeForm": f"{text}ing"} for text, status in items]
    return log.call(
        "TodoWrite", {"todos": listed}, "Todos have been modified successfully", {"oldTodos": [], "newTodos": listed}
    )


def created(log: LogBuilder, identity: str, subject: str, **more: Any) -> LogBuilder:
    detail = {"task": {"id": identity, "subject": subject}}
    return log.call(
        "TaskCreate",
        {"subject": subject, "description": "d", **more},
        f"Task #{identity} created successfully: {subject}",
        detail,
    )


def updated(log: LogBuilder, identity: str, **fields: Any) -> LogBuilder:
    return log.call(
        "TaskUpdate", {"taskId": identity, **fields}, f"Updated task #{identity}", {"success": True, "taskId": identity}
    )


def test_a_written_list_replaces_the_one_before() -> None:
    log = LogBuilder(version="2.0.76").prompt("go")
    written(log, ("a", "pending"), ("b", "pending"))
    written(log, ("a", "completed"), ("c", "in_progress"))
    read = session(log)
    assert todos(read) == [[("a", "pending"), ("b", "pending")], [("a", "completed"), ("c", "in_progress")]]
    assert [(item.text, item.status, item.active, item.task) for item in read.todos.items] == [
        ("a", "completed", "aing", False),
        ("c", "in_progress", "cing", False),
    ]


def test_tasks_take_their_ids_from_results() -> None:
    log = LogBuilder().prompt("go")
    created(log, "1", "a", activeForm="doing a")
    created(log, "2", "b")
    updated(log, "2", status="in_progress", owner="ann")
    updated(log, "1", status="completed")
    read = session(log)
    assert [(item.id, item.text, item.status, item.owner, item.task) for item in read.todos.items] == [
        ("1", "a", "completed", "", True),
        ("2", "b", "in_progress", "ann", True),
    ]
    assert todos(read)[2] == [("a", "pending"), ("b", "in_progress")]


def test_a_deleted_task_is_gone() -> None:
    log = LogBuilder().prompt("go")
    created(log, "1", "a")
    created(log, "2", "b")
    updated(log, "1", status="deleted")
    assert [item.id for item in session(log).todos.items] == ["2"]


def test_dependencies_are_gathered() -> None:
    log = LogBuilder().prompt("go")
    created(log, "1", "a")
    created(log, "2", "b")
    updated(log, "2", addBlockedBy=["1"])
    updated(log, "2", addBlockedBy=["1", "0"], addBlocks=["3"], subject="b2")
    item = session(log).todos.items[1]
    assert (item.text, item.blocked_by, item.blocks) == ("b2", ("1", "0"), ("3",))


def test_an_update_that_failed_changes_nothing() -> None:
    log = LogBuilder().prompt("go")
    created(log, "1", "a")
    log.failed("TaskUpdate", {"taskId": "1", "status": "completed"}, "Task not found")
    assert [item.status for item in session(log).todos.items] == ["pending"]


def test_looking_at_tasks_changes_nothing() -> None:
    log = LogBuilder().prompt("go")
    created(log, "1", "a")
    log.call("TaskList", {}, "#1 [pending] a", {"tasks": []}).call("TaskGet", {"taskId": "1"}, "a", {"task": None})
    read = session(log)
    assert len(todos(read)) == 1
    assert [item.text for item in read.todos.items] == ["a"]


def test_a_written_list_and_tasks_live_side_by_side() -> None:
    log = LogBuilder(version="2.1.33").prompt("go")
    created(log, "1", "task")
    written(log, ("todo", "pending"))
    written(log, ("todo", "completed"))
    assert sorted((item.text, item.status) for item in session(log).todos.items) == [
        ("task", "pending"),
        ("todo", "completed"),
    ]


def test_a_task_whose_result_is_missing_is_kept() -> None:
    log = LogBuilder().prompt("go")
    log.assistant(log.use("TaskCreate", subject="a", description="d"))
    assert [item.text for item in session(log).todos.items] == ["a"]


def test_an_emptied_list_is_empty() -> None:
    log = LogBuilder(version="2.0.76").prompt("go")
    written(log, ("a", "pending"))
    read = session(written(log))
    assert read.todos.items == ()
    assert todos(read)[-1] == []


def test_a_list_that_was_refused_is_not_taken_over() -> None:
    log = LogBuilder(version="2.0.76").prompt("go")
    written(log, ("a", "pending"))
    use = log.use("TodoWrite", todos=[{"content": "b", "status": "pending"}])
    log.assistant(use).result(use, "InputValidationError: TodoWrite failed", error=True)
    assert [item.text for item in session(log).todos.items] == ["a"]


def test_a_task_that_could_not_be_made_is_not_taken_over() -> None:
    log = LogBuilder().prompt("go")
    log.failed("TaskCreate", {"subject": "a", "description": "d"}, "InputValidationError")
    assert session(log).todos.items == ()
