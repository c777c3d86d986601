"""Records of what was sent, and what an agent was told by its own place: which copies have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.copies.making import TREATMENTS, copied, decoded, draught, faults
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line
from unspool.agents import ClaudeCode
from unspool.agents.writing import CopyIdentity, LineLink

SYSTEM, PLACE = "You look after tide tables.", "Primary working directory: /home/dev/harbour"
TOOLS = [{"name": "Bash", "description": "Runs a command.", "input_schema": {"type": "object"}}]
SENT = ("api-request", "api-request-shape", "api-request-blob", "tools-used", "cost-state", "session-owner")


def talk(*, recorded: bool = True) -> LogBuilder:
    """Two turns as today's version writes them, with or without the record of its requests."""
    log = LogBuilder(version="2.1.325", seed="sent")
    for words in ("Begin.", "Go on."):
        log.prompt(words).attached("environment", PLACE, snapshot={"workingDirectory": log.cwd})
        log.attached("prompt_snapshot", "", systemPrompt=[SYSTEM], tools=TOOLS)
        for _ in range(2 if recorded else 0):
            log.sends(SYSTEM, TOOLS, PLACE)
        log.ran("cat table", "low water\n" * 90)
        log.assistant(log.text(f"{words} Done."))
    if recorded:
        log.side("tools-used", tools=["Bash"]).side("cost-state", totalCostUSD=1.5)
        log.side("session-owner", accountUuid="a", organizationUuid="b")
    return log


def raw(log: LogBuilder) -> list[bytes]:
    return [encode_line(line) for line in log.lines if isinstance(line, dict)]


@pytest.mark.parametrize("treatment", sorted(TREATMENTS))
def test_what_the_original_sent_stays_with_it(treatment: str) -> None:
    """The copy never sent it, and would keep in it what a treatment takes out."""
    lines = raw(talk())
    assert {json.loads(line)["type"] for line in lines} >= set(SENT)
    assert any("requestRef" in json.loads(line) for line in lines)
    copy = copied(lines, TREATMENTS[treatment])
    assert not {line["type"] for line in decoded(copy)} & set(SENT)
    assert not [line for line in decoded(copy) if "requestRef" in line]
    assert faults(copy) == []


def test_so_do_records_of_requests_that_a_later_version_adds() -> None:
    copy = copied(raw(talk().side("api-request-answer", words="x").side("novelty", words="x")))
    kinds = {line["type"] for line in decoded(copy)}
    assert "novelty" in kinds
    assert "api-request-answer" not in kinds


def test_the_validator_refuses_a_copy_that_has_them() -> None:
    copy = copied(raw(talk()))
    told = json.loads(copy[1])
    for kind in SENT:
        assert any(fault.endswith(" latch-line") for fault in faults([encode_line({"type": kind}), *copy])), kind
    assert any(fault.endswith(" kept-link") for fault in faults([copy[0], encode_line({**told, "requestRef": "x"})]))


def test_they_weigh_nothing() -> None:
    """What is estimated of a copy, before and after, is of the conversation alone."""
    with_them, without = (draught(raw(talk(recorded=recorded))) for recorded in (True, False))
    assert with_them.before.tokens == without.before.tokens
    assert with_them.after == without.after
    bare = [line for line in raw(talk()) if b'"prompt_snapshot"' not in line]
    assert draught(bare).before.tokens == with_them.before.tokens


def test_a_change_of_files_goes_along_with_what_it_changed() -> None:
    log = talk().snapshot("tides.py")
    held = next(line for line in reversed(log.lines) if isinstance(line, dict) and "messageId" in line)
    about = {"trackingPath": "tides.py", "backup": {"backupFileName": "x@v2", "version": 2}}
    log.side("file-history-delta", messageId=log.last, snapshotMessageId=held["messageId"], **about)
    log.side("file-history-delta", messageId=log.last, snapshotMessageId=log.ids.uuid(), **about)
    copy = decoded(copied(raw(log)))
    (delta,) = [line for line in copy if line["type"] == "file-history-delta"]
    ids = {line.get("uuid") for line in copy}
    assert {delta["messageId"], delta["snapshotMessageId"]} <= ids


def kinds(path: Path) -> list[str]:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [line["attachment"]["type"] for line in lines if "attachment" in line]


