"""`unspool restore` from the command line."""

import shutil
from pathlib import Path

import pytest

from tests.cli.archived import Synced, synced
from tests.cli.running import FIRST_LIGHT, STORM

__all__ = ["synced"]


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_session_into_a_folder(synced: Synced, tmp_path: Path) -> None:
    """The log and all that belongs to it, as they were."""
    want = synced.of(STORM)
    assert len(want) == 5
    shutil.rmtree(synced.source)
    done = synced.run("restore", STORM[:6], "--to", str(tmp_path / "out"))
    assert "Restored 5 files" in done.out
    assert tree(tmp_path / "out") == want


def test_the_folder_is_named_after_the_session(synced: Synced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody says where."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    synced.run("restore", STORM[:6])
    assert tree(tmp_path / "here" / STORM) == synced.of(STORM)


def test_back_into_the_agents_folder(synced: Synced) -> None:
    """After the cleanup, every session can be put back, and everything is as it was before it."""
    want = tree(synced.source)
    for path in list(synced.of(FIRST_LIGHT)) + list(synced.of(STORM)):
        (synced.source / path).unlink()
    synced.sync()
    for session in (FIRST_LIGHT, STORM):
        synced.run("restore", session, "--into-agent")
    assert tree(synced.source) == want
    assert "none changed of 19 files" in synced.sync().out


def test_what_differs_is_not_overwritten(synced: Synced, tmp_path: Path) -> None:
    """It is told, and --force is needed."""
    out = tmp_path / "out"
    synced.run("restore", STORM, "--to", str(out))
    log = next(path for path in out.rglob(f"{STORM}.jsonl"))
    log.write_bytes(b"mine")
    assert "--force" in synced.run("restore", STORM, "--to", str(out), code=10).err
    assert log.read_bytes() == b"mine"
    told = synced.json("restore", STORM, "--to", str(out), "--force")
    assert {one["outcome"] for one in told["files"]} == {"same", "replaced"}
    assert tree(out) == synced.of(STORM)


def test_what_cannot_be(synced: Synced) -> None:
    """No such session, too many, contradictions."""
    assert "no session" in synced.run("restore", "nowhere", code=3).err
    assert "sessions begin" in synced.run("restore", "57", code=4).err
    synced.run("restore", STORM, "--to", "x", "--into-agent", code=2)
    synced.run("restore", STORM, "--generation", "1", "--all-generations", code=2)
    assert "but from" in synced.run("restore", STORM, "--machine", "moon", code=3).err
