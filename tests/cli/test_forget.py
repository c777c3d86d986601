"""`unspool forget` from the command line."""

import subprocess
import sys

import pytest

from tests.cli.archived import Synced, synced
from tests.cli.running import STORM
from unspool.store.archive import ArchiveDatabase
from unspool.store.sync.lock import wait_for_lock

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
    """Its own prompts in the list of all prompts go; that others speak of it is said."""
    history = synced.source / "history.jsonl"
    own, other = b'{"display":"hello","sessionId":"%s"}\n', b'{"display":"see %s","sessionId":"x"}\n'
    history.write_bytes(own % STORM.encode() + other % STORM.encode())
    synced.sync()
    told = synced.json("forget", STORM)
    assert (told["prompts"], told["mentions"]) == ({"history.jsonl": 1}, {"history.jsonl": 1})
    said = synced.run("forget", STORM).out
    assert "history.jsonl: 1 line, its own prompts" in said
    assert "history.jsonl names it in 1 line of others" in said


def test_its_prompts_go_with_what_was_pasted_and_come_back_when_unburied(synced: Synced) -> None:
    """Nothing of them is left, no sync brings them back, and unburying does."""
    words, paste = "moor the wombat carefully " * 4, "pasted quokka words " * 20
    line = '{"display":"%s","pastedContents":{"1":{"contentHash":"%s"}},"sessionId":"%s"}\n'
    (synced.source / "paste-cache").mkdir()
    (synced.source / "paste-cache" / "0badcafe0badcafe.txt").write_text(paste)
    others = line % ("others stay", "feedfeedfeedfeed", "somebody else")
    (synced.source / "history.jsonl").write_text(line % (words, "0badcafe0badcafe", STORM) + others)
    synced.sync()
    told = synced.json("forget", STORM, "--yes")
    assert told["proof"]["found"] == 0
    assert "paste-cache/0badcafe0badcafe.txt" in {row["path"] for row in told["files"]}
    for _ in range(2):
        synced.sync()
        synced.run("verify")
        assert synced.json("search", "wombat", code=1)["sessions"] == []
        assert kept(synced, "history.jsonl") == others.encode()
        assert kept(synced, "paste-cache/0badcafe0badcafe.txt") is None
    synced.run("archive", "unbury", STORM[:13])
    synced.sync()
    assert kept(synced, "history.jsonl") == (synced.source / "history.jsonl").read_bytes()
    assert kept(synced, "paste-cache/0badcafe0badcafe.txt") == paste.encode()
    synced.run("verify")


def kept(synced: Synced, path: str) -> bytes | None:
    """The last that the archive has of a file."""
    with ArchiveDatabase.open(synced.folder, readonly=True) as archive:
        found = archive.last(1, path)
        return None if found is None else archive.read(found.generation)


def test_a_session_of_which_only_prompts_are_left_can_be_forgotten(synced: Synced) -> None:
    ghost = "deadbeef-0000-4000-8000-000000000001"
    line = '{"display":"where is the numbat?","timestamp":1770000000000,"project":"/p","sessionId":"%s"}\n'
    (synced.source / "history.jsonl").write_text(line % ghost + '{"display":"other"}\n')
    synced.sync()
    assert [one["session"] for one in synced.json("search", "numbat")["sessions"]] == [ghost]
    told = synced.json("forget", ghost[:8], "--yes")
    assert (told["session"], told["files"], told["prompts"]) == (ghost, [], {"history.jsonl": 1})
    synced.sync()
    assert synced.json("search", "numbat", code=1)["sessions"] == []
    assert kept(synced, "history.jsonl") == b'{"display":"other"}\n'


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


def test_it_waits_for_a_sync_that_is_under_way(synced: Synced) -> None:
    """A sync that began before would bring the session back."""
    command = [sys.executable, "-m", "unspool", "forget", STORM, "--yes", "--archive", str(synced.folder)]
    with wait_for_lock(synced.folder):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        assert STORM in synced.json("forget", STORM)["session"]
    assert process.wait(60) == 0
    assert "no session" in synced.run("restore", STORM, code=3).err
