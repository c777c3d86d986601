"""Files of a copy: all are there, or none is, whatever happens on the way."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import run, source, talk
from unspool.copies.records import FileToWrite, write_all_or_none
from unspool.errors import Exists, Unreadable, Unsound

ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False


def fine(_: Iterable[bytes]) -> None:
    """A proof that finds nothing."""


def put(log: FileToWrite, *others: FileToWrite) -> None:
    with write_all_or_none(log, others, fine):
        pass


def held(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_all_is_written_privately(tmp_path: Path) -> None:
    log, other = tmp_path / "a" / "log.jsonl", tmp_path / "a" / "b" / "c" / "other"
    put(FileToWrite(log, lambda: [b"one\n", b"two\n"]), FileToWrite(other, lambda: [b"x"]))
    assert log.read_bytes() == b"one\ntwo\n"
    assert held(tmp_path) == ["a", "a/b", "a/b/c", "a/b/c/other", "a/log.jsonl"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (log, other)} == {0o600}
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def broken(error: BaseException) -> Iterator[bytes]:
    yield b"half of it"
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Unsound("no"), MemoryError(), RuntimeError()], ids=repr)
@pytest.mark.parametrize("where", ["log", "other", "proof", "with"])
def test_a_failure_leaves_nothing(tmp_path: Path, error: BaseException, where: str) -> None:
    def judge(_: Iterable[bytes]) -> None:
        if where == "proof":
            raise error

    log = FileToWrite(tmp_path / "new" / "log", lambda: broken(error) if where == "log" else [b"x"])
    first = FileToWrite(tmp_path / "new" / "deep" / "first", lambda: [b"x"])
    other = FileToWrite(tmp_path / "new" / "deep" / "other", lambda: broken(error) if where == "other" else [b"x"])

    def done() -> None:
        with write_all_or_none(log, [first, other], judge):
            if where == "with":
                raise error

    with pytest.raises(type(error)):
        done()
    assert held(tmp_path) == []


def test_nothing_is_ever_written_over(tmp_path: Path) -> None:
    there = tmp_path / "log"
    there.write_bytes(b"mine")
    with pytest.raises(Exists):
        put(FileToWrite(there, lambda: [b"x"]))
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Exists):
        put(FileToWrite(link, lambda: [b"x"]))
    with pytest.raises(Exists):
        put(FileToWrite(tmp_path / "new", lambda: [b"x"]), FileToWrite(there, lambda: [b"y"]))
    assert there.read_bytes() == b"mine"
    assert held(tmp_path) == ["link", "log"]


def test_a_name_taken_while_writing_is_left_to_its_owner(tmp_path: Path) -> None:
    target = tmp_path / "log"

    def racing() -> Iterator[bytes]:
        yield b"x"
        target.write_bytes(b"theirs")

    with pytest.raises(Exists):
        put(FileToWrite(target, racing), FileToWrite(tmp_path / "deep" / "other", lambda: [b"x"]))
    assert target.read_bytes() == b"theirs"
    assert held(tmp_path) == ["log"]


def test_folders_that_were_there_stay(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(Unsound):
        put(FileToWrite(tmp_path / "old" / "new" / "log", lambda: broken(Unsound("no"))))
    assert held(tmp_path) == ["old"]


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Unreadable, match="Nothing was written"):
        put(FileToWrite(tmp_path / "log", lambda: [b"x"]))


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((Unreadable, Exists)):
        put(FileToWrite(tmp_path / "file" / "log", lambda: [b"x"]))
    assert held(tmp_path) == ["file"]


def test_a_process_that_is_killed_leaves_no_log(tmp_path: Path) -> None:
    """What is left is under a name that no reader takes for a log, and is in nobody's way."""
    script = """
import os, signal, sys
from pathlib import Path
from unspool.copies.records import FileToWrite, write_all_or_none
def chunks():
    yield b"half" * 1000000
    os.kill(os.getpid(), signal.SIGKILL)
with write_all_or_none(FileToWrite(Path(sys.argv[1]), chunks), [], lambda path: None):
    pass
"""
    target = tmp_path / "log.jsonl"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    assert not [name for name in held(tmp_path) if name.endswith(".jsonl")]
    put(FileToWrite(target, lambda: [b"whole"]))
    assert target.read_bytes() == b"whole"


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, home: Path) -> None:
    """On a file system of a few hundred kilobytes, in a name space of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = talk("x" * 2_000_000)
    made.write(home / ".claude")
    mount = f"mount -t tmpfs -o size=400k none {disk}"
    enter = ["unshare", "-rm", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*enter, mount], check=False, capture_output=True).returncode:
        pytest.skip("no name space of its own can be had here")
    command = f"{sys.executable} -m unspool clone {made.session_id} -o {disk}/copy.jsonl; echo code $?; ls -A {disk}"
    done = subprocess.run([*enter, f"{mount} && {{ {command}; }}"], check=False, capture_output=True, text=True)
    assert "No space left" in done.stderr
    assert done.stdout.splitlines() == ["code 9"]


def test_a_record_that_cannot_be_kept_takes_the_copy_back(tmp_path: Path, home: Path) -> None:
    made = talk("Hello.")
    where = source(tmp_path / "agent", made)
    clones = home / "xdg_data_home" / "unspool" / "clones"
    clones.parent.mkdir(parents=True)
    clones.write_bytes(b"in the way")
    before = held(tmp_path)
    done = run("clone", made.session_id, *where)
    assert done.code != 0
    assert "no copy was made" in done.err
    assert held(tmp_path) == before


def test_a_file_system_without_links_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    put(FileToWrite(tmp_path / "log", lambda: [b"x"]), FileToWrite(tmp_path / "deep" / "other", lambda: [b"y"]))
    assert held(tmp_path) == ["deep", "deep/other", "log"]
    with pytest.raises(Exists):
        put(FileToWrite(tmp_path / "log", lambda: [b"z"]))
    assert (tmp_path / "log").read_bytes() == b"x"
