"""The browsers of this machine, run by their command line: to print, to draw, to have a window of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_ON_PATH = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "microsoft-edge-stable", "msedge", "brave-browser", "brave",
)  # fmt: skip
_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
_PROGRAMS = (
    "Google/Chrome/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)


def find_browser(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> str | None:
    """The program of a Chromium, Chrome, Edge or Brave; None where there is none."""
    named = (shutil.which(name, path=environment.get("PATH")) for name in _ON_PATH)
    return next((one for one in (*named, *map(str, _installed(environment, system))) if one), None)


def _installed(environment: Mapping[str, str], system: str) -> Iterator[Path]:
    """Browsers that are on no search path."""
    if system == "darwin":
        for folder in (Path("/Applications"), Path(environment.get("HOME", "/")) / "Applications"):
            programs = (folder / f"{name}.app" / "Contents" / "MacOS" / name for name in _APPLICATIONS)
            yield from (path for path in programs if path.is_file())
    elif system == "win32":
        places = (environment.get(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"))
        yield from (path for one in places if one for name in _PROGRAMS if (path := Path(one, name)).is_file())


def run_without_window(
    browser: str, folder: Path, arguments: Sequence[str], patience: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a browser that shows nothing, reaches no network, and keeps what it keeps in a folder.

    OSError or subprocess.TimeoutExpired where it cannot be run, or does not end.
    """
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # whom its sandbox refuses
    command = [
        browser, "--headless", *root, "--disable-gpu", "--no-first-run", "--disable-extensions",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
        f"--user-data-dir={folder / 'profile'}", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, timeout=patience, check=False)  # noqa: S603
