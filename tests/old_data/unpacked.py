"""The old data, unpacked for one test: `OldData` is a home, a site and a hub as an old version left them."""

import json
import os
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run

HERE = Path(__file__).resolve().parent
ROOT = "/tmp/old"
"""Where the data was when it was written."""
PLAN = "a1a7e000-0c33-4d0c-8e33-000000000003"
WORK = "b0a75000-0d44-4d0c-8e44-000000000004"
RELEASE = "2e1ea5e0-0f66-4d0c-8e66-000000000006"
SHORT = "0c7a9e50-1077-4d0c-8e77-000000000007"
FORGOTTEN = "50adf00d-0b22-4d0c-8e22-000000000002"


class OldData:
    """Below a folder, with the home as this process's own, on the machine and under the user that wrote it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, *kinds: str) -> None:
        self.root = Path(os.path.realpath(root))
        self.home, self.site, self.hub = self.root / "home", self.root / "site", self.root / "hub"
        self.source, self.archive = self.home / ".claude", self.home / ".local/share/unspool"
        self.config, self.shared = self.home / ".config/unspool", self.root / "shared"
        for kind in kinds:
            with tarfile.open(HERE / f"{kind}.tar.xz") as packed:
                packed.extractall(self.root, filter="data")
        self._lives_in(monkeypatch)

    def _lives_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("LOGNAME", "ada")
        for name in ("CONFIG", "DATA", "CACHE", "STATE"):
            monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        monkeypatch.setattr("platform.node", lambda: "harbour-pc")
        real = os.path.realpath

        def as_it_was(path: str | Path, **more: Any) -> str:
            return real(path, **more).replace(str(self.source), f"{ROOT}/home/.claude")

        monkeypatch.setattr("os.path.realpath", as_it_was)

    def log(self, session: str) -> Path:
        """The log of a session, where the agent has it."""
        return self.source / "projects/-home-dev-harbour" / f"{session}.jsonl"

    def logs(self) -> dict[str, bytes]:
        """Every file of the source, by its path in it."""
        files = (path for path in self.source.rglob("*") if path.is_file())
        return {path.relative_to(self.source).as_posix(): path.read_bytes() for path in files}

    def run(self, *arguments: str | Path) -> Outcome:
        """What today's version does."""
        return run(*map(str, arguments))

    def said(self, *arguments: str | Path) -> str:
        """What today's version prints; it must end well."""
        done = self.run(*arguments)
        assert done.code == 0, done.err
        return done.out

    def json(self, *arguments: str | Path) -> Any:
        """What today's version answers, with paths as they were when the data was written."""
        done = self.run(*arguments, "--json")
        assert done.out, done.err
        return json.loads(done.out.replace(str(self.root), ROOT))

    def moved_hub(self, address: str) -> None:
        """Have what this home knows of its hub be true of a hub at another address."""
        was = self.secrets()["url"]
        for path in (self.config / "hubs.json", self.config / "push/chosen.json"):
            path.write_text(path.read_text().replace(was, address))
        old, new = (sha256(url.encode()).hexdigest()[:16] for url in (was, address))
        (self.config / f"push/pushed-{old}.jsonl").rename(self.config / f"push/pushed-{new}.jsonl")

    def secrets(self) -> dict[str, str]:
        """Tokens and addresses of the old hub."""
        found: dict[str, str] = json.loads((self.shared / "hub.json").read_text())
        return found


def answers() -> dict[str, dict[str, Any]]:
    """What the old version answered: by name, what was asked and the answer."""
    with tarfile.open(HERE / "shared.tar.xz") as packed:
        files = {Path(one.name): packed.extractfile(one) for one in packed if one.name.startswith("answers/")}
        return {path.stem: json.loads(file.read()) for path, file in files.items() if file is not None}


OLD = answers()
CHANGES_WITH_TIME = {"score"}
"""What is old is found a little later every day."""
FEWER = {"tool_errors", "errors"}
"""Calls that were refused, interrupted or without a result no longer count as failed (CHANGELOG.md)."""


MENDED = {
    "redact": {".rules"},  # more is found: keys joined to a name, the name that git signs with, ids of accounts
    # A subagent's log that stands for itself is counted as `info` counts it, where a list counted none of its lines.
    # A link calls a session as the list itself does.
    "list": {
        *(f".sessions[4].{name}" for name in ("agents", "messages", "title", "tool_calls", "turns")),
        ".sessions[2].links[0].title",
    },
    # Each line of a type that nobody knows is weighed, where only the first was.
    "stats": {f".filled[{place}].{name}" for place in (6, 7, 8) for name in ("name", "tokens", "sessions")},
    "lint": {".findings"},  # a line of a type that nobody knows is noted
    "info-work": {".session.links[0].title"},
}
"""What is answered otherwise on purpose (CHANGELOG.md says so), by question."""


def differing(name: str, answer: Any) -> list[str]:
    """What an answer lacks of the old one, or has otherwise though nobody meant it to."""
    return [one for one in lost(OLD[name]["answer"], answer) if one.split()[0] not in MENDED.get(name, ())]


def lost(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Where an answer lacks what the old one had, or has it otherwise; keys may have been added."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in CHANGES_WITH_TIME:
                continue
            if key in FEWER and new.get(key, 0) <= value:
                continue
            if key in new:
                yield from lost(value, new[key], f"{path}.{key}")
            else:
                yield f"{path}.{key} is gone"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from lost(one, other, f"{path}[{place}]")
    elif old != new:
        yield f"{path} was {old!r}, is {new!r}"
