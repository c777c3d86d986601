"""A window of its own in a browser, and the entry in the system's menu that opens it."""

import plistlib
import shlex
import subprocess
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.app.render import STATIC
from unspool.browsers import find_browser
from unspool.store.sync.service.plan import InstallPlan, join_plans, unspool_command, write_file


def open_page(address: str, *, window: bool = False) -> None:
    """Show a page in the browser; in a window of its own where one of the browsers here has such windows."""
    browser = find_browser() if window else None
    if browser is None:
        webbrowser.open(address)
        return
    subprocess.Popen(  # noqa: S603  a browser of this machine
        [browser, f"--app={address}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def menu_entry(environment: Mapping[str, str], system: str, *, there: bool = True) -> InstallPlan:
    """What puts unspool into the menu of this system, or takes it out."""
    home = Path(environment.get("HOME") or Path.home())
    make = {"darwin": _mac_files, "win32": _windows_files}.get(system, _linux_files)
    return join_plans(
        *(
            write_file(path, content if there else None, executable=executable)
            for path, content, executable in make(environment, home)
        )
    )


_Files = Iterator[tuple[Path, bytes, bool]]
"""Path, content, and whether it is a program."""
_ABOUT = "Sessions of coding agents: read, search, measure"


def _command() -> tuple[str, ...]:
    return (*unspool_command(), "open", "--window")


def _linux_files(environment: Mapping[str, str], home: Path) -> _Files:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    lines = (
        "[Desktop Entry]",
        "Type=Application",
        "Name=unspool",
        f"Comment={_ABOUT}",
        f"Exec={' '.join(map(_desktop_word, _command()))}",
        "Icon=unspool",
        "Terminal=false",
        "Categories=Development;",
        "StartupNotify=true",
    )
    yield data / "applications" / "unspool.desktop", "\n".join((*lines, "")).encode(), False
    yield data / "icons/hicolor/scalable/apps/unspool.svg", (STATIC / "app-icon.svg").read_bytes(), False


def _desktop_word(word: str) -> str:
    """A word of an `Exec` line: quoted, then escaped as every value of the file is."""
    escaped = "".join(f"\\{sign}" if sign in '"`$\\' else sign for sign in word)
    return f'"{escaped}"'.replace("\\", "\\\\").replace("%", "%%")


def _mac_files(_: Mapping[str, str], home: Path) -> _Files:
    folder = home / "Applications" / "unspool.app" / "Contents"
    facts = {
        "CFBundleName": "unspool",
        "CFBundleIdentifier": "unspool.app",
        "CFBundlePackageType": "APPL",
        "CFBundleExecutable": "unspool",
        "CFBundleIconFile": "unspool.icns",
        "LSUIElement": True,
    }
    picture = (STATIC / "app-icon-512.png").read_bytes()
    piece = b"ic09" + (len(picture) + 8).to_bytes(4) + picture
    yield folder / "Info.plist", plistlib.dumps(facts, sort_keys=False), False
    yield folder / "Resources" / "unspool.icns", b"icns" + (len(piece) + 8).to_bytes(4) + piece, False
    yield folder / "MacOS" / "unspool", f"#!/bin/sh\nexec {shlex.join(_command())}\n".encode(), True


def _windows_files(environment: Mapping[str, str], home: Path) -> _Files:
    menu = Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / "Microsoft/Windows/Start Menu/Programs"
    python, *rest = _command()
    quiet = str(Path(python).with_name("pythonw.exe"))  # without a window of its own for words
    line = subprocess.list2cmdline([quiet, *rest]).replace("%", "%%")
    yield menu / "unspool.cmd", f'@start "" {line}\r\n'.encode(), False
