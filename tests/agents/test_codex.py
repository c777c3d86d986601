"""Codex rollouts are read: prompts, answers, what happened around them, and tokens by the changed totals."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.codex_rollouts import (
    BEGUN,
    META,
    TURN,
    answer,
    blocks,
    called,
    done,
    notices,
    output,
    prompts,
    read,
    told,
    user,
)
from tests.agents.stories.codex import SESSION, count, item, prompt, record
from unspool.agents.codex import Codex
from unspool.figures import figures
from unspool.figures.context_window import context_window
from unspool.model import Notice, Session, Text, Thinking, ToolCall, Unknown
from unspool.prices import PriceTable
from unspool.prices.table import window_size
from unspool.store.library import Library

ROLLOUT = [
    META,
    record("turn_context", {"model": "gpt-5.5"}),
    item("message", role="user", content=[{"type": "input_text", "text": "<environment_context/>"}]),
    record("event_msg", {"type": "user_message", "message": "Mend the quay\n", "images": []}, 1),
    item("reasoning", summary=[{"type": "summary_text", "text": "Stones first"}], encrypted_content="x"),
    item("function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="c1"),
    item("function_call_output", call_id="c1", output="Process exited with code 2\nOutput:\nno quay"),
    count(110, input_tokens=100, cached_input_tokens=60, output_tokens=10),
    count(110, input_tokens=100, cached_input_tokens=60, output_tokens=10),
    item("message", role="assistant", content=[{"type": "output_text", "text": "It is gone."}]),
    record("event_msg", {"type": "agent_message", "message": "It is gone."}),
    count(240, input_tokens=120, cached_input_tokens=100, output_tokens=10),
    record("event_msg", {"type": "thread_name_updated", "thread_name": "The quay"}),
    item("hologram", shape="ship"),
]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "sessions/2026/04/29" / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in ROLLOUT))
    (shown,) = Library([tmp_path]).overviews()
    assert (shown.id, shown.agent, shown.title, shown.turns) == (SESSION, "codex", "The quay", 1)
    return Library([tmp_path]).open(SESSION)


def test_a_rollout_is_a_session(session: Session) -> None:
    assert [turn.prompt and turn.prompt.text for turn in session.turns] == [None, "Mend the quay"]
    blocks = session.turns[1].blocks
    assert [type(block) for block in blocks] == [Thinking, ToolCall, Text, Unknown]
    call = blocks[1]
    assert isinstance(call, ToolCall)
    assert (call.role, call.input, call.state) == ("shell", {"cmd": "ls"}, "error")
    assert (session.cwd, session.branch, session.versions) == ("/home/ada/quay", "main", ("0.126.0",))


def test_a_total_that_did_not_change_is_counted_once(session: Session) -> None:
    used = figures(session, PriceTable.load()).usage
    assert (used.input, used.output, used.cache_read) == (60, 20, 160)


def test_every_line_is_in_the_ledger_of_lines(session: Session) -> None:
    assert session.lines.total == len(ROLLOUT)
    assert session.lines.problems == 0


def test_the_real_rollouts_are_read_without_a_problem(shared: Path) -> None:
    folder = shared / "corpora" / "codex"
    library = Library([folder])
    logs = library.logs()
    assert {log.agent_id for log in logs} == {"codex"}
    assert len(logs) == len(list(folder.glob("*.jsonl")))
    for log in logs:
        read = library.open(log)
        full = figures(read, PriceTable.load())
        assert (read.problems, full.turns > 5, full.tool_calls > 50) == ((), True, True)
        assert (
            sum(call.state == "unanswered" for turn in read.turns for call in turn.blocks if isinstance(call, ToolCall))
            <= 1
        )
        assert full.usage.total > 100_000


def test_a_codex_home_is_told_from_another_agents(tmp_path: Path) -> None:
    """Others have a folder of that name too, for processes that run."""
    (tmp_path / "sessions").mkdir()
    assert Codex().home(tmp_path) is None
    (tmp_path / "sessions" / "2026").mkdir()
    assert Codex().home(tmp_path) == tmp_path


def test_what_cannot_be_read_beside_it_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / f"{SESSION}.jsonl").mkdir()
    (tmp_path / "rollout-x.jsonl").write_text("")
    assert list(Codex().discover(tmp_path)) == []


def test_a_source_is_not_searched_beyond_where_rollouts_lie(tmp_path: Path) -> None:
    """A log may be named that lies in a large folder, such as a home."""
    name = f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    for place in ("deep/down/below", "archived_sessions", "2026/04/29", "sessions/2026/04/29"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / name).write_text("{}\n")
    found = {Path(log.path).parent.relative_to(tmp_path).as_posix() for log in Codex().discover(tmp_path)}
    assert found == {"archived_sessions", "2026/04/29", "sessions/2026/04/29"}


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [1], {"x": []}, True, "\x1b[31m<script>"])
@pytest.mark.parametrize("kind", ["session_meta", "turn_context", "response_item", "event_msg", "compacted"])
def test_any_value_in_any_field_is_read_and_counted(kind: str, odd: Any, tmp_path: Path) -> None:
    names = ("id", "cwd", "git", "model", "cli_version", "message", "images", "info", "content", "summary", "name",
             "call_id", "arguments", "input", "output", "role", "thread_name")  # fmt: skip
    types = ("user_message", "token_count", "turn_aborted", "thread_name_updated", "message", "reasoning",
             "function_call", "function_call_output", odd)  # fmt: skip
    lines: list[Any] = [{"timestamp": odd, "type": kind, "payload": odd}, {"type": odd, "payload": {}}]
    lines += [{"type": kind, "payload": {**dict.fromkeys(names, odd), "type": one}} for one in types]
    path = tmp_path / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [ROLLOUT[0], *lines]))
    read = Library([tmp_path]).open(SESSION)
    assert read.lines.total == len(lines) + 1
    figures(read, PriceTable.load())


def test_the_bare_lines_of_2025_are_a_session(tmp_path: Path) -> None:
    header = {"id": SESSION, "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {"branch": "main"}}
    bare = [
        user("<environment_context>\n  <cwd>/home/ada/quay</cwd>\n</environment_context>"),
        user("Mend the quay"),
        called("shell"),
        output("ok"),
    ]
    found = read(
        tmp_path,
        header,
        *({"record_type": "state"} if line is None else line["payload"] for line in [None, *bare]),
        begun=[],
    )
    assert prompts(found) == ["Mend the quay"]
    assert found.cwd == "/home/ada/quay"
    assert (found.branch, found.started and found.started.year, len(blocks(found, ToolCall))) == ("main", 2025, 1)
    assert found.turns[-1].prompt is not None
    assert found.turns[-1].prompt.time == found.started


@pytest.mark.parametrize(
    "lines",
    [
        [user("Mend"), told("user_message", message="Mend")],
        [user("Mend"), done("UserMessage", id="u1", content=[{"type": "text", "text": "Mend"}])],
        [told("user_message", message="Mend"), user("Mend")],
        [user("<environment_context>x</environment_context>"), told("user_message", message="Mend")],
    ],
)
def test_a_prompt_is_told_once(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    assert prompts(read(tmp_path, *lines, answer("Done."))) == ["Mend"]


def test_where_no_event_tells_prompts_items_do_and_what_was_put_in_is_none(tmp_path: Path) -> None:
    found = read(tmp_path, user("# AGENTS.md instructions for /x", "Mend"), user("Mend"), answer("Done."), user("Mend"),
                 begun=BEGUN[:1])  # fmt: skip
    assert prompts(found) == ["Mend", "Mend"]
    assert notices(found) == ["environment"]


def test_a_command_that_the_user_ran_is_a_prompt(tmp_path: Path) -> None:
    inner = "<command>\nls\n</command>\n<result>\nExit code: 0\nquay\n</result>"
    (turn,) = read(tmp_path, user(f"<user_shell_command>\n{inner}\n</user_shell_command>")).turns
    assert turn.prompt is not None
    assert (turn.prompt.kind, turn.prompt.text) == ("bash", "ls")
    assert [block.text for block in turn.blocks if isinstance(block, Notice)] == ["Exit code: 0\nquay"]


def test_turns_that_were_taken_back_are_a_branch(tmp_path: Path) -> None:
    typed = [
        [told("task_started", turn_id=f"{TURN[:-1]}{n}"), told("user_message", message=str(n)), answer(f"{n}.")]
        for n in range(4)
    ]
    found = read(tmp_path, *typed[0], *typed[1], *typed[2], told("thread_rolled_back", num_turns=2), *typed[3])
    assert prompts(found) == ["0", "3"]
    assert [[turn.prompt.text for turn in branch.turns if turn.prompt] for branch in found.branches] == [["1", "2"]]
    found = read(tmp_path, *typed[0], *typed[1], *typed[2], told("thread_rolled_back", num_turns=2))
    assert prompts(found) == ["0"]
    assert [[turn.prompt.text for turn in branch.turns if turn.prompt] for branch in found.branches] == [["1", "2"]]


def test_what_happens_around_a_conversation_is_told_once(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        record("compacted", {"message": "", "replacement_history": [{"type": "compaction", "encrypted_content": "x"}]}),
        told("context_compacted"),
        done("ContextCompaction", id="cc1"),
        item("compaction", encrypted_content="x"),
        user("<turn_aborted>\nx</turn_aborted>"),
        told("turn_aborted", turn_id=TURN, reason="interrupted"),
        told("entered_review_mode", user_facing_hint="the quay"),
        told("exited_review_mode", review_output={"overall_explanation": "Sound.", "findings": [{"title": "A crack"}]}),
        item("agent_message", author="/root/stones", recipient="/root", content=[{"type": "encrypted_content"}]),
        record("world_state", {"full": True, "state": {}}),
        record("turn_context", {"turn_id": TURN, "model": "gpt-6"}),
        told("task_complete", turn_id=TURN, last_agent_message="x", error={"message": "no credit"}),
        told("agent_message", message="x"), told("agent_reasoning", text="x"), told("thread_settings_applied"),
    )  # fmt: skip
    assert notices(found) == ["compaction", "interruption", "review", "review", "teammate", "model-switch", "api-error"]
    assert [block.text for block in blocks(found, Notice)][3:5] == ["Sound.\n\n- A crack", "[encrypted]"]
    assert blocks(found, Unknown) == []


def test_a_record_of_tomorrow_is_unknown_whatever_it_is(tmp_path: Path) -> None:
    found = read(tmp_path, record("hologram", {}), told("hologram"), done("Hologram"), item("hologram"))
    assert [block.what.lower() for block in blocks(found, Unknown)] == ["hologram"] * 4


def used(**last: int) -> dict[str, Any]:
    return {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, **last}


def test_a_request_is_counted_once_whether_a_record_or_totals_tell_it(tmp_path: Path) -> None:
    one, two = used(input_tokens=100, output_tokens=10), used(input_tokens=300, output_tokens=20)

    def total(info: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
        return told("token_count", info={"total_token_usage": info, "last_token_usage": last})

    request = record(
        "token_usage_record", {"turn_id": TURN, "response_id": "resp_1", "usage": one, "thread_token_usage": one}
    )
    full = {**used(), "total_tokens": 258400}
    found = read(tmp_path, answer("a"), request, total(one, one), answer("b"), total(two, one), total(two, one),
                 told("token_count", info=None), total(full, full), answer("c"), total(one, two))  # fmt: skip
    usage = figures(found, PriceTable.load()).usage
    assert (usage.input, usage.output, len(found.messages)) == (500, 40, 3)
    assert [message.model for message in found.messages] == ["gpt-5.5"] * 3


def test_reasoning_without_words_is_said_to_be_kept_from_the_log(tmp_path: Path) -> None:
    lines = [
        item("reasoning", summary=[], encrypted_content="gAAAA"),
        item("reasoning", summary=[], content=[{"type": "text", "text": "Why"}]),
    ]
    hidden, shown = blocks(read(tmp_path, *lines), Thinking)
    assert (hidden.redacted, hidden.text, shown.redacted, shown.text) == (True, "", False, "Why")


def test_ids_of_turns_that_others_have_too_are_no_copies(tmp_path: Path) -> None:
    """Numbers are what the server of tools calls its turns."""
    for thread in (SESSION, "019ddaf2-9999-7a63-839e-79f4476f3b44"):
        begun = [record("session_meta", {"id": thread}), told("task_started", turn_id="4")]
        counted = count(110, input_tokens=100, output_tokens=10)
        lines = [*begun, told("user_message", message="Mend"), answer("Done."), counted]
        path = tmp_path / f"rollout-2026-04-29T22-33-39-{thread}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [sum(call.usage.total for call in one.calls) for one in Library([tmp_path]).overviews()] == [110, 110]


def test_the_real_rollouts_of_all_versions_hold_nothing_unknown(shared: Path) -> None:
    library = Library([shared / "corpora" / "agents" / "codex"])
    assert len(library.logs()) == 17
    for log in library.logs():
        found = library.open(log)
        assert (blocks(found, Unknown), found.problems) == ([], ())
        assert prompts(found)
        assert all(call.state != "orphan" for call in blocks(found, ToolCall))


_TABLE = window_size("gpt-5.5")


@pytest.mark.parametrize(
    ("said", "window"), [(258_400, 258_400), (100, _TABLE), (None, _TABLE), ("9", _TABLE), (-5, _TABLE)]
)
def test_the_window_is_as_large_as_the_log_says_where_it_can_be(said: Any, window: int, tmp_path: Path) -> None:
    used = count(110_010, input_tokens=110_000, output_tokens=10)
    used["payload"]["info"]["model_context_window"] = said
    context = record("turn_context", {"model": "gpt-5.5"})
    session = read(tmp_path, META, context, prompt("Mend the quay"), answer("Done."), used)
    assert context_window(session).window == window
