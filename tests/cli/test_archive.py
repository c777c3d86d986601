"""`unspool archive` from the command line."""

from pathlib import Path

import pytest

from tests.cli.archived import Synced, synced
from tests.cli.running import STORM, run, talk
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.keys import is_encrypted, is_weak

__all__ = ["synced"]


def test_what_it_holds(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words and as JSON."""
    assert "19 files" in synced.run("archive", "info").out
    told = synced.json("archive", "info")
    assert told["files"] == told["generations"] == 19
    assert told["bytes"] > told["file_size"] > 0
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(synced.folder))
    assert "19 files" in run("archive").out


def test_merging(synced: Synced, tmp_path: Path) -> None:
    """Another archive's sessions come in once; merging again brings nothing."""
    other = tmp_path / "other"
    talk("A word from elsewhere", "aaaaaaaa-0000-4000-8000-000000000001").write(tmp_path / "elsewhere")
    assert run("sync", "-s", str(tmp_path / "elsewhere"), "--archive", str(other)).code == 0
    assert synced.json("archive", "merge", str(other))["files"] == 1
    assert "Nothing new" in synced.run("archive", "merge", str(other / "archive.db")).out
    synced.run("verify")
    synced.sync()
    assert "elsewhere" in synced.run("search", "elsewhere").out


def test_encrypting_and_back(synced: Synced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key file, another, and none; nothing works without the key, and no text is in the files."""
    one, two = tmp_path / "one.key", tmp_path / "two.key"
    one.write_bytes(b"012345678901")
    two.write_bytes(b"109876543210")
    synced.run("archive", "encrypt", code=2)
    synced.run("archive", "encrypt", "--new-key-file", str(one))
    assert is_encrypted(synced.folder / "archive.db")
    assert "is encrypted" in synced.run("verify", code=2).err
    synced.run("verify", "--key-file", str(two), code=1)
    synced.run("sync", "-s", str(synced.source), "--key-file", str(one))
    monkeypatch.delenv("UNSPOOL_KEY_FILE", raising=False)
    assert is_encrypted(synced.folder / "index.db")
    for path in synced.folder.iterdir():
        assert b"surge" not in path.read_bytes()
    synced.run("archive", "encrypt", "--key-file", str(one), "--new-key-file", str(two))
    monkeypatch.delenv("UNSPOOL_KEY_FILE", raising=False)
    synced.run("restore", STORM, "--to", str(tmp_path / "out"), "--key-file", str(two))
    monkeypatch.setenv("UNSPOOL_KEY_FILE", str(two))
    synced.run("archive", "decrypt")
    monkeypatch.delenv("UNSPOOL_KEY_FILE")
    synced.run("verify")
    assert "not encrypted" in synced.run("archive", "decrypt").out


def test_tidying(synced: Synced) -> None:
    """Nothing is lost by it."""
    before = synced.json("archive", "info")
    synced.run("archive", "tidy")
    after = synced.json("archive", "info")
    assert {key: before[key] for key in ("files", "generations", "bytes")} == {
        key: after[key] for key in ("files", "generations", "bytes")
    }
    synced.run("verify")


def test_a_passphrase_that_anybody_guesses_is_refused(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSPOOL_KEY_FILE", raising=False)
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", "x")
    assert "at least 12 characters" in synced.run("archive", "encrypt", code=2).err
    assert not is_encrypted(synced.folder / "archive.db")


def test_any_command_that_writes_strengthens_an_old_archive(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSPOOL_KEY_FILE", raising=False)
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", "a long passphrase")
    synced.run("archive", "encrypt")
    with ArchiveDatabase.open(synced.folder, key="a long passphrase") as archive:
        archive.db.pragma("rekey", "a long passphrase")
    synced.run("archive", "info")
    assert is_weak(synced.folder / "archive.db")
    synced.run("archive", "tidy")
    assert not is_weak(synced.folder / "archive.db")
    synced.run("verify")


@pytest.mark.parametrize("command", ["encrypt", "decrypt", "tidy", "info"])
def test_there_must_be_an_archive(tmp_path: Path, command: str) -> None:
    """None is made by asking for it."""
    assert run("archive", command, "--archive", str(tmp_path / "none")).code == 3
    assert not (tmp_path / "none").exists()
