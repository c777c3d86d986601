"""A lake of what was pushed to a hub, read from its database and its objects."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.hub.sessions.team import Machine, Team
from tests.lake.lakes import TERMS, asked, contents, written
from tests.lake.test_write import session
from tests.share import made
from unspool.demo import write_demo
from unspool.hub.store.connect import StorePlace
from unspool.lake.remote_logs import HubLogs, close_hub
from unspool.lake.storage import FolderStorage
from unspool.lake.tables import TABLES
from unspool.lake.write import LakeReport, WriteRequest, write_lake


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No hub is left open when its test ends."""
    yield
    close_hub()


FIGURES = "SELECT session, turns, tool_calls, subagents, requests, input, output, cost FROM sessions ORDER BY ALL"


def from_hub(lake: Path, place: StorePlace) -> LakeReport:
    return write_lake(FolderStorage(lake), HubLogs(place), WriteRequest(TERMS, jobs=1, patience=0.0))


def test_a_hub_of_each_kind_is_a_source_with_the_figures_of_the_logs(
    crew: Team, place: StorePlace, tmp_path: Path
) -> None:
    machine = Machine(crew.member("anne"), tmp_path / "anne")
    made.session().write(machine.source)
    write_demo(machine.source)
    machine.push()
    assert from_hub(tmp_path / "lake", place).failures == []
    written(tmp_path / "own", machine.source)
    assert asked(tmp_path / "lake", FIGURES) == asked(tmp_path / "own", FIGURES)
    told = repr(contents(tmp_path / "lake", [table.name for table in TABLES]))
    assert not [secret for secret in made.SECRETS.values() if secret in told]
    assert str(tmp_path) not in told
    assert from_hub(tmp_path / "lake", place).written == 0
    session("new").write(machine.source)
    machine.push()
    assert from_hub(tmp_path / "lake", place).written == 1


def test_a_session_of_an_agent_that_nobody_knows_is_told_of(
    machine: Machine, on_files: StorePlace, tmp_path: Path
) -> None:
    session("a").write(machine.source)
    session("b").write(machine.source)
    machine.push()
    machine.member.store.db.run("UPDATE session SET agent = 'of-tomorrow' WHERE key = (SELECT max(key) FROM session)")
    done = run("lake", "write", str(tmp_path / "lake"), "--from-hub", str(on_files.folder), "--json")
    assert json.loads(done.out)["written"] == 1
    assert "of-tomorrow" in done.err


def test_the_command_reads_a_hub(machine: Machine, on_files: StorePlace, tmp_path: Path) -> None:
    session("a").write(machine.source)
    machine.push()
    done = run("lake", "write", str(tmp_path / "lake"), "--from-hub", str(on_files.folder), "--json")
    assert json.loads(done.out)["written"] == 1, done.err
    assert run("lake", "write", str(tmp_path / "lake"), "--from-hub", str(tmp_path / "none")).code == 3
    assert run("lake", "write", str(tmp_path / "lake"), "--from-hub", str(on_files.folder), "--demo").code == 2
