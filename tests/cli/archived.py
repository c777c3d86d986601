"""The demo, synced into an archive, and commands run on that."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run
from unspool.demo import write_demo


class Synced:
    """An archive with the demo's sessions, and the source that they came from."""

    def __init__(self, place: Path) -> None:
        self.source = write_demo(place / "agent")
        self.folder = place / "archive"
        self.sync()

    def sync(self) -> Outcome:
        return self.run("sync", "-s", str(self.source))

    def run(self, *arguments: str, code: int = 0) -> Outcome:
        """Run a command on this archive; it must end with that code."""
        done = run(*arguments, "--archive", str(self.folder))
        assert done.code == code, (done.out, done.err)
        return done

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code).out)

    def flip(self, place: int) -> None:
        path = self.folder / "archive.db"
        data = bytearray(path.read_bytes())
        data[place] ^= 0x10
        path.write_bytes(data)

    def of(self, session: str) -> dict[str, bytes]:
        """The files at the source that bear a session's id, by their path there."""
        found = (path for path in self.source.rglob("*") if path.is_file() and session in str(path))
        return {path.relative_to(self.source).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def synced(tmp_path: Path) -> Synced:
    return Synced(tmp_path)
