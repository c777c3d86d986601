"""What lies beside a log goes along with a copy, under its id, and nothing else does."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from unspool.store.library import open_session

VERSIONS = ("2.0.60", "2.1.30", "2.1.230")


def made(version: str = "2.1.230", session: str = "") -> LogBuilder:
    """A session with a subagent, a spilled result, a file's history and a todo list."""
    log = LogBuilder(version=version, session_id=session)
    use = log.agent_use("Explore", "Look around", "Look.")
    log.prompt("Look around, please.").assistant(use)
    log.subagent(use, "Explore", "Look around", lambda child: child.assistant(child.text("Nothing there.")))
    log.assistant(log.text("There is nothing.")).snapshot("tides.py")
    log.file(f"{log.folder}/{log.session_id}/tool-results/out.txt", b"spilled\n")
    return log.file(f"todos/{log.session_id}-agent-{log.session_id}.json", b"[]")


def cloned(*arguments: str) -> dict[str, Any]:
    done = run("clone", *arguments, "--preset", "none", "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def paths(told: dict[str, Any]) -> list[Path]:
    return [Path(one["path"]) for one in told["files"]]


def named(told: dict[str, Any], pattern: str) -> Path:
    (found,) = [path for path in paths(told) if path.match(pattern)]
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_subagents_go_along_from_wherever_a_version_laid_them(home: Path, version: str) -> None:
    log = made(version).write(home / ".claude")
    told = cloned(log.stem)
    agent = named(told, "agent-a*.jsonl")
    assert agent.parent == log.parent / told["session"] / "subagents"
    lines = [json.loads(line) for line in agent.read_bytes().splitlines()]
    assert {line["sessionId"] for line in lines} == {told["session"]}
    assert {line["isSidechain"] for line in lines} == {True}
    read = open_session(told["session"])
    assert [one.session.turns[0].prompt.text for one in read.agents if one.session.turns[0].prompt] == ["Look."]


def test_the_ids_of_a_subagents_lines_are_new_and_tied_as_before(home: Path) -> None:
    log = made().write(home / ".claude")
    before = [json.loads(line) for line in next(log.parent.rglob("agent-a*.jsonl")).read_bytes().splitlines()]
    after = [json.loads(line) for line in named(cloned(log.stem), "agent-a*.jsonl").read_bytes().splitlines()]
    new = {old["uuid"]: line["uuid"] for old, line in zip(before, after, strict=True)}
    assert not set(new) & set(new.values())
    assert [line["parentUuid"] for line in after] == [new.get(old["parentUuid"]) for old in before]
    assert [line["message"] for line in after] == [old["message"] for old in before]


def test_torn_and_repeated_lines_of_a_subagent_stay_behind(home: Path) -> None:
    log = made().write(home / ".claude")
    agent = next(log.parent.rglob("agent-a*.jsonl"))
    whole = agent.read_bytes()
    agent.write_bytes(whole + whole.splitlines(keepends=True)[-1] + whole[:40] + b"\n\0\0\0\n" + b'{"type":"us')
    copied = named(cloned(log.stem), "agent-a*.jsonl").read_bytes()
    assert len(copied.splitlines()) == len(whole.splitlines())


def test_helpers_that_repeat_the_conversation_get_ids_of_their_own(home: Path) -> None:
    """A compaction's helper holds the main log's lines under their ids."""
    log = made().write(home / ".claude")
    helper = log.parent / log.stem / "subagents" / "agent-acompact-1a2b.jsonl"
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    helper.write_text("".join(json.dumps({**line, "isSidechain": True}) + "\n" for line in lines if "uuid" in line))
    told = cloned(log.stem)
    main = {json.loads(line).get("uuid") for line in paths(told)[0].read_bytes().splitlines()}
    own = {json.loads(line)["uuid"] for line in named(told, "agent-acompact-*").read_bytes().splitlines()}
    assert not main & own
    assert not {line.get("uuid") for line in lines} & own


def test_other_files_are_the_same_bytes(home: Path) -> None:
    log = made().write(home / ".claude")
    journal = log.parent / log.stem / "subagents" / "journal.jsonl"
    journal.write_bytes(b'{"key":"v2:1","agentId":"a1"}\nnot json\n')
    told = cloned(log.stem)
    assert named(told, "journal.jsonl").read_bytes() == journal.read_bytes()
    assert named(told, "out.txt").read_bytes() == b"spilled\n"
    assert named(told, "todos/*.json").name == f"{told['session']}-agent-{told['session']}.json"


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    log = made().write(home / ".claude")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"secret")
    own = log.parent / log.stem
    (own / "tool-results" / "link.txt").symlink_to(secret / "key")
    (own / "folder").symlink_to(secret)
    os.mkfifo(own / "pipe")
    told = cloned(log.stem)
    assert not [path for path in paths(told) if path.name in ("link.txt", "key", "pipe")]


def test_an_agents_folder_that_is_itself_a_link_is_no_obstacle(home: Path, tmp_path: Path) -> None:
    made().write(tmp_path / "dotfiles")
    (home / ".claude").symlink_to(tmp_path / "dotfiles")
    (log,) = (home / ".claude").glob("projects/*/*.jsonl")
    assert named(cloned(log.stem), "out.txt").read_bytes() == b"spilled\n"


