"""Threads of Codex: where their rollouts lie, what they are called, and how forks and subagents are told apart."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.agents.stories.codex import count, item, prompt, record
from tests.app.serving import served
from tests.app.sessions import desk_of, get
from tests.cli.running import run
from unspool.agents.codex import Codex
from unspool.model import Session, ToolCall
from unspool.store.library import Library

PARENT = "019e5615-1ef8-7270-b988-4f52f86449a4"
CHILD = "019e5615-9632-7740-b2cf-3061e4ff06e2"
OTHER = "019e5620-0000-7740-b2cf-3061e4ff06e2"
OLD_TURN = "019e5615-6261-7712-936a-db8c0fca200d"
NEW_TURN = "019e5615-b2e2-72c1-93cc-b14b70334bc5"


def meta(thread: str, **said: Any) -> dict[str, Any]:
    return record("session_meta", {"id": thread, "cwd": "/home/ada/quay", **said})


def begun(turn: str) -> dict[str, Any]:
    return record("event_msg", {"type": "task_started", "turn_id": turn})


def said(words: str) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": words}])


def turn(identity: str, typed: str, answer: str, total: int) -> list[dict[str, Any]]:
    used = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 10}
    return [begun(identity), record("turn_context", {"turn_id": identity, "model": "gpt-5.5"}), prompt(typed),
            said(answer), count(total, **used)]  # fmt: skip


def at(second: int, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines as written at one moment, as copies are."""
    return [line | {"timestamp": f"2026-05-23T18:25:{second:02}.907Z"} for line in lines]


def keep(
    home: Path, thread: str, lines: list[dict[str, Any]], place: str = "sessions/2026/05/23", more: str = ""
) -> Path:
    path = home / place / f"rollout-2026-05-23T18-25-15-{thread}{more}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


ORIGINAL = at(1, [meta(PARENT), *turn(OLD_TURN, "One?", "One.", 110)])


def typed(session: Session) -> list[str]:
    return [one.prompt.text for one in session.turns if one.prompt is not None]


def spent(home: Path) -> dict[str, int]:
    return {one.id: sum(call.usage.total for call in one.calls) for one in Library([home]).overviews()}


def test_what_a_fork_copied_is_told_and_paid_where_it_came_from(tmp_path: Path) -> None:
    keep(tmp_path, PARENT, ORIGINAL)
    copied = at(15, [meta(CHILD, forked_from_id=PARENT), *ORIGINAL])
    keep(tmp_path, CHILD, [*copied, *at(23, turn(NEW_TURN, "Two?", "Two.", 220))])
    assert spent(tmp_path) == {PARENT: 110, CHILD: 110}
    fork = Library([tmp_path]).open(CHILD)
    assert [one.copied for one in fork.turns if one.prompt is not None] == [True, False]
    assert fork.history is not None
    assert (fork.history.session, fork.history.turns, fork.history.usage.total) == (PARENT, 1, 110)
    assert [(link.session, link.relation) for link in fork.links] == [(PARENT, "copied-from")]


def test_two_forks_of_a_thread_that_is_gone_pay_its_history_once(tmp_path: Path) -> None:
    for thread, moment in ((CHILD, 15), (OTHER, 17)):
        copied = at(moment, [meta(thread, forked_from_id=PARENT), *ORIGINAL])
        keep(tmp_path, thread, [*copied, *at(moment + 5, turn(f"{thread[:-1]}0", "Two?", "Two.", 220))])
    assert sum(spent(tmp_path).values()) == 3 * 110


def spawned(*more: dict[str, Any]) -> list[dict[str, Any]]:
    call = item("function_call", name="spawn_agent", namespace="collaboration", call_id="call_spawn",
                arguments='{"task_name":"stones","message":"Count the stones","agent_type":"explorer"}')  # fmt: skip
    return [*ORIGINAL, call, *more]


def subagent(**said: Any) -> dict[str, Any]:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "agent_path": "/root/stones"}}}
    return meta(CHILD, session_id=PARENT, parent_thread_id=PARENT, source=source, **said)


