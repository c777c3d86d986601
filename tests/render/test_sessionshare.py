"""session-share's document: its ten types of entries, by its schema, in the order of the conversation."""

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from tests.render.build import call, everything, image, message, notice, place, prompt, session, turn
from unspool.demo import write_demo
from unspool.errors import Unreadable
from unspool.model import Image, Plan, Push, Result, Session, Text, Thinking, Todo, Todos, Unknown
from unspool.render.sessionshare import SessionShareWriter, sessionshare_schema
from unspool.render.view import View
from unspool.store.library import Library

TYPES = {
    *("message", "thinking", "tool_call", "summary", "write_file"),
    *("edit_file", "todo_list", "task", "plan", "questionnaire"),
}


def document(one: Session, view: View | None = None) -> Any:
    return msgspec.json.decode(b"".join(SessionShareWriter().chunks(one, view or View())))


def entries(*blocks: Any, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(session(turn(1, "go", *blocks), **more))["entries"]
    assert found[0]["content"] == ["go"]
    return found[1:]


def files() -> list[Any]:
    return [
        call("W", {"file_path": "home/ann/a.py", "content": "x = 1\n"}, role="write"),
        call("E", {"file_path": "elsewhere/b.py", "old_string": "1", "new_string": "2"}, role="edit"),
    ]


def test_what_is_written_fits_the_published_schema() -> None:
    """The schema is valid, and a session that has everything is valid by it and uses all ten types."""
    jsonschema.Draft202012Validator.check_schema(sessionshare_schema())
    whole = everything()
    more = session(*whole.turns, turn(9, "files", *files(), call("T", {"subagent_type": "X"}, role="agent")))
    for one in (whole, more):
        jsonschema.validate(document(one), sessionshare_schema(), jsonschema.Draft202012Validator)
    assert {entry["type"] for entry in document(more)["entries"]} == TYPES


def test_the_schema_refuses_what_is_something_else() -> None:
    """A validator that accepts anything would prove nothing."""
    other = document(everything())
    other["entries"][0]["type"] = "hologram"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(other, sessionshare_schema(), jsonschema.Draft202012Validator)


def test_the_frame_says_whose_session_it_is() -> None:
    """Version, agent, models without what the agent wrote itself, folder, branch and the repository pushed to."""
    push = Push("pull-request", url="https://github.com/ann/shop/pull/3", repository="ann/shop", number=3)
    found = document(
        session(
            agent="some-agent",
            versions=("1.0", "1.1"),
            messages=(message(), message("m2", model="me", synthetic=True)),
            cwd="home/ann",
            branch="main",
            recorded=(push,),
        )
    )
    assert found["schemaVersion"] == "1"
    assert found["agent"] == {"name": "Some Agent", "version": "1.1"}
    assert found["meta"]["models"] == ["sonnet-9"]
    where = {"cwd": "home/ann", "repo": "https://github.com/ann/shop", "gitBranch": "main"}
    assert found["meta"]["environment"] == where
    assert found["entries"] == []


def test_files_are_shown_from_the_folder_of_the_session() -> None:
    """Below it by their relative path, elsewhere by their whole one: never by a name that stands for another file."""
    wrote, edited = entries(*files(), cwd="home/ann")
    assert wrote == {"type": "write_file", "path": "a.py", "content": "x = 1\n"}
    assert edited == {"type": "edit_file", "path": "elsewhere/b.py", "oldContent": "1", "newContent": "2"}


def test_several_pieces_of_one_call_are_several_edits() -> None:
    """Each with what it replaced."""
    pieces = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    found = entries(call("M", {"file_path": "x", "edits": pieces}, role="edit"))
    assert [(entry["oldContent"], entry["newContent"]) for entry in found] == [("a", "b"), ("c", "")]


@pytest.mark.parametrize(
    "given", [{"file_path": "x"}, {"file_path": 3, "new_string": "b"}, {"file_path": "x", "edits": [7]}, "no fields"]
)
def test_an_edit_of_another_shape_is_a_call(given: Any) -> None:
    """Nothing is invented, and nothing is lost."""
    (found,) = entries(call("E", given, role="edit"))
    assert (found["type"], found["input"]) == ("tool_call", given)


def test_an_edit_that_failed_is_a_call_with_an_error() -> None:
    """A file that was not changed is not shown as changed."""
    failed = Result(place(), "c", "no such text", error=True)
    given = {"file_path": "x", "old_string": "a", "new_string": "b"}
    (found,) = entries(call("E", given, role="edit", state="error", result=failed))
    assert found["result"] == {"type": "error", "message": "no such text"}


def test_tasks_of_one_kind_in_a_row_are_one() -> None:
    """Another kind, or anything between them, begins a new one; what the subagents answered is kept."""
    given = [{"subagent_type": kind, "description": words} for kind, words in (("Scout", "a"), ("scout", "b"))]
    first, second = (call("T", one, f"saw {one['description']}", role="agent") for one in given)
    other = call("T", {"prompt": "do it\nwell"}, role="agent")
    found = entries(first, second, other, Text(place(), "so"), first)
    assert [(entry["type"], entry.get("name"), entry["content"]) for entry in found] == [
        ("task", "scout", ["a", "b"]),
        ("task", "task", ["do it"]),
        ("message", None, ["so"]),
        ("task", "scout", ["a"]),
    ]
    assert [one["result"]["text"] for one in found[0]["toolCalls"]] == ["saw a", "saw b"]


def test_results_are_text_data_or_nothing() -> None:
    """Data stands where there are no words; a call without an answer has no result."""
    data = Result(place(), "c", "", detail={"n": 1})
    found = entries(call("A", {}, "words"), call("B", result=data), call("C", {}, None))
    assert [entry.get("result") for entry in found] == [
        {"type": "text", "text": "words"},
        {"type": "json", "data": {"n": 1}},
        None,
    ]


def test_pictures_of_prompts_and_results_are_there() -> None:
    """Those with data as images, others by name."""
    result = Result(place(), "c", "ok", images=(image("shot"),))
    gone = Image(place(), "image/png", path="gone.png")
    asked = prompt("look", images=(image("dot"), gone))
    found = document(session(turn(1, asked, call("R", {}, result=result))))["entries"]
    assert found[0]["content"] == ["look", "[Image: gone.png]"]
    assert [one["label"] for one in found[0]["images"]] == ["dot"]
    assert [one["label"] for one in found[2]["images"]] == ["shot"]


def test_an_accepted_plan_stands_for_its_prompt() -> None:
    """The words that the agent put into the person's mouth are not shown as the person's."""
    plan = Plan("Ship", "# Ship", "approved")
    found = document(session(turn(1, prompt("Implement the following plan:", "plan", plan=plan))))["entries"]
    assert found == [
        {"type": "plan", "status": "approved", "title": "Ship", "content": "# Ship"}
        | {"createdAt": found[0]["createdAt"]}
    ]


def test_states_of_a_list_are_the_three_that_viewers_know() -> None:
    """Anything else is pending."""
    items = tuple(Todo(state, state) for state in ("completed", "in_progress", "deleted", "?"))
    (found,) = entries(call("L", {}, meaning=Todos(items)))
    assert [item["status"] for item in found["todos"]] == ["completed", "in_progress", "pending", "pending"]


def test_an_id_stands_once_and_leads_back() -> None:
    """Further entries of a line name it as their parent; a new line names the one before."""
    blocks = [Text(place(), "a", id="u1"), Thinking(place(), "b", id="u1"), Text(place(), "c", id="u2")]
    found = entries(*blocks)
    assert [(entry.get("id"), entry.get("parentId")) for entry in found] == [
        ("u1", None),
        (None, "u1"),
        ("u2", "u1"),
    ]


def test_notices_are_left_out_unless_they_were_said() -> None:
    """A compaction is a summary, an interruption the person's word; hooks have no place in the document."""
    found = entries(notice("hook"), notice("compaction"), notice("interruption"), notice("api-error"))
    assert [(entry["type"], entry.get("role")) for entry in found] == [
        ("summary", None),
        ("message", "user"),
        ("message", "system"),
    ]


def test_what_the_view_hides_is_left_out() -> None:
    """Turns, thinking and tools, but never plans and questions."""
    found = document(everything(), View(thinking=False, tools=False, turns=((1, 2),)))["entries"]
    kinds = {entry["type"] for entry in found}
    assert {"plan", "questionnaire", "message"} <= kinds
    assert not kinds & {"thinking", "tool_call", "task"}


def test_every_session_of_the_demo_can_be_shown(tmp_path: Path) -> None:
    """Valid by the schema, whatever was done in it; each prompt of the live conversation is there, in order."""
    library = Library([write_demo(tmp_path)])
    for overview in library.overviews():
        one = library.open(overview.id)
        found = document(one)
        jsonschema.validate(found, sessionshare_schema(), jsonschema.Draft202012Validator)
        typed = [turn.prompt.text for turn in one.turns if turn.prompt and turn.prompt.kind == "text"]
        said = [entry["content"][0] for entry in found["entries"] if entry.get("role") == "user" and entry["content"]]
        left = iter(said)
        assert all(text in left for text in typed)


def test_data_nested_too_deeply_is_a_failed_export_with_a_sentence() -> None:
    """JSON that no JSON writer can write is said to be so, with the session's name."""
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(Unreadable, match="s1"):
        document(session(turn(1, "go", Unknown(place(), "x", deep))))
