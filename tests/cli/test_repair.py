"""`unspool repair`: a mended copy of a damaged session, with every deed told."""

import json
from pathlib import Path

from tests.cli.running import run, source, talk
from tests.cli.test_lint import torn
from tests.log_builder.builder import LogBuilder

SESSION = "ab0c7a9e-1077-4d0c-8e77-00000000000a"


def logs(folder: Path) -> set[Path]:
    return set(folder.rglob("*.jsonl"))


def test_a_mended_copy_is_written_and_the_original_stays(tmp_path: Path) -> None:
    options = source(tmp_path, torn(SESSION))
    (original,) = logs(tmp_path)
    before = original.read_bytes()
    done = run("repair", "ab0c", *options)
    assert done.code == 0, done.err
    assert done.out.startswith("line 3       torn-line")
    (copy,) = logs(tmp_path) - {original}
    assert original.read_bytes() == before
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run("lint", copy.stem, "--strict", *options).code == 0
    assert copy.stem in done.out


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path) -> None:
    options = source(tmp_path, torn(SESSION))
    there = logs(tmp_path)
    done = run("repair", "ab0c", "-n", *options)
    assert (done.code, logs(tmp_path)) == (0, there)
    assert "torn-line" in done.out
    assert "Nothing was written." in done.out


def test_json_tells_every_deed_and_what_was_lost(tmp_path: Path) -> None:
    options = source(tmp_path, torn(SESSION))
    planned = json.loads(run("repair", "ab0c", "-n", "--json", *options).out)
    written = json.loads(run("repair", "ab0c", "--json", *options).out)
    assert planned["deeds"] == written["deeds"]
    (deed,) = written["deeds"]
    assert (deed["rule"], deed["line"], deed["lost_bytes"]) == ("torn-line", 3, 34)
    assert deed["lost"].startswith('{"type":"user"')
    assert written["resume"]


def test_a_sound_session_is_not_copied(tmp_path: Path) -> None:
    options = source(tmp_path, talk("Hello", SESSION))
    there = logs(tmp_path)
    done = run("repair", "ab0c", *options)
    assert done.out == "Nothing is wrong with the log, and nothing was written.\n"
    assert logs(tmp_path) == there
    assert json.loads(run("repair", "ab0c", "--json", *options).out) == {"deeds": []}


def test_the_copy_may_go_elsewhere(tmp_path: Path) -> None:
    options = source(tmp_path / "home", torn(SESSION))
    target = tmp_path / "mended.jsonl"
    assert run("repair", "ab0c", "-o", str(target), *options).code == 0
    assert run("lint", str(target), "--strict").code == 0
    assert run("repair", "ab0c", "-o", str(target), *options).code == 10


def test_a_parent_in_a_subagents_log_leads_back_to_the_session(tmp_path: Path) -> None:
    """What hangs below a subagent's line hangs below the line that the subagent was started from."""
    log = LogBuilder(session_id=SESSION)
    log.prompt("Begin.").assistant(log.text("I ask somebody."))
    asked = str(log.last)
    log.prompt("An aside.").assistant(log.text("Beside the point."))
    agent = {"uuid": "a-1", "parentUuid": asked, "type": "user", "isSidechain": True, "agentId": "a1"}
    log.rewind("a-1").prompt("On with it.").assistant(log.text("Done."))
    options = source(tmp_path, log)
    (path,) = logs(tmp_path)
    beside = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    beside.parent.mkdir(parents=True)
    message = {"role": "user", "content": "Help."}
    line = {**agent, "message": message, "sessionId": SESSION, "timestamp": "2026-03-02T09:00:00.000Z"}
    beside.write_text(json.dumps(line) + "\n")
    done = run("repair", "ab0c", "-o", str(tmp_path / "mended.jsonl"), *options)
    assert done.code == 0, done.err
    said = (tmp_path / "mended.jsonl").read_text()
    assert "On with it." in said
    assert "Begin." in said
    assert "An aside." not in said


def test_nothing_to_resume_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"type":"summary","summary":"x","leafUuid":"y"}')
    done = run("repair", str(path), "-o", str(tmp_path / "y.jsonl"))
    assert done.code != 0
    assert not (tmp_path / "y.jsonl").exists()