def made(*arguments: str) -> list[Path]:
    """The files of a copy, its log first."""
    done = run(*arguments, "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    told = told.get("sessions", [told])[0]
    return [Path(one["path"]) for one in told["files"]]


def test_the_system_prompt_stays_where_it_was_told(home: Path, tmp_path: Path) -> None:
    """The agent takes it from the log: a copy at its side goes on with the same, one elsewhere gets its own."""
    builder = talk()
    use = builder.agent_use("Explore", "Look", "Look.")
    builder.prompt("Look.").assistant(use)
    builder.subagent(
        use,
        "Explore",
        "Look",
        lambda child: child.attached("prompt_snapshot", "", systemPrompt=[SYSTEM]).assistant(child.text("Seen.")),
    )
    log = builder.assistant(builder.text("Seen.")).write(home / ".claude")
    assert [kinds(path).count("prompt_snapshot") for path in made("clone", log.stem)[:2]] == [2, 1]
    moved = made("move", log.stem, "--to", str(tmp_path / "port"))
    assert [kinds(path).count("prompt_snapshot") for path in moved[:2]] == [0, 0]
    assert kinds(moved[0]) == ["environment", "environment"]
    lines = [json.loads(line) for path in moved[:2] for line in path.read_bytes().splitlines()]
    ids = {line.get("uuid") for line in lines}
    assert {line["parentUuid"] for line in lines if line.get("parentUuid")} <= ids
    for line in lines:
        if "attachment" in line:
            assert str(tmp_path / "port") in line["attachment"]["snapshot"]["workingDirectory"]
            assert str(tmp_path / "port") in line["rendered"][0]["content"]


def test_nobody_elses_system_prompt_comes_with_a_log(home: Path, tmp_path: Path) -> None:
    """What was sent here is told to the agent as a conversation, and as nothing more."""
    sent = tmp_path / "sent.jsonl"
    sent.write_bytes(talk().to_bytes())
    for arguments in (("import", str(sent), "--to", str(tmp_path)), ("clone", str(sent), "-o", str(tmp_path / "to"))):
        assert "prompt_snapshot" not in kinds(made(*arguments)[0])


def test_what_hangs_from_a_line_that_stays_hangs_from_the_one_before_it() -> None:
    log = LogBuilder(version="2.1.325").prompt("Begin.")
    asked = log.last
    log.attached("prompt_snapshot", "", systemPrompt=[SYSTEM])
    told = log.last
    log.system("informational", content="beside").rewind(told)
    log.assistant(log.text("Begun."))
    copy = [line for line in decoded(copied(raw(log))) if "uuid" in line]
    first = next(line["uuid"] for line in copy if line["forkedFrom"]["messageUuid"] == asked)
    assert [line["parentUuid"] for line in copy] == [None, first, first]


def test_a_line_of_any_shape_is_asked_what_it_is() -> None:
    writer = ClaudeCode().writer
    for line in (
        b"",
        b"{",
        b'"api-request"',
        b'{"type":["api-request"]}',
        b'{"attachment":"prompt_snapshot"}',
        b"\xff",
    ):
        assert not writer.is_request_record(line)
        assert not writer.is_local_record(line)
    assert writer.is_request_record(b'{"x":1,"type":"api-request-blob"}')
    assert not writer.is_request_record(b'{"type":"user","message":"api-request-blob"}')
    assert not writer.is_local_record(b'{"attachment":{"type":"file","content":"prompt_snapshot"}}')


def test_a_compaction_names_no_kept_lines_that_are_gone() -> None:
    """What says that it kept some, and has none of them, would have the agent forget all before it."""
    line = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "sessionId": "old"}
    about = {"trigger": "auto", "preservedMessages": {"anchorUuid": "a", "uuids": ["gone"], "allUuids": ["gone"]}}
    identity = CopyIdentity("new", "old", {"a": "A", "b": "B"}, {"gone": "A"}, {"gone": "B"}, "")
    made = ClaudeCode().writer.renewed(encode_line({**line, "compactMetadata": about}), identity, LineLink("B", None))
    assert json.loads(made)["compactMetadata"] == {"trigger": "auto"}


def test_a_fork_may_end_with_a_prompt_that_only_the_queue_tells_of(tmp_path: Path) -> None:
    """It has a number wherever turns are shown, and no line of its own."""
    log = LogBuilder(version="2.1.325").prompt("Begin.")
    log.assistant(log.text("Begun.")).queue("enqueue", "/clear").queue("dequeue")
    log.write(tmp_path)
    shown = run("show", log.session_id, "--source", str(tmp_path), "--no-pager").out
    assert "Turn 2" in shown
    done = run("fork", log.session_id, "--at", "2", "-o", str(tmp_path / "fork.jsonl"), "--source", str(tmp_path))
    assert done.code == 0, done.err
