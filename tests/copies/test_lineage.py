"""Copies are remembered with what they were made of, and can be taken back."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from unspool.copies import records as lineage
from unspool.errors import Exists, NotFound


@pytest.fixture
def log(home: Path) -> Path:
    """A session with a subagent, a spilled result and a file's history, in the agent's own folder."""
    made = LogBuilder(version="2.1.230")
    made.prompt("List the tides.").ran("cat tides", "low\nhigh\n" * 200)
    use = made.agent_use("Explore", "Look around", "Look.")
    made.assistant(use)
    made.subagent(use, "Explore", "Look around", lambda child: child.assistant(child.text("Nothing.")))
    made.assistant(made.text("There are two a day.")).snapshot("tides.py")
    return made.write(home / ".claude")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made(*arguments: str) -> dict[str, Any]:
    """A clone made by the command, as it tells of it."""
    done = run("clone", *arguments, "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def test_a_copy_is_remembered(log: Path) -> None:
    told = made(log.stem, "--preset", "extreme")
    (record,) = lineage.copy_records()
    assert (record.session, record.source) == (told["session"], log.stem)
    assert record.options == {"preset": "extreme"}
    assert record.after.calls == 0 < record.before.calls
    assert record.after.bytes == Path(record.files[0].path).stat().st_size


def test_a_copy_and_its_record_are_private(log: Path, home: Path) -> None:
    told = made(log.stem)
    written = [Path(one["path"]) for one in told["files"]]
    records = list(home.rglob("clones/*.json"))
    assert records
    assert {stat.S_IMODE(path.stat().st_mode) for path in (*written, *records)} == {0o600}


def test_undo_leaves_everything_as_it_was(log: Path, home: Path) -> None:
    before = files(home / ".claude")
    made(log.stem, "--preset", "none")
    assert len(files(home / ".claude")) > len(before) + 1
    assert run("clone", "--undo").code == 0
    assert files(home / ".claude") == before
    assert list(lineage.copy_records()) == []
    assert [path for path in (home / ".claude").rglob("*") if path.is_dir() and not any(path.iterdir())] == []


def test_a_copy_that_went_on_is_not_taken_back_by_mistake(log: Path) -> None:
    told = made(log.stem)
    path = Path(told["files"][0]["path"])
    with path.open("ab") as file:
        file.write(b'{"type":"user"}\n')
    record = lineage.find_record("")
    with pytest.raises(Exists, match="went on"):
        lineage.undo_copy(record)
    assert path.exists()
    lineage.undo_copy(record, force=True)
    assert not path.exists()


def test_the_source_is_never_touched(log: Path, home: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (home / ".claude").rglob("*.jsonl")}
    for preset in ("none", "default", "extreme"):
        made(log.stem, "--preset", preset)
    assert all((path.read_bytes(), path.stat().st_mtime_ns) == held for path, held in before.items())


def test_an_unknown_copy_is_said_to_be_unknown() -> None:
    with pytest.raises(NotFound):
        lineage.find_record("abc")


def test_what_is_no_record_is_passed_over(log: Path, home: Path) -> None:
    made(log.stem)
    (folder,) = {path.parent for path in home.rglob("clones/*.json")}
    (folder / "broken.json").write_text("{")
    assert len(list(lineage.copy_records())) == 1


def test_copies_are_listed(log: Path) -> None:
    told = made(log.stem)
    listed = json.loads(run("list", "--clones", "--json").out)
    assert [one["session"] for one in listed["clones"]] == [told["session"]]
    assert str(told["session"])[:8] in run("list", "--clones").out