@pytest.mark.parametrize(
    "told",
    [
        record("event_msg", {"type": "sub_agent_activity", "event_id": "call_spawn", "agent_thread_id": CHILD,
                             "agent_path": "/root/stones", "kind": "started"}),
        record("event_msg", {"type": "item_completed", "item": {"type": "CollabAgentToolCall", "id": "call_spawn",
                             "tool": "spawn_agent", "receiver_thread_ids": [CHILD]}}),
        record("event_msg", {"type": "collab_agent_spawn_end", "call_id": "call_spawn", "new_thread_id": CHILD}),
        item("function_call_output", call_id="call_spawn", output=json.dumps({"agent_id": CHILD})),
    ],
)  # fmt: skip
def test_a_subagent_is_listed_below_its_session_and_hangs_from_its_call(told: dict[str, Any], tmp_path: Path) -> None:
    keep(tmp_path, PARENT, spawned(told))
    keep(tmp_path, CHILD, [subagent(), *turn(NEW_TURN, "Count the stones", "Nine.", 110)], "sessions/2026/05/24")
    (log,) = Library([tmp_path]).logs()
    assert [agent.id for agent in log.agents] == [CHILD]
    session = Library([tmp_path]).open(log)
    (agent,) = session.agents
    assert (agent.id, agent.call_id, agent.description) == (CHILD, "call_spawn", "stones")
    (call,) = [block for one in session.turns for block in one.blocks if isinstance(block, ToolCall)]
    assert (call.role, call.agents) == ("agent", (CHILD,))
    assert spent(tmp_path) == {PARENT: 220}


def test_a_subagent_whose_session_is_gone_is_a_session(tmp_path: Path) -> None:
    keep(tmp_path, CHILD, [subagent(), *turn(NEW_TURN, "Count the stones", "Nine.", 110)])
    (log,) = Library([tmp_path]).logs()
    assert (log.session_id, log.owner) == (CHILD, PARENT)
    assert Library([tmp_path]).open(CHILD).kind == "subagent"


def test_what_a_subagent_was_given_of_its_parent_is_neither_shown_nor_counted(tmp_path: Path) -> None:
    own = at(16, turn(NEW_TURN, "Count the stones", "Nine.", 220))
    keep(tmp_path, CHILD, [*at(15, [subagent(), *ORIGINAL]), *own])
    session = Library([tmp_path]).open(CHILD)
    assert typed(session) == ["Count the stones"]
    assert spent(tmp_path) == {CHILD: 110}
    assert session.lines.total == 1 + len(ORIGINAL) + len(own)


def test_copies_without_times_in_their_ids_end_at_the_first_pause(tmp_path: Path) -> None:
    old = [*at(15, [subagent(), meta(PARENT)]), *at(15, turn("3", "One?", "One.", 110))]
    keep(tmp_path, CHILD, [*old, *at(18, turn("4", "Count the stones", "Nine.", 220))])
    assert typed(Library([tmp_path]).open(CHILD)) == ["Count the stones"]


def test_a_paginated_subagent_tells_where_its_own_records_begin(tmp_path: Path) -> None:
    lines = [subagent(history_mode="paginated", subagent_history_start_ordinal=6), *ORIGINAL[1:],
             *turn(NEW_TURN, "Count the stones", "Nine.", 220)]  # fmt: skip
    keep(tmp_path, CHILD, [line | {"ordinal": number} for number, line in enumerate(lines)])
    assert typed(Library([tmp_path]).open(CHILD)) == ["Count the stones"]


def test_subagents_that_name_each_other_as_parents_are_found(tmp_path: Path) -> None:
    source = {"subagent": "review"}
    keep(tmp_path, CHILD, [meta(CHILD, parent_thread_id=OTHER, source=source), prompt("One")])
    keep(tmp_path, OTHER, [meta(OTHER, parent_thread_id=CHILD, source=source), prompt("Two")])
    found = list(Codex().discover(tmp_path))
    assert {one.session_id for one in found} | {agent.id for one in found for agent in one.agents} == {CHILD, OTHER}


