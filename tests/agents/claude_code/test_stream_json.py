"""The output of print mode is read as the session it was."""

from typing import Any

from tests.reading.reading import call, jsonl, notices, prompts, session, texts
from unspool.model import Session, Usage

SID = "5f0c7d1e-0000-4000-8000-000000000001"


def say(identity: str, *content: dict[str, Any], **extra: Any) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": identity,
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": list(content),
    }
    message |= {"stop_reason": None, "usage": {"input_tokens": 10, "output_tokens": 4}}
    return {
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": None,
        "session_id": SID,
        "uuid": f"u-{identity}-{len(str(content))}",
        **extra,
    }


def hear(*content: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": list(content)},
        "parent_tool_use_id": None,
        "session_id": SID,
        "uuid": f"u{len(str(content))}",
        **extra,
    }


USE = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "Task",
    "input": {"prompt": "Look", "description": "d", "subagent_type": "Explore"},
}
INNER = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls"}}


def streamed() -> Session:
    return session(
        jsonl(
            {
                "type": "system",
                "subtype": "init",
                "cwd": "/p",
                "tools": ["Bash"],
                "model": "claude-opus-4-8",
                "session_id": SID,
                "uuid": "i",
            },
            hear({"type": "text", "text": "Do it"}),
            say("msg_1", {"type": "text", "text": "On it."}),
            say("msg_1", USE),
            hear({"type": "text", "text": "Look"}, parent_tool_use_id="toolu_1"),
            say("msg_2", INNER, parent_tool_use_id="toolu_1"),
            hear({"type": "tool_result", "tool_use_id": "toolu_2", "content": "a"}, parent_tool_use_id="toolu_1"),
            hear(
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found a"},
                tool_use_result={"status": "completed"},
            ),
            say("msg_3", {"type": "text", "text": "Done."}),
            {"type": "stream_event", "event": {}, "session_id": SID},
            {
                "type": "result",
                "subtype": "success",
                "session_id": SID,
                "total_cost_usd": 0.25,
                "usage": {"input_tokens": 999},
                "num_turns": 2,
            },
        )
    )


def test_the_words_and_the_call_are_one_message_of_one_headless_session() -> None:
    read = streamed()
    assert (read.kind, read.cwd) == ("headless", "/p")
    assert texts(read) == ["On it.", "Done."]
    assert [message.id for message in read.messages] == ["msg_1", "msg_3"]
    assert read.branches == ()


def test_the_prompt_is_the_persons() -> None:
    assert [prompt.text for prompt in prompts(streamed())] == ["Do it"]


def test_a_result_finds_its_call_and_its_structured_twin() -> None:
    found = call(streamed(), "Task")
    assert found.result is not None
    assert (found.state, found.result.text, found.result.detail) == ("ok", "found a", {"status": "completed"})


def test_lines_of_a_subagent_hang_at_the_call_they_name() -> None:
    read = streamed()
    (agent,) = read.agents
    assert (agent.call_id, agent.kind) == ("toolu_1", "Explore")
    assert call(agent.session, "Bash").state == "ok"
    assert call(read, "Task").agents == (agent.id,)


def test_the_last_line_tells_the_cost_and_adds_no_tokens() -> None:
    read = streamed()
    assert read.reported_cost == "0.25"
    usage = sum((message.usage for message in read.messages), Usage())
    assert usage.input == 20


def test_how_the_session_was_set_up_is_a_notice() -> None:
    (found,) = notices(streamed(), "init")
    assert found.facts["tools"] == ["Bash"]
