"""`unspool watch`, as a process and as a service."""

import json
import os
import pty
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.fakes import on_path, program
from tests.cli.running import process, run, source, talk
from tests.waiting import until
from unspool.agents.base import MARK
from unspool.errors import UnspoolError
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.sync import sync

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of this kind are POSIX")

Started = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    """`started(*arguments)`: a watch of the folder `source` that runs until the test ends."""
    running: list[subprocess.Popen[bytes]] = []
    given = source(tmp_path / "source", talk("Waves", "11111111-0000-4000-8000-000000000001"))

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        place = ("--archive", str(tmp_path / "archive"))
        running.append(process("watch", *place, *given, *arguments, PYTHONUNBUFFERED="1"))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.communicate()


def heard(watch: "subprocess.Popen[bytes]", wanted: str) -> str:
    """The next line that says what is wanted."""
    assert watch.stdout is not None
    for line in watch.stdout:
        if wanted in line.decode():
            return line.decode()
    pytest.fail(f"it ended without saying {wanted!r}: {watch.stderr.read().decode() if watch.stderr else ''}")


def indexed(place: Path) -> bool:
    """Whether a first sync is done."""
    if not (place / "index.db").exists():
        return False
    with suppress(UnspoolError), Index.open(place, readonly=True) as index:
        return bool(index.db.execute("SELECT count(*) FROM session").get)
    return False


def test_what_is_new_is_kept_and_told(started: Started, tmp_path: Path) -> None:
    """A line for the first sync and one for what was written since; SIGTERM ends it well."""
    watch = started()
    assert str(tmp_path / "source") in heard(watch, "Watching")
    assert "1 new file" in heard(watch, "kept")
    talk("More waves", "22222222-0000-4000-8000-000000000002").write(tmp_path / "source")
    assert "1 new file" in heard(watch, "kept")
    watch.send_signal(signal.SIGTERM)
    out, err = watch.communicate(timeout=90)
    assert (watch.returncode, out, err) == (0, b"", b"")


def test_ctrl_c(started: Started) -> None:
    watch = started()
    heard(watch, "kept")
    watch.send_signal(signal.SIGINT)
    _, err = watch.communicate(timeout=90)
    assert (watch.returncode, err) == (130, b"Stopped.\n")


def test_quiet_says_nothing(started: Started, tmp_path: Path) -> None:
    watch = started("-q")
    until(lambda: indexed(tmp_path / "archive"))
    watch.send_signal(signal.SIGTERM)
    out, err = watch.communicate(timeout=90)
    assert (watch.returncode, out, err) == (0, b"", b"")


def test_a_second_one_ends_with_7(started: Started) -> None:
    heard(started(), "kept")
    second = started()
    out, err = second.communicate(timeout=90)
    assert (second.returncode, out) == (7, b"")
    assert b"up to date already" in err


def test_a_source_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    late = tmp_path / "late"
    with process("watch", "--archive", str(tmp_path / "archive"), "--source", str(late), PYTHONUNBUFFERED="1") as watch:
        heard(watch, f"no folder {late} yet")
        source(late, talk("Waves"))
        heard(watch, "kept")
        watch.send_signal(signal.SIGTERM)
        watch.communicate(timeout=90)
    assert watch.returncode == 0


@pytest.mark.parametrize(("number", "code", "said"), [(signal.SIGTERM, 0, b""), (signal.SIGINT, 130, b"Stopped.\n")])
def test_a_sync_that_is_broken_off_leaves_nothing_half_done(
    started: Started, tmp_path: Path, number: int, code: int, said: bytes
) -> None:
    """The next one takes in the rest, and the one after finds nothing to do."""
    log = next((tmp_path / "source").rglob("*.jsonl"))
    last = log.read_bytes().splitlines(keepends=True)[-1]
    noise = random.Random(1)
    for number_ in range(8):
        lines = b"".join(last.replace(b"Aye.", noise.randbytes(1000).hex().encode()) for _ in range(800))
        log.with_name(f"22222222-0000-4000-8000-00000000000{number_}.jsonl").write_bytes(lines)
    watch = started("-q")
    kept_so_far = tmp_path / "archive" / "archive.db"
    until(lambda: kept_so_far.exists() and kept_so_far.stat().st_size > 200_000)
    watch.send_signal(number)
    _, err = watch.communicate(timeout=90)
    assert (watch.returncode, err) == (code, said)
    place, sources = tmp_path / "archive", [tmp_path / "source"]
    assert sync(place, sources).failures == []
    with ArchiveDatabase.open(place, readonly=True) as archive:
        kept = {one.path: archive.read(one.generation) for one in archive.kept(next(iter(archive.origins()))).values()}
    assert kept == {f"projects/{log.parent.name}/{path.name}": path.read_bytes() for path in log.parent.iterdir()}
    assert not sync(place, sources).changed