def test_a_kept_subagent_is_no_session_beside_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    home = tmp_path / "codex"
    keep(home, PARENT, spawned())
    keep(home, CHILD, [subagent(), *turn(NEW_TURN, "Count the stones", "Nine.", 110)], "sessions/2026/05/24")
    assert run("sync", "-s", str(home), "-q").code == 0
    listed = json.loads(run("list", "-a", "--json", "-s", str(home)).out)
    assert [one["id"] for one in listed["sessions"]] == [PARENT]
    kept = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert kept


def test_the_plain_rollout_counts_where_a_packed_one_lies_beside_it(tmp_path: Path) -> None:
    plain = keep(tmp_path, PARENT, ORIGINAL)
    packed = plain.with_suffix(".jsonl.zst")
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    assert [log.path for log in Codex().discover(tmp_path)] == [str(plain)]
    plain.unlink()
    assert [log.path for log in Codex().discover(tmp_path)] == [str(packed)]
    assert typed(Library([tmp_path]).open(PARENT)) == ["One?"]


def test_a_packed_subagent_is_known_by_its_first_line(tmp_path: Path) -> None:
    keep(tmp_path, PARENT, spawned())
    plain = keep(tmp_path, CHILD, [subagent(), prompt("Count the stones")], "archived_sessions")
    plain.with_suffix(".jsonl.zst").write_bytes(zstandard.compress(plain.read_bytes()))
    plain.unlink()
    (log,) = Codex().discover(tmp_path)
    assert [agent.id for agent in log.agents] == [CHILD]


def test_a_reverted_thread_is_the_same_thread(tmp_path: Path) -> None:
    keep(tmp_path, PARENT, ORIGINAL)
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 3, "end_byte_offset": 900}
    again = [meta(PARENT, history_mode="paginated", history_base=base), *turn(NEW_TURN, "Two?", "Two.", 220)]
    keep(tmp_path, PARENT, at(30, again), more=f"_{OTHER}")
    (log,) = Library([tmp_path]).logs()
    assert (log.session_id, len(log.versions)) == (PARENT, 1)
    assert spent(tmp_path) == {PARENT: 220}


def going_on(home: Path, thread: str, *, base: Path, rollout: str, more: str = "", second: int = 30) -> Path:
    """A thread, or a rollout of one, that goes on after all that another rollout holds."""
    end = base.stat().st_size
    left = at(20, turn(f"{OTHER[:-2]}{second}", "Left?", "Left.", 330))
    base.write_text(base.read_text() + "".join(json.dumps(line) + "\n" for line in left))
    told = {"thread_id": rollout, "end_ordinal_exclusive": 3, "end_byte_offset": end}
    forked = {} if more else {"forked_from_id": rollout}
    lines = [meta(thread, history_mode="paginated", history_base=told, **forked)]
    lines += turn(f"{NEW_TURN[:-2]}{second}", f"At {second}?", "Yes.", 220)
    return keep(home, thread, at(second, lines), f"sessions/2026/05/{second}", more)


def test_the_conversation_that_another_rollout_keeps_is_shown_before_and_counted_there(tmp_path: Path) -> None:
    base = keep(tmp_path, PARENT, ORIGINAL)
    fork = going_on(tmp_path, CHILD, base=base, rollout=PARENT)
    going_on(tmp_path, OTHER, base=fork, rollout=CHILD, second=31)
    session = Library([tmp_path]).open(OTHER)
    assert [(one.id, typed(one)) for one in session.earlier] == [(PARENT, ["One?"]), (CHILD, ["At 30?"])]
    assert typed(session) == ["At 31?"]
    assert spent(tmp_path)[OTHER] == 110
    said = run("show", "--full", OTHER, "-s", str(tmp_path)).out
    assert said.index("Before: prompt 1 of One?") < said.index("One.") < said.index("At 30?") < said.rindex("At 31?")
    assert "Left?" not in said
    run("all", "-s", str(tmp_path), "-o", str(tmp_path / "out"))
    page = next((tmp_path / "out").rglob(f"*{OTHER}*/page-001.html")).read_text()
    assert page.index("One.") < page.index("At 30?") < page.rindex("At 31?")


