"""What is new is found at once; what takes longer is said, and the answer comes all the same."""

import threading
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.mcp.asking import Asked
from tests.waiting import until
from unspool.errors import UnspoolError
from unspool.mcp import records
from unspool.mcp.records import Freshness
from unspool.store.sync import SyncReport


def spoken(name: str) -> LogBuilder:
    log = LogBuilder(session_id=name)
    return log.prompt(f"Where is the {name}?").assistant(log.text("Here."))


def test_a_session_that_was_just_written_is_found(tmp_path: Path) -> None:
    asked = Asked(tmp_path, spoken("buoy"))
    assert asked.text("search", query="buoy").endswith("index: fresh, 1 new file")
    assert asked.text("search", query="buoy").endswith("index: fresh")
    spoken("anchor").write(asked.source)
    told = asked.text("search", query="anchor")
    assert "Where is the anchor?" in told
    assert told.endswith("index: fresh, 1 new file")


def test_a_sync_that_takes_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(tmp_path, spoken("buoy"))
    asked.text("search", query="buoy")
    go_on, done = threading.Event(), []

    def slow(*given: object) -> SyncReport:
        given[2](5_000_000, 20_000_000)  # type: ignore[operator]
        go_on.wait()
        done.append(1)
        return SyncReport(new=2)

    monkeypatch.setattr(records, "sync", slow)
    freshness = Freshness(asked.place, 0.01)
    told = freshness.told()
    assert told.startswith("index: ")
    assert told.endswith("old, being brought up to date (5.0 MB of 20 MB)")
    assert "being brought up to date" in freshness.told()  # no second one beside it
    go_on.set()
    until(lambda: done)
    assert Freshness(asked.place, 60).told() == "index: fresh, 2 new files"


def test_a_sync_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(tmp_path, spoken("buoy"))
    assert Freshness(asked.place._replace(synced=False)).told() == "index: not made yet"
    asked.text("search", query="buoy")

    def failing(*_: object) -> SyncReport:
        raise UnspoolError("The disk is full.")

    monkeypatch.setattr(records, "sync", failing)
    told = asked.text("search", query="buoy")
    assert "Where is the buoy?" in told
    assert told.endswith("could not be kept: The disk is full.")
    assert Freshness(asked.place._replace(synced=False)).told().endswith(" old")


def test_what_a_subagent_goes_on_to_say_is_read(tmp_path: Path) -> None:
    log = LogBuilder(session_id="parent")
    use = log.agent_use("general-purpose", "Look", "Look at it")

    def build(child: LogBuilder) -> None:
        child.assistant(child.text("Looking."))

    log.prompt("Look").assistant(use).subagent(use, "general-purpose", "Look", build)
    asked = Asked(tmp_path, log)
    subagent = asked.text("read", session="parent").partition("subagent ")[2].split()[0]
    assert "Looking." in asked.text("read", session=subagent)
    (child,) = log.children
    child.assistant(child.text("Seen."))  # type: ignore[attr-defined]
    (asked.source / child.path).write_bytes(child.to_bytes())
    assert "Seen." in asked.text("read", session=subagent)
