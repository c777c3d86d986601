"""What starts the watch by itself: shown first, done as shown, and undone without a trace."""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.fakes import on_path, program
from tests.waiting import until
from unspool.agents.base import MARK
from unspool.errors import UnspoolError, UsageProblem
from unspool.store.sync import service
from unspool.store.sync.service import cron, launchd, systemd
from unspool.store.sync.service import plan as hooks
from unspool.store.sync.service.plan import InstallPlan, RunStep, ServiceJob, WriteStep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="services of this kind are POSIX")

ODD = "a b%d$HOME\"q\\'s;é"
"""A name with everything that a unit, a shell or a crontab could take for its own."""


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that are found first; systemctl and launchctl note what they were told."""
    folder = tmp_path / "bin"
    for name in ("systemctl", "launchctl"):
        program(folder, name, f'echo "$@" >> "{folder}/{name}.asked"')
    on_path(folder, monkeypatch)
    return folder


@pytest.fixture
def crontab(bin_: Path) -> Path:
    """A crontab like the real one, which keeps what it is given in a file; the file."""
    table = bin_ / "table"
    program(
        bin_,
        "crontab",
        f'if [ "$1" = -l ]; then cat "{table}" 2>/dev/null || {{ echo "no crontab for dev" >&2; exit 1; }}\n'
        f'else cat > "{table}"; fi',
    )
    return table


def asked(bin_: Path, name: str) -> list[str]:
    return (bin_ / f"{name}.asked").read_text().splitlines()


def a_job(place: Path) -> ServiceJob:
    return ServiceJob(place / "archive", (place / ODD,))


# --- the command ------------------------------------------------------------------------------------


def test_a_job_is_true_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are absolute; folders that only this shell's environment names are spelled out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "mine"))
    made = service.service_job(Path("archive"), [], Path("key"), ["--poll", "30"])
    assert made.watch() == (
        *(sys.executable, "-P", "-m", "unspool", "watch", "-q", "--archive", str(tmp_path / "archive")),
        *("--key-file", str(tmp_path / "key"), "--source", str(tmp_path / "mine"), "--poll", "30"),
    )
    assert service.service_job(Path("x"), [Path("y")]).sync()[-2:] == ("--source", str(tmp_path / "y"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert "--source" not in service.service_job(Path("x"), []).sync()


def test_the_command_imports_nothing_from_where_it_is_started(tmp_path: Path) -> None:
    """An agent starts hooks in its project, which may be anybody's."""
    (tmp_path / "unspool").mkdir()
    (tmp_path / "unspool" / "__main__.py").write_text("print('taken over')")
    (tmp_path / "click.py").write_text("print('taken over')")
    start = ServiceJob(tmp_path).sync()[:4]
    done = subprocess.run([*start, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("unspool ")


# --- systemd ----------------------------------------------------------------------------------------


def complaints(unit: Path) -> list[str]:
    """What systemd says against a unit."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(unit.parent)}
    command = [analyze, "verify", "--user", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd-analyze cannot run here")
    return [line for line in done.stderr.splitlines() if unit.name in line]


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the paths are called."""
    python = tmp_path / "a b$%é" / "python"
    program(python.parent, python.name, "exit 0")
    monkeypatch.setattr(sys, "executable", str(python))
    unit = tmp_path / systemd.NAME
    unit.write_text(systemd.unit(a_job(tmp_path)))
    assert complaints(unit) == []
    python.unlink()
    assert "not executable" in complaints(unit)[0]


def test_words_are_quoted_as_systemd_reads_them() -> None:
    assert systemd.quoted("plain") == '"plain"'
    assert systemd.quoted('a"b\\c%d$e\nf\x01é') == '"a\\"b\\\\c%%d$e\\nf\\x01é"'
    assert systemd.quoted(os.fsdecode(b"\xff")) == '"\\xff"'


def test_a_unit_in_and_out(tmp_path: Path, bin_: Path, home: Path) -> None:
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "systemd" / "user" / systemd.NAME
    assert service.uninstall("systemd") == InstallPlan()
    service.perform_plan(service.install("systemd", a_job(tmp_path)))
    assert path.read_text() == systemd.unit(a_job(tmp_path))
    assert "Restart=on-failure\n" in path.read_text()
    assert asked(bin_, "systemctl") == [
        f"--user {order}" for order in ("daemon-reload", f"enable {systemd.NAME}", f"restart {systemd.NAME}")
    ]
    again = service.install("systemd", a_job(tmp_path))
    assert not any(isinstance(step, WriteStep) for step in again.steps)
    service.perform_plan(service.uninstall("systemd"))
    assert not path.exists()
    assert asked(bin_, "systemctl")[3:] == [f"--user disable --now {systemd.NAME}", "--user daemon-reload"]


def test_without_systemctl_it_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = service.install("systemd", a_job(tmp_path))
    assert [type(step) for step in plan.steps] == [WriteStep]
    assert f"run yourself: systemctl --user enable {systemd.NAME}" in list(service.plan_lines(plan))


def test_a_step_that_fails_is_told(tmp_path: Path, bin_: Path) -> None:
    program(bin_, "systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
    with pytest.raises(UnspoolError, match=r"systemctl --user daemon-reload` failed: Failed to connect to bus"):
        service.perform_plan(service.install("systemd", a_job(tmp_path)))
    service.perform_plan(service.uninstall("systemd"))
    assert service.uninstall("systemd") == InstallPlan()


# --- launchd ----------------------------------------------------------------------------------------


def test_an_agent_of_launchd_in_and_out(tmp_path: Path, bin_: Path, home: Path) -> None:
    path = home / "Library" / "LaunchAgents" / "unspool.watch.plist"
    service.perform_plan(service.install("launchd", a_job(tmp_path)))
    told = plistlib.loads(path.read_bytes())
    assert told["ProgramArguments"] == list(a_job(tmp_path).watch())
    assert (told["Label"], told["RunAtLoad"], told["KeepAlive"]) == (launchd.LABEL, True, {"SuccessfulExit": False})
    assert asked(bin_, "launchctl")[-1] == f"bootstrap gui/{os.getuid()} {path}"
    service.perform_plan(service.uninstall("launchd"))
    assert not path.exists()
    assert asked(bin_, "launchctl")[-1] == f"bootout gui/{os.getuid()}/{launchd.LABEL}"
    assert service.uninstall("launchd") == InstallPlan()


# --- cron -------------------------------------------------------------------------------------------

THEIRS = "MAILTO=dev\n# unspool-watch\n5 4 * * * backup # nightly\n"


def test_a_line_of_cron_in_and_out(tmp_path: Path, crontab: Path) -> None:
    """The other lines stay, to the byte."""
    crontab.write_text(THEIRS)
    service.perform_plan(service.install("cron", a_job(tmp_path)))
    assert crontab.read_text() == f"{THEIRS}{cron.line(a_job(tmp_path))}\n"
    assert service.install("cron", a_job(tmp_path)).steps == ()
    service.perform_plan(service.install("cron", ServiceJob(tmp_path / "other")))
    assert crontab.read_text() == f"{THEIRS}{cron.line(ServiceJob(tmp_path / 'other'))}\n"
    service.perform_plan(service.uninstall("cron"))
    assert crontab.read_text() == THEIRS


def test_the_first_line_of_cron(tmp_path: Path, crontab: Path) -> None:
    service.perform_plan(service.install("cron", ServiceJob(tmp_path)))
    assert crontab.read_text() == f"{cron.line(ServiceJob(tmp_path))}\n"


def test_a_last_line_that_has_no_end_gets_one(tmp_path: Path, crontab: Path) -> None:
    crontab.write_text("5 4 * * * backup")
    service.perform_plan(service.install("cron", ServiceJob(tmp_path)))
    assert crontab.read_text() == f"5 4 * * * backup\n{cron.line(ServiceJob(tmp_path))}\n"


def test_a_line_of_cron_means_what_it_should(tmp_path: Path) -> None:
    """As cron reads it (a bare percent sign ends the command) and then a shell."""
    minutes, *_, rest = cron.line(a_job(tmp_path)).split(" ", 5)
    assert minutes == "*/10"
    assert "%" not in rest.replace("\\%", "")
    assert tuple(shlex.split(rest.replace("\\%", "%"), comments=True)) == ("nice", "-n", "19", *a_job(tmp_path).sync())
    with pytest.raises(UsageProblem):
        cron.line(ServiceJob(tmp_path / "a\nb"))


def test_a_crontab_that_cannot_be_read_is_not_overwritten(tmp_path: Path, bin_: Path) -> None:
    program(bin_, "crontab", "echo 'you are not allowed' >&2; exit 1")
    with pytest.raises(UnspoolError, match="not allowed"):
        service.install("cron", ServiceJob(tmp_path))


def test_no_cron_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnspoolError, match="no `crontab`"):
        service.install("cron", ServiceJob(tmp_path))
    assert service.uninstall("cron") == InstallPlan()


# --- hooks ------------------------------------------------------------------------------------------


@pytest.fixture
def settings(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "model": "opus"\n}\n')
    path.chmod(0o644)
    return path


def test_hooks_in_and_out(tmp_path: Path, settings: Path) -> None:
    """The settings keep their mode; a copy of what was there lies beside them."""
    before = settings.read_bytes()
    plan = service.install("hooks", a_job(tmp_path))
    assert settings.read_bytes() == before
    service.perform_plan(plan)
    assert settings.read_text().count(MARK) == 2
    assert settings.stat().st_mode & 0o777 == 0o644
    assert (settings.parent / "settings.json.unspool-backup").read_bytes() == before
    assert service.install("hooks", a_job(tmp_path)).steps == ()
    service.perform_plan(service.uninstall("hooks"))
    assert settings.read_bytes() == before


def test_settings_that_changed_after_they_were_shown_are_left(tmp_path: Path, settings: Path) -> None:
    plan = service.install("hooks", a_job(tmp_path))
    settings.write_text('{"model": "haiku"}')
    with pytest.raises(UnspoolError, match="has changed"):
        service.perform_plan(plan)
    assert settings.read_text() == '{"model": "haiku"}'


def test_settings_behind_a_link(tmp_path: Path, settings: Path) -> None:
    real = tmp_path / "dotfiles.json"
    settings.rename(real)
    settings.symlink_to(real)
    service.perform_plan(service.install("hooks", a_job(tmp_path)))
    assert settings.is_symlink()
    assert MARK in real.read_text()


def test_a_hook_never_holds_the_agent_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It returns at once with 0 and says nothing; the sync gets its words as they were, and outlives the agent."""
    slow = tmp_path / "slow"
    waits = f'for i in $(seq 600); do [ -e "{tmp_path}/go" ] && break; sleep 0.1; done'
    tells = f'for a in "$@"; do echo "$a"; done > "{tmp_path}/part"; mv "{tmp_path}/part" "{tmp_path}/done"'
    program(tmp_path, "slow", f"echo begun; {waits}; {tells}; exit 3")
    monkeypatch.setattr(sys, "executable", str(slow))
    with subprocess.Popen(
        ["/bin/sh", "-c", hooks.command(a_job(tmp_path))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as agent:
        said, _ = agent.communicate(b'{"hook_event_name": "SessionEnd"}', timeout=30)
    assert (agent.returncode, said) == (0, b"")
    if shutil.which("setsid"):
        until(lambda: not _group_lives(agent.pid), lambda: "somebody is left in the agent's group")
    assert not (tmp_path / "done").exists(), "it was waited for"
    (tmp_path / "go").touch()
    until((tmp_path / "done").exists)
    assert (tmp_path / "done").read_text().splitlines() == list(a_job(tmp_path).sync()[1:])


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("path", ["", "/nowhere"])
def test_a_hook_succeeds_where_nothing_can_be_started(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    environment = {"PATH": path} if path else dict(os.environ)
    shell = shutil.which("sh") or "/bin/sh"
    command = hooks.command(a_job(tmp_path)).replace("sh -c", f"{shell} -c", 1)
    done = subprocess.run([shell, "-c", command], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# --- all of them ------------------------------------------------------------------------------------


def test_what_is_shown(tmp_path: Path, crontab: Path, settings: Path) -> None:
    """A new file whole, a changed one by its lines, a program with its arguments."""
    lines = list(service.plan_lines(service.install("hooks", ServiceJob(tmp_path))))
    assert lines[0] == f"change: {settings} (copy in settings.json.unspool-backup)"
    assert '    -  "model": "opus"' in lines
    assert '    +  "model": "opus",' in lines
    crontab.write_text(THEIRS)
    lines = list(service.plan_lines(service.install("cron", ServiceJob(tmp_path))))
    assert lines[0] == "run: crontab - with"
    assert lines[-1] == f"    +{cron.line(ServiceJob(tmp_path))}"
    lines = list(service.plan_lines(service.install("systemd", ServiceJob(tmp_path))))
    assert lines[0].startswith("write: ")
    assert "    Restart=on-failure" in lines
    assert "run: systemctl --user daemon-reload" in lines


def test_uninstalling_takes_out_all_there_is(tmp_path: Path, crontab: Path, settings: Path) -> None:
    for kind in service.KINDS:
        service.perform_plan(service.install(kind, ServiceJob(tmp_path)))
    service.perform_plan(service.uninstall(""))
    assert service.uninstall("").steps == ()
    assert crontab.read_text() == ""
    assert MARK not in settings.read_text()


def test_the_usual_kind_is_one_that_is_there(bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("other systems have one kind each")
    assert service.usual() == "systemd"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert service.usual() == "hooks"
    program(tmp_path, "crontab", "exit 0")
    assert service.usual() == "cron"


def test_an_unspool_in_a_cache_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bin_: Path) -> None:
    monkeypatch.setattr(sys, "executable", "/home/dev/.cache/uv/archive-v0/x/bin/python")
    assert any("cache" in line for line in service.install("systemd", ServiceJob(tmp_path)).notes)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python")
    assert not any("cache" in line for line in service.install("systemd", ServiceJob(tmp_path)).notes)


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(UnspoolError, match="could not be run"):
        service.perform_plan(InstallPlan((RunStep(("no-such-program-here",)),)))
