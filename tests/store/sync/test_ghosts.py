"""Sessions whose logs are gone come back as far as traces tell, and no session that is still known does."""

import json
import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.log_builder.builder import LogBuilder
from tests.thorough import tries
from unspool.store.archive.chain import name_digest, session_lines_name
from unspool.store.archive.line_filter import Tombstones
from unspool.store.library.discover import discover_logs
from unspool.store.sync.ghosts import Ghost, GhostPrompt, KnownSessions, SessionSpan, find_ghosts, session_spans

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
GONE = "0a0a0a0a-1111-4222-8333-444444444444"
OTHER = "0b0b0b0b-1111-4222-8333-444444444444"


def remember(root: Path, *prompts: tuple[str, datetime, str, str]) -> bytes:
    """A list of prompts: text, time, project, session."""
    rows: list[dict[str, Any]] = []
    for text, time, project, session in prompts:
        row = {"display": text, "pastedContents": {}, "timestamp": int(time.timestamp() * 1000), "project": project}
        rows.append({**row, "sessionId": session} if session else row)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    root.mkdir(parents=True, exist_ok=True)
    (root / "projects").mkdir(exist_ok=True)
    (root / "history.jsonl").write_bytes(data)
    return data


def leave(root: Path, name: str, at: datetime = T0, data: str = "content") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)
    os.utime(path, (at.timestamp(), at.timestamp()))


def keys(found: Iterable[Ghost]) -> list[str]:
    return [ghost.key for ghost in found]


def test_a_deleted_session_keeps_its_project_times_and_prompts(tmp_path: Path) -> None:
    later = T0 + timedelta(minutes=5)
    data = remember(tmp_path, ("second", later, "/shop", GONE), ("first", T0, "/shop", GONE))
    (ghost,) = find_ghosts(tmp_path, KnownSessions())
    assert ghost == Ghost(
        GONE,
        "/shop",
        T0,
        later,
        (GhostPrompt("first", T0, data.index(b"\n") + 1), GhostPrompt("second", later, 0)),
    )


def test_a_session_is_a_ghost_only_once_its_log_is_gone_from_source_and_archive(tmp_path: Path) -> None:
    log = LogBuilder(cwd="/shop").prompt("sail")
    path = log.write(tmp_path)
    remember(tmp_path, ("sail", T0, "/shop", log.session_id))
    assert find_ghosts(tmp_path, KnownSessions()) == []
    path.unlink()
    assert keys(find_ghosts(tmp_path, KnownSessions())) == [log.session_id]
    assert find_ghosts(tmp_path, KnownSessions({log.session_id})) == []


def test_a_session_that_runs_and_has_written_nothing_yet_is_none(tmp_path: Path) -> None:
    remember(tmp_path, ("sail", T0, "/shop", GONE))
    note = {"pid": os.getpid(), "sessionId": GONE, "cwd": "/shop"}
    leave(tmp_path, f"sessions/{os.getpid()}.json", data=json.dumps(note))
    assert find_ghosts(tmp_path, KnownSessions()) == []
    leave(tmp_path, f"sessions/{os.getpid()}.json", data=json.dumps({**note, "sessionId": OTHER}))
    assert keys(find_ghosts(tmp_path, KnownSessions())) == [GONE]


def test_what_survives_is_named(tmp_path: Path) -> None:
    remember(tmp_path, ("sail", T0, "/shop", GONE))
    leave(tmp_path, f"file-history/{GONE}/a@v1")
    leave(tmp_path, f"projects/-shop/{GONE}/tool-results/x.txt")
    leave(tmp_path, f"todos/{GONE}-agent-{GONE}.json", data="[]")
    (ghost,) = find_ghosts(tmp_path, KnownSessions())
    assert ghost.survives == (f"file-history/{GONE}", f"projects/-shop/{GONE}")


