"""`unspool forget` from the command line."""

from tests.cli.archived import Synced, synced
from tests.cli.running import STORM

__all__ = ["synced"]


def test_nothing_goes_without_a_yes(synced: Synced) -> None:
    """What would go is shown, and stays."""
    before = (synced.folder / "archive.db").read_bytes()
    done = synced.run("forget", STORM[:6])
    assert "5 files" in done.out
    assert "Nothing was removed" in done.out
    told = synced.json("forget", STORM)
    assert (told["removed"], len(told["files"])) == (False, 5)
    assert (synced.folder / "archive.db").read_bytes() == before


def test_gone_for_good(synced: Synced) -> None:
    """Proved, not brought back by a sync, and kept again once it is unburied."""
    told = synced.json("forget", STORM, "--yes")
    assert told["removed"] is True
    assert told["proof"]["found"] == 0
    assert told["proof"]["samples"] > 20
    synced.sync()
    synced.run("verify")
    assert "no session" in synced.run("restore", STORM, code=3).err
    found = synced.run("search", "surge").out
    assert STORM not in found
    synced.run("archive", "unbury", STORM[:13])
    synced.sync()
    assert len(synced.json("forget", STORM)["files"]) == 5


def test_lines_elsewhere_are_told(synced: Synced) -> None:
    """The list of all prompts is not a session's: that it names the session is said."""
    history = synced.source / "history.jsonl"
    history.write_bytes(b'{"display":"hello","sessionId":"%s"}\n{"display":"other"}\n' % STORM.encode())
    synced.sync()
    assert synced.json("forget", STORM)["mentions"] == {"history.jsonl": 1}
    assert "history.jsonl names it in 1 line" in synced.run("forget", STORM).out


def test_a_subagent_that_lies_among_the_sessions_goes_too(synced: Synced) -> None:
    """Its first line tells whose it is."""
    log = next(synced.source.rglob(f"{STORM}.jsonl"))
    beside = log.with_name("agent-abc123.jsonl")
    beside.write_bytes(b'{"sessionId":"%s","agentId":"abc123"}\n' % STORM.encode())
    log.with_name("agent-def456.jsonl").write_bytes(b'{"sessionId":"another","agentId":"def456"}\n')
    synced.sync()
    paths = {row["path"] for row in synced.json("forget", STORM)["files"]}
    assert beside.relative_to(synced.source).as_posix() in paths
    assert len(paths) == 6
