"""A window of its own, and the entry in the menu of each system."""

import plistlib
import re
import sys
from pathlib import Path

import pytest

from tests.cli.running import run
from unspool.app.desktop import menu_entry
from unspool.browsers import find_browser
from unspool.store.sync.service.plan import perform_plan


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_browser_that_has_windows_is_found(tmp_path: Path) -> None:
    assert find_browser({"PATH": str(tmp_path)}, "linux") is None
    brave = program(tmp_path / "brave-browser")
    assert find_browser({"PATH": str(tmp_path)}, "linux") == str(brave)
    chrome = program(tmp_path / "google-chrome")
    assert find_browser({"PATH": str(tmp_path)}, "linux") == str(chrome)


def test_browsers_on_no_path_are_found(tmp_path: Path) -> None:
    edge = program(tmp_path / "Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge")
    assert find_browser({"PATH": "", "HOME": str(tmp_path)}, "darwin") == str(edge)
    chrome = program(tmp_path / "Google/Chrome/Application/chrome.exe")
    assert find_browser({"PATH": "", "PROGRAMFILES": str(tmp_path)}, "win32") == str(chrome)


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_what_is_written_is_removed_again(home: Path, system: str) -> None:
    environment = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "APPDATA": str(home / "roaming")}
    perform_plan(menu_entry(environment, system))
    written = [path for path in home.rglob("*") if path.is_file()]
    assert written
    assert menu_entry(environment, system).steps == ()
    assert any(b"open" in path.read_bytes() and b"--window" in path.read_bytes() for path in written)
    perform_plan(menu_entry(environment, system, there=False))
    assert not any(path.is_file() for path in home.rglob("*"))
    assert menu_entry(environment, system, there=False).steps == ()


def test_the_entry_of_linux_starts_this_unspool(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the path is called: it is read back as the menu reads it."""
    monkeypatch.setattr(sys, "executable", '/odd "path"/100%/$HOME\\python')
    perform_plan(menu_entry({"XDG_DATA_HOME": str(home)}, "linux"))
    lines = dict(line.split("=", 1) for line in (home / "applications/unspool.desktop").read_text().splitlines()[1:])
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', lines["Exec"].replace("%%", "%").replace("\\\\", "\\"))
    assert [re.sub(r"\\(.)", r"\1", word) for word in words] == [
        sys.executable,
        "-P",
        "-m",
        "unspool",
        "open",
        "--window",
    ]
    assert (home / f"icons/hicolor/scalable/apps/{lines['Icon']}.svg").is_file()


def test_the_bundle_of_macos_is_one(home: Path) -> None:
    perform_plan(menu_entry({"HOME": str(home)}, "darwin"))
    folder = home / "Applications/unspool.app/Contents"
    facts = plistlib.loads((folder / "Info.plist").read_bytes())
    assert (folder / "MacOS" / facts["CFBundleExecutable"]).stat().st_mode & 0o100
    picture = (folder / "Resources" / facts["CFBundleIconFile"]).read_bytes()
    assert (picture[:4], int.from_bytes(picture[4:8])) == (b"icns", len(picture))


def test_the_command_shows_what_it_writes_before_it_does(home: Path) -> None:
    told = run("open", "--install")
    assert told.code == 2
    assert "unspool.desktop" in told.out
    assert not (home / "xdg_data_home" / "applications").exists()
    assert "Done." in run("open", "--install", "--yes").out
    assert (home / "xdg_data_home/applications/unspool.desktop").is_file()
    assert "Nothing to do." in run("open", "--install", "--yes").out
    assert "remove:" in run("open", "--uninstall", "--yes").out
    assert not (home / "xdg_data_home/applications/unspool.desktop").exists()
    assert run("open", "--install", "--uninstall").code == 2