def test_files_alone_make_a_ghost_where_they_hold_anything(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    leave(tmp_path, f"projects/-shop/{GONE}/subagents/agent-a.jsonl", T0)
    leave(tmp_path, f"tasks/{GONE}/1.json", T0 + timedelta(hours=1))
    leave(tmp_path, f"todos/{OTHER}-agent-{OTHER}.json", data="[]")
    (ghost,) = find_ghosts(tmp_path, KnownSessions())
    assert (ghost.key, ghost.project, ghost.prompts) == (GONE, "-shop", ())
    assert (ghost.started, ghost.ended) == (T0, T0 + timedelta(hours=1))


def test_prompts_without_a_session_are_assumed_to_be_one_a_project_and_day(tmp_path: Path) -> None:
    day = timedelta(days=1)
    remember(
        tmp_path,
        ("a", T0, "/shop", ""),
        ("b", T0 + timedelta(hours=3), "/shop", ""),
        ("c", T0, "/dock", ""),
        ("d", T0 + day, "/shop", ""),
    )
    found = find_ghosts(tmp_path, KnownSessions())
    assert sorted([prompt.text for prompt in ghost.prompts] for ghost in found) == [["a", "b"], ["c"], ["d"]]
    assert all(ghost.assumed for ghost in found)
    assert len(set(keys(found))) == 3
    assert keys(found) == keys(find_ghosts(tmp_path, KnownSessions()))
    assert all("2026-03-0" in key for key in keys(found))


def test_prompts_without_a_session_that_a_known_one_covers_are_its(tmp_path: Path) -> None:
    hour = timedelta(hours=1)
    remember(tmp_path, ("a", T0, "/shop", ""), ("b", T0 + 3 * hour, "/shop", ""), ("c", T0, "/dock", ""))
    known = [SessionSpan("/shop", T0 - hour, T0 + hour), SessionSpan("/dock", None, None)]
    found = find_ghosts(tmp_path, KnownSessions(spans=lambda: known))
    assert sorted(prompt.text for ghost in found for prompt in ghost.prompts) == ["b", "c"]


def test_a_log_that_is_there_covers_its_own_prompts(tmp_path: Path) -> None:
    log = LogBuilder(cwd="/shop", start=T0).prompt("sail").wait(3600)
    log.assistant(log.text("done")).write(tmp_path)
    remember(tmp_path, ("sail", T0, "/shop", ""), ("row", T0 + timedelta(hours=5), "/shop", ""))
    (ghost,) = find_ghosts(tmp_path, KnownSessions(spans=lambda: session_spans(discover_logs([tmp_path]))))
    assert [prompt.text for prompt in ghost.prompts] == ["row"]


def test_spans_are_asked_for_only_where_prompts_name_no_session(tmp_path: Path) -> None:
    remember(tmp_path, ("a", T0, "/shop", GONE))
    assert keys(find_ghosts(tmp_path, KnownSessions(spans=lambda: pytest.fail("asked")))) == [GONE]


def test_the_list_may_be_read_from_the_folder_of_projects(tmp_path: Path) -> None:
    remember(tmp_path, ("a", T0, "/shop", GONE))
    assert keys(find_ghosts(tmp_path / "projects", KnownSessions())) == [GONE]


def test_what_was_forgotten_does_not_come_back(tmp_path: Path) -> None:
    remember(tmp_path, ("a", T0, "/shop", GONE), ("b", T0, "/shop", OTHER))
    leave(tmp_path, f"file-history/{GONE}/a@v1")
    graves = Tombstones(frozenset({name_digest("salt", f"projects/-shop/{GONE}.jsonl")}), ("salt",))
    assert keys(find_ghosts(tmp_path, KnownSessions(graves=graves))) == [OTHER]


def test_files_of_a_forgotten_session_do_not_bring_it_back(tmp_path: Path) -> None:
    remember(tmp_path, ("b", T0, "/shop", OTHER))
    leave(tmp_path, f"file-history/{GONE}/a@v1")
    assert set(keys(find_ghosts(tmp_path, KnownSessions()))) == {OTHER, GONE}
    graves = Tombstones(frozenset({name_digest("salt", session_lines_name("history.jsonl", GONE))}), ("salt",))
    assert keys(find_ghosts(tmp_path, KnownSessions(graves=graves))) == [OTHER]


def test_nothing_is_no_ghost(tmp_path: Path) -> None:
    assert find_ghosts(tmp_path, KnownSessions()) == []
    assert find_ghosts(tmp_path / "nowhere", KnownSessions()) == []


def test_ghosts_come_the_oldest_first_and_undated_ones_last(tmp_path: Path) -> None:
    remember(tmp_path, ("b", T0 + timedelta(days=9), "/shop", OTHER), ("a", T0, "/shop", GONE))
    undated = {"display": "?", "sessionId": "x"}
    with (tmp_path / "history.jsonl").open("ab") as stream:
        stream.write(json.dumps(undated).encode())
    assert keys(find_ghosts(tmp_path, KnownSessions())) == [GONE, OTHER, "x"]


def test_the_cleanup_leaves_a_ghost_of_every_session_it_deletes(tmp_path: Path) -> None:
    """As users find it: logs and their folders deleted, the list of prompts left."""
    logs = [LogBuilder(seed=str(number), cwd=f"/p{number % 3}").prompt(f"task {number}") for number in range(12)]
    for log in logs:
        log.write(tmp_path)
    remember(tmp_path, *((f"task {number}", log.start, log.cwd, log.session_id) for number, log in enumerate(logs)))
    assert find_ghosts(tmp_path, KnownSessions()) == []
    shutil.rmtree(tmp_path / "projects")
    (tmp_path / "projects").mkdir()
    found = {ghost.key: (ghost.project, ghost.prompts[0].text) for ghost in find_ghosts(tmp_path, KnownSessions())}
    assert found == {log.session_id: (log.cwd, f"task {number}") for number, log in enumerate(logs)}


@settings(max_examples=tries(25, 300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 10**6), st.booleans()), max_size=30),
    st.sets(st.integers(0, 5)),
)
def test_every_prompt_is_a_known_sessions_or_one_ghosts(
    tmp_path: Path, typed: list[tuple[int, int, int, bool]], known: set[int]
) -> None:
    """Whatever was typed where and when, and whichever sessions are known: no prompt is lost and none comes twice."""
    ids = [f"{number}a0a0a0a-1111-4222-8333-444444444444" for number in range(6)]
    rows = [
        (f"prompt {at}", T0 + timedelta(seconds=seconds), f"/p{project}", ids[session] if named else "")
        for at, (session, project, seconds, named) in enumerate(typed)
    ]
    remember(tmp_path, *rows)
    found = find_ghosts(tmp_path, KnownSessions({ids[number] for number in known}))
    wanted = [row[0] for row, (session, *_, named) in zip(rows, typed, strict=True) if not (named and session in known)]
    assert sorted(prompt.text for ghost in found for prompt in ghost.prompts) == sorted(wanted)
    assert len({ghost.key for ghost in found}) == len(found)
    for ghost in found:
        times = [prompt.time for prompt in ghost.prompts if prompt.time is not None]
        assert (ghost.started, ghost.ended) == (min(times), max(times))
