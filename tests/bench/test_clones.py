"""The benchmark of clones: who made what, counted and timed, with nothing left behind."""

import sys
from pathlib import Path

import pytest

from bench import clones, corpus, long_clone
from bench.cloners import OURS, PEER, field
from bench.table import Row
from tests.copies.made_logs import made

SESSION = "0d1f6a52-7c1e-4b7b-9a54-0b1c2d3e4f5{}"
COPIER = """#!{python}
# A peer that copies what it can read, lines and ids and all.
import json, pathlib, sys, uuid
session, agent = sys.argv[2], pathlib.Path(sys.argv[sys.argv.index("--claude-dir") + 1])
[log] = agent.glob("projects/*/" + session + ".jsonl")
lines = [json.loads(line) for line in log.read_bytes().splitlines()]
new = str(uuid.uuid4())
(agent / "todos").mkdir(exist_ok=True)
(agent / "todos" / (new + ".json")).write_text("[]")
log.with_name(new + ".jsonl").write_text("".join(json.dumps(line) + "\\n" for line in lines))
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs: two sound ones, and one with a torn line in it."""
    monkeypatch.setattr(corpus, "CACHE", tmp_path / "cache")
    project = tmp_path / "source" / "projects" / "-work-tool"
    project.mkdir(parents=True)
    for number in range(3):
        lines = [line.rstrip(b"\n") for line in made("2.1.230", range(6 + number))]
        if number == 2:
            lines.insert(2, b'{"type":"user","mess')
        (project / f"{SESSION.format(number)}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return tmp_path / "source"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No peer unless a test asks for one."""
    monkeypatch.delenv("UNSPOOL_CCS_CLONER", raising=False)


@pytest.fixture
def peer(alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "copier"
    program.write_text(COPIER.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("UNSPOOL_CCS_CLONER", str(program))


def row(rows: list[Row], what: str) -> Row:
    [found] = [one for one in rows if one.what.startswith(what)]
    return found


@pytest.mark.usefixtures("peer")
def test_each_is_counted_by_what_it_made(source: Path) -> None:
    """Ours are all sound and have ids of their own; the copier fails on the torn line and keeps the ids."""
    rows = list(clones.rows([source], ["default"]))
    resume = row(rows, "clones that resume")
    assert (resume.ours, resume.theirs, resume.met) == ("3 of 3", f"{PEER}: 2 of 3 (1 no clone)", True)
    own = row(rows, "clones with ids of their own")
    assert (own.ours, own.theirs, own.met) == ("3 of 3", f"{PEER}: 0 of 2", True)


@pytest.mark.usefixtures("peer")
def test_times_are_of_the_logs_that_both_cloned(source: Path) -> None:
    times = row(list(clones.rows([source], ["none"])), "clone, none")
    assert "for 2 logs" in times.ours
    assert "for 2 logs" in times.theirs
    assert "as fast" in times.ratio


def test_without_the_peer_ours_are_measured_alone(source: Path) -> None:
    rows = list(clones.rows([source], ["extreme"]))
    assert "for 3 logs" in row(rows, "clone, extreme").ours
    assert row(rows, "clones that resume").theirs == f"{PEER}: not installed"


@pytest.mark.usefixtures("peer")
@pytest.mark.parametrize("name", [OURS, PEER])
def test_the_field_is_as_before_after_each_clone(name: str, source: Path, tmp_path: Path) -> None:
    ground = field(source, tmp_path / "ground")
    before = {path: path.read_bytes() for path in ground.agent.rglob("*") if path.is_file()}
    done, clone = ground.clone(name, SESSION.format(0), "default")
    assert not done.failed
    assert clone is not None
    assert clone.is_relative_to(tmp_path / "ground" / name / "projects")
    assert {path: path.read_bytes() for path in ground.agent.rglob("*") if path.is_file()} == before


def test_the_long_session_is_made_of_one_that_is_whole(source: Path) -> None:
    """Neither torn, though that one is the largest, nor in several pieces."""
    assert long_clone.smooth(source).stem in {SESSION.format(0), SESSION.format(1)}


@pytest.mark.usefixtures("peer")
def test_a_long_session_is_timed_weighed_and_judged(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_clone, "TIMES", 1)
    rows = list(long_clone.rows(source, 1))
    assert [one.what.split(" ")[0] for one in rows] == ["clone", "memory", "soundness"] * 2
    assert [one.ours for one in rows if one.what.startswith("soundness")] == ["sound"] * 2
    assert all(one.ratio for one in rows if not one.what.startswith("soundness"))