def test_drop_side_leaves_all_of_them(home: Path) -> None:
    log = made().write(home / ".claude")
    assert len(paths(cloned(log.stem, "--drop-side", "--drop-snapshots"))) == 1


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    """The copy fails as a whole, and says how to do without."""
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    log = made().write(home / ".claude")
    (log.parent / log.stem / "tool-results" / "out.txt").chmod(0)
    done = run("clone", log.stem)
    assert done.code == 5
    assert "out.txt" in done.err
    assert "--drop-side" in done.err
    assert list(log.parent.glob("*.jsonl")) == [log]


def test_into_a_folder_goes_what_is_beside_the_log(home: Path, tmp_path: Path) -> None:
    """File history belongs to the agent's folder: neither its files nor its lines go elsewhere."""
    log = made().write(home / ".claude")
    told = cloned(log.stem, "-o", str(tmp_path))
    assert named(told, "out.txt") == tmp_path / told["session"] / "tool-results" / "out.txt"
    assert all(path.is_relative_to(tmp_path) for path in paths(told))
    assert b"file-history" not in paths(told)[0].read_bytes()


def test_to_a_file_goes_the_log_alone(home: Path, tmp_path: Path) -> None:
    log = made().write(home / ".claude")
    target = tmp_path / "copy.jsonl"
    assert paths(cloned(log.stem, "-o", str(target))) == [target]


def test_file_history_goes_along_where_its_files_do(home: Path) -> None:
    builder = made()
    builder.file(f"file-history/{builder.session_id}/abc@v1", b"before\n")
    log = builder.write(home / ".claude")
    told = cloned(log.stem)
    assert named(told, "abc@v1") == home / ".claude" / "file-history" / told["session"] / "abc@v1"
    assert b"file-history-snapshot" in paths(told)[0].read_bytes()
    dropped = cloned(log.stem, "--drop-snapshots")
    assert not [path for path in paths(dropped) if "file-history" in str(path)]
    assert b"file-history-snapshot" not in paths(dropped)[0].read_bytes()


@pytest.mark.parametrize("session", ["todos", "s", "file-history", "no-uuid_at.all"])
def test_ids_of_any_shape(home: Path, session: str) -> None:
    log = made(session=session).write(home / ".claude")
    told = cloned(str(log))
    assert named(told, "out.txt").is_file()
    assert told["source"] == session
    assert (home / ".claude" / "todos" / f"{told['session']}-agent-{told['session']}.json").is_file()


def test_notes_of_the_agent_on_the_one_session_stay_behind(home: Path) -> None:
    """Its title, where its log is up to, what would be told of it: they are true of no copy."""
    log = made().write(home / ".claude")
    for name in ("custom-title.json", "precompact.json", "resume-head.jsonl"):
        (log.parent / log.stem / name).write_bytes(b'{"customTitle":"Tides"}\n')
    told = cloned(log.stem)
    assert [path for path in paths(told) if path.parent.name == told["session"]] == []
    assert named(told, "out.txt").is_file()


INDEX = {"version": 1, "originalPath": "/home/dev/harbour", "entries": [{"sessionId": "another", "odd": [1]}], "new": 7}


def indexed(home: Path) -> tuple[Path, Path]:
    """A session in the folder of an agent that keeps lists of its sessions, and the list."""
    log = LogBuilder(version="2.1.20").prompt("Begin.\nPlease.").write(home / ".claude")
    index = log.with_name("sessions-index.json")
    index.write_text(json.dumps(INDEX))
    for name in ("todos", "session-env"):
        (home / ".claude" / name).mkdir()
    return log, index


def test_a_copy_is_entered_where_the_agent_keeps_a_list_of_its_sessions(home: Path) -> None:
    log, index = indexed(home)
    run("clone", log.stem, "-n")
    assert json.loads(index.read_text()) == INDEX
    told = cloned(log.stem)
    session, held = told["session"], json.loads(index.read_text())
    assert {**held, "entries": held["entries"][:1]} == INDEX
    (entry,) = held["entries"][1:]
    expected = {
        "sessionId": session,
        "fullPath": str(paths(told)[0]),
        "firstPrompt": "Begin. Please.",
        "messageCount": 1,
    }
    assert expected.items() <= entry.items()
    assert (entry["summary"], entry["isSidechain"], entry["projectPath"]) == (told["title"], False, told["cwd"])
    assert entry["fileMtime"] == paths(told)[0].stat().st_mtime_ns // 1_000_000
    todos = home / ".claude" / "todos" / f"{session}-agent-{session}.json"
    assert todos.read_bytes() == b"[]"
    assert (home / ".claude" / "session-env" / session).is_dir()
    assert run("clone", "--undo", session).code == 0
    assert json.loads(index.read_text()) == INDEX
    assert not todos.exists()
    assert not (home / ".claude" / "session-env" / session).exists()


@pytest.mark.parametrize("damage", ["none", "torn", "list", "link"])
def test_no_list_is_made_and_none_that_is_not_understood_is_touched(home: Path, damage: str) -> None:
    log, index = indexed(home)
    if damage == "none":
        index.unlink()
    elif damage == "link":
        index.rename(home / "elsewhere")
        index.symlink_to(home / "elsewhere")
    else:
        index.write_text("[1]" if damage == "list" else '{"entries": [')
    before = index.read_bytes() if index.exists() else b""
    told = cloned(log.stem)
    assert (index.read_bytes() if index.exists() else b"") == before
    assert list((home / ".claude" / "todos").iterdir()) == []
    assert len(paths(told)) == 1