# --- as a service -----------------------------------------------------------------------------------


@pytest.fixture
def settings(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}\n")
    return path


def test_without_a_terminal_it_only_shows(settings: Path, tmp_path: Path) -> None:
    """And ends with 2, so that a script notices."""
    done = run("watch", "--install", "hooks", "--archive", str(tmp_path / "archive"))
    assert done.code == 2
    assert f"change: {settings}" in done.out
    assert f"{MARK} {sys.executable} -P -m unspool sync -q --archive {tmp_path / 'archive'}" in done.out
    assert "--yes" in done.err
    assert settings.read_text() == "{}\n"
    assert not (tmp_path / "archive").exists()


def test_in_and_out_without_asking(settings: Path) -> None:
    assert run("watch", "--install", "hooks", "--yes").code == 0
    assert list(json.loads(settings.read_text())["hooks"]) == ["SessionEnd", "PreCompact"]
    done = run("watch", "--install", "hooks", "--yes")
    assert (done.code, done.out) == (0, "Nothing to do.\n")
    assert run("watch", "--uninstall", "hooks", "--yes").code == 0
    assert json.loads(settings.read_text()) == {}
    assert run("watch", "--uninstall", "hooks").out == "Nothing to do.\n"


def test_what_the_agent_runs_keeps_the_session(settings: Path, tmp_path: Path) -> None:
    """The command as it stands in the settings, started in some project: at once over, and then the log is kept."""
    talk("Waves").write(settings.parent)
    assert run("watch", "--install", "hooks", "--yes", "--archive", str(tmp_path / "archive")).code == 0
    command = json.loads(settings.read_text())["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    (tmp_path / "unspool.py").write_text("raise SystemExit('taken over')")
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    until((tmp_path / "archive" / "index.db").exists)
    assert not sync(tmp_path / "archive", [settings.parent]).new  # it waits until the other is done


@pytest.mark.parametrize(("answer", "said", "there"), [("y", "Done.", 2), ("n", "Nothing was done.", 0)])
def test_on_a_terminal_it_asks(settings: Path, answer: str, said: str, there: int) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "unspool", "watch", "--install", "hooks"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asking:
        os.write(ours, f"{answer}\n".encode())
        out, _ = asking.communicate(timeout=90)
    os.close(ours)
    os.close(theirs)
    assert out.decode().rstrip().endswith(said)
    assert settings.read_text().count(MARK) == there


def test_settings_that_are_broken_are_refused(settings: Path) -> None:
    settings.write_text("{broken")
    done = run("watch", "--install", "hooks", "--yes")
    assert done.code == 5
    assert "left as it is" in done.err
    assert settings.read_text() == "{broken"


def test_a_name_from_a_path_cannot_drive_the_terminal(settings: Path) -> None:
    done = run("watch", "--install", "hooks", "--archive", "/tmp/\x1b[31mred")
    assert "\x1b" not in done.out


def test_the_usual_service_with_the_options_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "systemctl", f'echo "$@" >> "{tmp_path}/asked"')
    on_path(tmp_path / "bin", monkeypatch)
    monkeypatch.setattr(sys, "platform", "linux")
    done = run("watch", "--install", "--yes", "--poll", "30", "--archive", str(tmp_path / "a"), "-s", str(tmp_path))
    assert done.code == 0, done.err
    unit = next(Path(os.environ["XDG_CONFIG_HOME"]).rglob("unspool-watch.service"))
    words = '"watch" "-q" "--archive" "{}" "--source" "{}" "--poll" "30"'
    assert words.format(tmp_path / "a", tmp_path) in unit.read_text()
    assert (tmp_path / "asked").read_text().splitlines()[-1] == "--user restart unspool-watch.service"


def test_an_encrypted_archive_needs_a_key_file(tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service has nobody to ask for a passphrase; the file is named by its whole path."""
    ArchiveDatabase.open(tmp_path, key="secret").close()
    monkeypatch.setenv("UNSPOOL_PASSPHRASE", "secret")
    done = run("watch", "--install", "hooks", "--yes", "--archive", str(tmp_path))
    assert done.code == 2
    assert "--key-file" in done.err
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNSPOOL_KEY_FILE", "")  # what the option sets is gone again after the test
    assert run("watch", "--install", "hooks", "--yes", "--archive", str(tmp_path), "--key-file", "k").code == 0
    assert f"--key-file {tmp_path / 'k'}" in settings.read_text()


@pytest.mark.parametrize(
    "arguments", [("--install", "--uninstall"), ("--install", "inetd"), ("--poll", "0"), ("--interval", "x")]
)
def test_what_cannot_be(arguments: tuple[str, ...]) -> None:
    assert run("watch", *arguments).code == 2
