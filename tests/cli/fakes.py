"""Programs that commands start, as scripts on a PATH of the test: gh, and a browser."""

import os
from pathlib import Path

import pytest


def program(folder: Path, name: str, script: str) -> None:
    """A program of that name in a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs of that folder be found first."""
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


GIST = "https://gist.github.com/ada/0123456789abcdef0123456789abcdef"


def gh(folder: Path, monkeypatch: pytest.MonkeyPatch, code: int = 0, says: str = GIST) -> Path:
    """A `gh` that keeps what it was given: arguments, one a line, in `asked`, files in `files/`."""
    keep = f'mkdir -p "{folder}/files"; for a in "$@"; do echo "$a" >> "{folder}/asked"; '
    keep += f'case "$a" in *.html) cp "$a" "{folder}/files/";; esac; done'
    program(folder, "gh", f"{keep}\necho '{says}' >&{2 if code else 1}\nexit {code}")
    on_path(folder, monkeypatch)
    return folder


def browser(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that notes what it was told to open; the note."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / "opened"

    def open_(address: str) -> bool:
        note.write_text(address)
        return True

    monkeypatch.setattr("webbrowser.open", open_)
    return note
