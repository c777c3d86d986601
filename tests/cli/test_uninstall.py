"""`unspool uninstall`: all goes that unspool put somewhere, and nothing that it keeps."""

from pathlib import Path

import pytest

from tests.cli.running import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude/projects").mkdir(parents=True)
    (tmp_path / ".claude/settings.json").write_text('{\n  "model": "opus"\n}\n')
    return tmp_path


def files(home: Path) -> set[str]:
    return {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}


def test_what_was_installed_goes_and_the_archive_stays(home: Path) -> None:
    """Settings of agents are as before, no copies of them are left, and it is said where the archive is."""
    assert run("sync", "-q").code == 0
    before = files(home)
    for words in (
        ("watch", "--install", "hooks", "-y"),
        ("mcp", "--install", "claude", "-y"),
        ("open", "--install", "-y"),
    ):
        assert run(*words).code == 0
    assert run("list", "--demo").code == 0
    assert len(files(home)) > len(before)
    done = run("uninstall", "-y")
    assert done.code == 0, done.err
    assert str(home / ".local/share/unspool") in done.out
    assert files(home) - before <= {".claude.json"}
    assert (home / ".claude/settings.json").read_text() == '{\n  "model": "opus"\n}\n'


def test_a_dry_run_only_tells(home: Path) -> None:
    assert run("list", "--demo").code == 0
    before = files(home)
    done = run("uninstall", "-n")
    assert (done.code, files(home)) == (0, before)
    assert f"remove: {home / '.cache/unspool'}" in done.out


def test_settings_go_only_where_that_is_asked_for(home: Path) -> None:
    (home / ".config/unspool").mkdir(parents=True)
    (home / ".config/unspool/settings.toml").write_text("")
    run("uninstall", "-y")
    assert ".config/unspool/settings.toml" in files(home)
    run("uninstall", "-y", "--settings")
    assert ".config/unspool/settings.toml" not in files(home)


def test_a_folder_that_holds_the_archive_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(home / ".cache/unspool/kept"))
    assert run("sync", "-q").code == 0
    assert run("uninstall", "-y").code == 0
    assert ".cache/unspool/kept/archive.db" in files(home)