def test_the_app_shows_the_conversation_that_another_days_rollout_keeps(tmp_path: Path) -> None:
    going_on(tmp_path, CHILD, base=keep(tmp_path, PARENT, ORIGINAL), rollout=PARENT)
    with served(desk_of(tmp_path)) as address:
        page = get(f"{address}/s/{CHILD}/page-001.html").text
    assert page.index("Before: prompt 1 of One?") < page.index("One.") < page.rindex("At 30?")


def test_a_reverted_thread_shows_what_it_went_back_to(tmp_path: Path) -> None:
    base = keep(tmp_path, PARENT, ORIGINAL)
    going_on(tmp_path, PARENT, base=base, rollout=PARENT, more=f"_{OTHER}")
    packed = base.with_suffix(".jsonl.zst")
    packed.write_bytes(zstandard.compress(base.read_bytes()))
    os.utime(packed, (1, 1))
    base.unlink()
    session = Library([tmp_path]).open(PARENT)
    assert [(one.id, typed(one)) for one in session.earlier] == [(PARENT, ["One?"])]
    assert typed(session) == ["At 30?"]


@pytest.mark.parametrize("end", [0, -1, "9", None, 10**40])
def test_a_base_that_says_nothing_or_names_itself_holds_nobody_up(end: Any, tmp_path: Path) -> None:
    base = {"thread_id": CHILD, "end_byte_offset": end}
    keep(tmp_path, CHILD, [meta(CHILD, history_base=base), *turn(NEW_TURN, "Two?", "Two.", 220)])
    for other, named in ((PARENT, OTHER), (OTHER, PARENT)):
        keep(
            tmp_path,
            other,
            [meta(other, history_base=base | {"thread_id": named}), *turn(f"{other[:-1]}0", "Who?", "I.", 110)],
        )
    assert Library([tmp_path]).open(CHILD).earlier == ()
    assert len(Library([tmp_path]).open(PARENT).earlier) <= 1


@pytest.mark.parametrize(
    ("names", "title"),
    [
        ([], "Told by the log"),
        (["Harbour"], "Harbour"),
        (["Harbour", "Quay"], "Quay"),
        (["Harbour", ""], "One?"),
    ],
)
def test_the_last_name_in_the_list_of_names_counts(names: list[str], title: str, tmp_path: Path) -> None:
    keep(
        tmp_path,
        PARENT,
        [*ORIGINAL, record("event_msg", {"type": "thread_name_updated", "thread_name": "Told by the log"})],
    )
    listed = [{"id": PARENT, "thread_name": name, "updated_at": "2026-05-23T18:25:15Z"} for name in names]
    (tmp_path / "session_index.jsonl").write_text("".join(json.dumps(one) + "\n" for one in [*listed, 7, {"id": 3}]))
    assert Library([tmp_path]).open(PARENT).title == title


def test_prompts_outlive_their_rollouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    home = tmp_path / "codex"
    keep(home, PARENT, ORIGINAL)
    lines = [
        {"session_id": OTHER, "ts": 1779560702, "text": "Mend the gone quay"},
        {"session_id": PARENT, "ts": 1, "text": ""},
    ]
    (home / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"session_id": "x", "te')
    (found,) = Codex().prompt_list.prompts(home)
    assert (found.text, found.session_id, found.time and found.time.year) == ("Mend the gone quay", OTHER, 2026)
    assert run("sync", "-s", str(home), "-q").code == 0
    assert "Mend the gone quay" in run("show", OTHER).out
    assert Codex().prompt_list.mentions(b'{"session_id": "x", "te').whole is False


def test_subagents_go_along_with_a_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    home, bundle = tmp_path / "codex", tmp_path / "share.tar"
    keep(
        home,
        PARENT,
        spawned(item("function_call_output", call_id="call_spawn", output=json.dumps({"agent_id": CHILD}))),
    )
    keep(home, CHILD, [subagent(), *turn(NEW_TURN, "Count the stones", "Nine.", 110)], "sessions/2026/05/24")
    assert run("share", PARENT, "-s", str(home), "--bundle", "--yes", "-o", str(bundle)).code == 0
    shared = Library().open(bundle)
    assert [agent.call_id for agent in shared.agents] == ["call_spawn"]
    assert typed(shared.agents[0].session) == ["Count the stones"]
