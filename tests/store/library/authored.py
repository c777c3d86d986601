"""Repositories whose every line has a known author: sessions that edit, a person, a formatter, renames, rebases."""

import os
import random
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.log_builder.builder import LogBuilder

_WORDS = ("tide", "quay", "boat", "rope", "mast", "sail", "keel", "crew", "dock", "lamp", "buoy", "reef")
_REPEATED = ("", "}", "    return None", "    pass")
"""Lines that stand in many places."""
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class AuthoredRepository:
    """One file that several hands change. `truth` says whose each line is: `session:N`, `person`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.top, self.random = folder / "work" / "harbour", random.Random(seed)
        self.top.mkdir(parents=True)
        self.name, self.lines, self.truth = "quay.py", list[str](), list[str]()
        self.sessions: list[LogBuilder] = []
        self._now, self._written = START, 0
        self.git("init", "-q", "-b", "main")

    @property
    def path(self) -> Path:
        return self.top / self.name

    def git(self, *arguments: str) -> str:
        stamp = f"{int(self._now.timestamp())} +0000"
        given = {
            **os.environ, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(self.top.parent),
        }  # fmt: skip
        command = ["git", "-C", str(self.top), "-c", "user.name=Ana", "-c", "user.email=ana@example.com", *arguments]
        done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
        return done.stdout

    def session(self, prompt: str) -> LogBuilder:
        """A session that begins now, some hours after whatever was done before."""
        self._now += timedelta(hours=self.random.randrange(3, 20))
        name = f"session-{len(self.sessions)}"
        log = LogBuilder(session_id=name, seed=name, cwd=str(self.top), start=self._now).prompt(prompt)
        self.sessions.append(log)
        return log

    def _fresh(self) -> str:
        self._written += 1
        words = self.random.sample(_WORDS, 3)
        return (
            f"{'    ' * self.random.randrange(3)}{words[0]}_{self._written} = {words[1]}({words[2]!r}, {self._written})"
        )

    def _save(self) -> None:
        self.path.write_text("".join(f"{line}\n" for line in self.lines))

    def _change(self, owner: str) -> tuple[str, str]:
        """Put lines in, replace or take some out, anywhere; the text before and after."""
        before = "".join(f"{line}\n" for line in self.lines)
        at = self.random.randrange(len(self.lines) + 1)
        gone = min(self.random.choice((0, 0, 1, 2)), len(self.lines) - at)
        came = [self._fresh() for _ in range(self.random.randrange(1, 5))]
        self.lines[at : at + gone], self.truth[at : at + gone] = came, [owner] * len(came)
        return before, "".join(f"{line}\n" for line in self.lines)

    def agent_writes(self, log: LogBuilder) -> None:
        before, after = self._change(f"session:{log.session_id}")
        log.wrote(str(self.path), after, before or None)
        self._save()
        self._now += timedelta(minutes=2)

    def agent_edits(self, log: LogBuilder) -> None:
        """An edit by the text around it, as agents make them."""
        before, after = self._change(f"session:{log.session_id}")
        old, new = _around(before, after)
        if before.count(old) != 1 or not old:
            log.wrote(str(self.path), after, before or None)
        else:
            log.edited(str(self.path), before, old, new)
        self._save()
        self._now += timedelta(minutes=2)

    def person_edits(self) -> None:
        self._now += timedelta(hours=4)
        self._change("person")
        self._save()

    def formatter_runs(self) -> None:
        """Quotes, indents and commas change; nobody's words do."""
        self.lines = [re.sub(r"'(\w+)'", r'"\1"', re.sub(r"^ +", lambda m: m[0] * 2, line)) for line in self.lines]
        self._save()

    def commit(self, message: str, log: LogBuilder | None = None) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        number = self.git("rev-parse", "--short", "HEAD").strip()
        if log is not None:
            log.ran(f"git commit -m '{message}'", f"[main {number}] {message}\n 1 file changed")

    def rename(self, name: str) -> None:
        self.git("mv", self.name, name)
        self.name = name
        self.commit(f"Call it {name}")

    def rebase(self) -> None:
        """Every commit gets another hash."""
        self.git("commit", "-q", "--amend", "--no-edit", "--reset-author") if self._written % 2 else self.git(
            "-c", "core.editor=true", "commit", "-q", "--amend", "-m", self.git("log", "-1", "--format=%s").strip()
        )

    def revert(self) -> None:
        """What was not committed goes."""
        self.git("checkout", "-q", "--", self.name)


def _around(before: str, after: str) -> tuple[str, str]:
    """The smallest whole lines that differ, with one before and one after them."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    start, end = max(0, start - 1), max(0, end - 1)
    return "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])


def harbour(folder: Path, seed: int, rounds: int = 12) -> AuthoredRepository:
    """A file that changed hands many times."""
    made = AuthoredRepository(folder, seed)
    log = made.session("Build a quay")
    made.agent_writes(log)
    made.commit("A quay", log)
    for number in range(rounds):
        way = made.random.choice(("agent", "agent", "agent", "person", "person", "format", "rename", "rebase"))
        if way == "agent":
            log = made.session(f"Change it, round {number}")
            for _ in range(made.random.randrange(1, 4)):
                made.random.choice((made.agent_edits, made.agent_edits, made.agent_writes))(log)
            made.commit(f"Round {number}", log)
        elif way == "person":
            made.person_edits()
            made._now += timedelta(hours=3)
            made.commit(f"By hand, round {number}")
        elif way == "format":
            made._now += timedelta(hours=3)
            made.formatter_runs()
            made.commit(f"Format, round {number}")
        elif way == "rename":
            made._now += timedelta(hours=3)
            made.rename(f"quay_{number}.py")
        else:
            made.rebase()
    return made
