"""Chats for training: what is said, in the shape that trainers want; what is left out is counted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.render.build import call, everything, message, prompt, session, turn
from tests.render.build import place as at
from tests.render.exchange.given import WHOLE, damaged, demo, exported, real_logs, rows
from tests.thorough import THOROUGH
from unspool.agents.openai_messages import NO_OUTPUT
from unspool.model import Notice, Result, Session, Text, Thinking
from unspool.render.exchange.messages import MessagesWriter, left_out_counts
from unspool.render.view import View
from unspool.store.library import Library


def chat(*blocks: Any, asked: str = "Mend the quay") -> Session:
    return session(turn(1, asked, *blocks), messages=(message(),))


def told(one: Session, folder: Path, name: str = "messages", view: View = WHOLE) -> dict[str, Any]:
    return rows(exported(one, name, folder, view))[0]


SPOKEN = (
    Thinking(at(3), "Stones first", "m1"),
    Text(at(4), "I look.", "m1"),
    call("Bash", {"command": "ls"}, "quay.py", call_id="c1"),
    call("Bash", {"command": "make"}, None, call_id="c2"),
    Text(at(6), "Done.", "m2"),
)


def test_a_chat_has_words_thoughts_calls_and_answers_in_their_order(tmp_path: Path) -> None:
    row = told(chat(*SPOKEN), tmp_path)
    first, second = (
        {"id": name, "type": "function", "function": {"name": "Bash", "arguments": {"command": command}}}
        for name, command in (("c1", "ls"), ("c2", "make"))
    )
    assert row["messages"] == [
        {"role": "user", "content": "Mend the quay"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "Stones first", "tool_calls": [first, second]},
        {"role": "tool", "tool_call_id": "c1", "name": "Bash", "content": "quay.py"},
        {"role": "tool", "tool_call_id": "c2", "name": "Bash", "content": NO_OUTPUT},
        {"role": "assistant", "content": "Done."},
    ]
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    inner = {"name": "Bash", "description": "", "parameters": schema}
    assert row["tools"] == [{"type": "function", "function": inner}]


def test_arguments_are_a_string_where_the_api_wants_one() -> None:
    (line, _) = MessagesWriter(arguments="string").chunks(chat(*SPOKEN), WHOLE)
    given = json.loads(line)["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(given) == {"command": "ls"}


def test_sharegpt_takes_turns(tmp_path: Path) -> None:
    """Thoughts and words beside calls stand before them; several calls are a list, their answers one observation."""
    row = told(chat(*SPOKEN), tmp_path, "sharegpt")
    calls = [{"name": "Bash", "arguments": {"command": word}} for word in ("ls", "make")]
    asked = "<think>\nStones first\n\nI look.\n</think>\n\n" + json.dumps(calls, separators=(",", ":"))
    assert [(one["from"], one["value"]) for one in row["conversations"]] == [
        ("human", "Mend the quay"),
        ("function_call", asked),
        ("observation", f"quay.py\n\n{NO_OUTPUT}"),
        ("gpt", "Done."),
    ]
    assert [one["name"] for one in json.loads(row["tools"])] == ["Bash"]


def test_every_sharegpt_line_takes_turns_and_ends_with_an_answer(tmp_path: Path) -> None:
    """As LLaMA-Factory wants it, whatever the log holds."""
    for one in (*demo(tmp_path / "demo"), *damaged(tmp_path / "torn", 24), everything()):
        for row in rows(exported(one, "sharegpt", tmp_path)):
            who = [turn["from"] for turn in row["conversations"] if turn["from"] != "system"]
            assert {*who[::2]} <= {"human", "observation"}
            assert {*who[1::2]} <= {"gpt", "function_call"}
            assert len(who) % 2 == 0


def test_what_the_model_was_sent_is_there_and_can_be_left_out(tmp_path: Path) -> None:
    """A system prompt is the first message; a notice for the person alone is no part of a chat."""
    notices = (
        Notice(at(2), "system-prompt", "You mend quays.", {"tools": [{"name": "Bash", "input_schema": {"x": 1}}]}),
        Notice(at(3), "reminder", "Mind the tide."),
        Notice(at(3), "duration", "took 3 s"),
    )
    one = chat(*notices, Text(at(4), "Aye.", "m1"))
    row = told(one, tmp_path)
    assert [(m["role"], m["content"]) for m in row["messages"]] == [
        ("system", "You mend quays."),
        ("user", "Mend the quay\n\nMind the tide."),
        ("assistant", "Aye."),
    ]
    assert row["tools"][0]["function"]["parameters"] == {"x": 1}
    assert left_out_counts(one, WHOLE) == {"notices": 1}
    bare = told(one, tmp_path, view=msgspec.structs.replace(WHOLE, notices=False))
    assert [m["role"] for m in bare["messages"]] == ["user", "assistant"]


def test_copied_turns_left_branches_and_false_answers_are_left_out_and_counted(tmp_path: Path) -> None:
    one = everything()
    words = json.dumps(told(one, tmp_path)["messages"])
    assert "This was taken back." not in words
    counts = left_out_counts(one, WHOLE)
    assert counts["answers taken back"] == 1
    assert counts["branches"] == len(one.branches) > 0
    copied = msgspec.structs.replace(one, turns=tuple(msgspec.structs.replace(t, copied=True) for t in one.turns))
    assert left_out_counts(copied, WHOLE)["copied turns"] == len(one.turns)
    assert told(copied, tmp_path)["messages"] == []


def test_a_subagent_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    found = rows(exported(everything(), "messages", tmp_path))
    inner = [row["metadata"]["subagent"]["id"] for row in found if row["metadata"]["subagent"]]
    assert inner == ["a1", "a2", "a3"]
    alone = exported(everything(), "messages", tmp_path, msgspec.structs.replace(WHOLE, agents=False))
    assert len(rows(alone)) == 1


def test_a_chat_is_cut_where_it_was_compacted() -> None:
    """The summary opens the next part; what was used adds up to the same."""
    before, after = Text(at(3), "Half.", "m1"), Text(at(6), "Whole.", "m2")
    compacted = (Notice(at(4), "compaction", "compacted"), Notice(at(5), "summary", "The quay is half mended."))
    one = session(turn(1, "Mend", before, *compacted, after), messages=(message("m1"), message("m2")))
    lines = b"".join(MessagesWriter(split=True).chunks(one, WHOLE)).splitlines()
    parts = [json.loads(line) for line in lines]
    said = [[(m["role"], m["content"]) for m in part["messages"]] for part in parts]
    assert said == [
        [("user", "Mend"), ("assistant", "Half.")],
        [("user", "The quay is half mended."), ("assistant", "Whole.")],
    ]
    assert [part["metadata"]["part"] for part in parts] == [1, 2]
    (whole,) = (json.loads(line) for line in MessagesWriter().chunks(one, WHOLE) if line.strip())
    used = [part["metadata"]["usage"]["output"] for part in (*parts, whole)]
    assert used[0] + used[1] == used[2] == 1800


def test_what_no_answer_shows_is_a_lost_result_not_a_lie(tmp_path: Path) -> None:
    """A call that was refused says why; a result that is no text is told as data."""
    refused = Result(at(5), "c1", "", error=True, denial="user-rejected", feedback="not today")
    odd = Result(at(5), "c2", "", parts=({"type": "chart"},))
    blocks = (call("A", {}, call_id="c1", result=refused), call("B", 7, call_id="c2", result=odd))
    found = told(chat(*blocks), tmp_path)["messages"]
    assert [m["content"] for m in found if m["role"] == "tool"] == ["not today", '[{"type":"chart"}]']
    assert found[1]["tool_calls"][1]["function"]["arguments"] == {"input": 7}


def again(path: Path, name: str, folder: Path) -> tuple[Session, bytes]:
    """What a file says when it is read, and written once more."""
    read = Library([path.parent]).open(path)
    return read, exported(read, name, folder).read_bytes()


def test_what_was_exported_is_read_back_and_exported_the_same(tmp_path: Path) -> None:
    given = (*demo(tmp_path / "demo"), *damaged(tmp_path / "torn", 400 if THOROUGH else 32), everything())
    for number, one in enumerate(given):
        path = exported(one, "messages", tmp_path / f"a{number}")
        if rows(path)[0]["messages"]:
            read, data = again(path, "messages", tmp_path / f"b{number}")
            assert data == path.read_bytes(), one.log.path
            assert read.title == one.title


def test_real_logs_are_read_back_and_exported_the_same(shared: Path, tmp_path: Path) -> None:
    for number, (library, log) in enumerate(real_logs(shared)):
        path = exported(library.open(log), "messages", tmp_path / f"a{number}")
        if rows(path)[0]["messages"]:
            assert again(path, "messages", tmp_path / f"b{number}")[1] == path.read_bytes(), log.path


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    nasty = '</think> {"name": "x"} \x1b[2J <|im_start|> \u202e "'
    row = told(session(turn(1, prompt(nasty), Text(at(3), nasty, "m1")), messages=(message(),)), tmp_path)
    assert [m["content"] for m in row["messages"]] == [nasty, nasty]


@pytest.mark.parametrize(
    "line", [{"messages": 7}, {"messages": [7, None, {"role": []}]}, {"messages": [{"role": "user", "content": {}}]}]
)
def test_rows_of_another_shape_are_kept(line: Any, tmp_path: Path) -> None:
    good = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Aye"}]}
    path = tmp_path / "x.messages.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(line) + "\n")
    read = Library([tmp_path]).open(path)
    assert read.lines.total == 2
    assert read.problems == ()


def test_a_file_of_one_message_a_line_is_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role":"user","content":"Hello"}\n{"role":"assistant","content":"Aye"}\n')
    read = Library([tmp_path]).open(path)
    (only,) = read.turns
    assert only.prompt is not None
    assert (read.agent, only.prompt.text, len(only.blocks)) == ("messages", "Hello", 1)
