"""What git knows of a repository: commits, what a file was, who committed its lines, what it was called before.

git is run only for commands that are asked about a repository, and so that nothing runs which the repository
configures: no hook, filter, pager, signature program, file-system monitor or external diff.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

_SAFE = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false",
    "-c", "protocol.allow=never", "-c", "core.quotePath=false", "-c", "blame.ignoreRevsFile=",
)  # fmt: skip
_PATIENCE = 60.0
_HEADER = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: (\d+))?")
_TRAILER = re.compile(r"(?im)^(?:co-authored-by|assisted-by|generated-by|agent-model)\s*:|generated with \[?")
_FORMAT = "%H%x00%an <%ae>%x00%at%x00%s%x00%B%x1e"
_RENAMED = re.compile(r"^R\d*\t([^\t]+)\t([^\t]+)$", re.M)


class GitCommit(NamedTuple):
    hash: str
    author: str
    time: float
    """When its author made it, which a rebase keeps."""
    subject: str
    agent_named: bool = False
    """Whether its message says that a program took part in it."""


class ChangedLines(NamedTuple):
    """The lines that a commit put into a file."""

    path: str
    lines: list[str]


class CommittedLine(NamedTuple):
    """Which commit a line of a file comes from."""

    commit: str
    number: int
    """Of the line in the file as that commit left it."""
    path: str
    """What the file was called there."""


class GitRepository:
    def __init__(self, top: str) -> None:
        self.top = top

    @classmethod
    def around(cls, folder: Path) -> "GitRepository | None":
        """The repository that a folder is in; None where it is in none, or there is no git."""
        told = _run(str(folder), "rev-parse", "--show-toplevel")
        return cls(told.rstrip("\n")) if told and told.strip() else None

    def commit(self, name: str) -> GitCommit | None:
        """The commit that is called so."""
        return next(iter(self.commits(name, 1)), None)

    def commits(self, at: str, most: int) -> list[GitCommit]:
        """The commits from one on, the newest first; merges are none of them unless one is named."""
        only = ["--no-merges"] if most > 1 else []
        told = self._run("log", f"-{most}", *only, f"--format={_FORMAT}", "--end-of-options", at, "--")
        found = []
        for record in (told or "").split("\x1e"):
            parts = record.strip("\n").split("\0", 4)
            if len(parts) == 5:
                time = float(parts[2]) if re.fullmatch(r"\d{1,12}", parts[2]) else 0.0
                found.append(GitCommit(parts[0], parts[1], time, parts[3], _TRAILER.search(parts[4]) is not None))
        return found

    def added_lines(self, commit: str) -> list[ChangedLines]:
        """The lines that a commit, by its hash, put into each file of text."""
        plain = (
            "--format=",
            "-U0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "-M",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        )
        told = self._run("show", *plain, commit, "--")
        found: list[ChangedLines] = []
        header = True
        for line in (told or "").split("\n"):
            if line.startswith("diff --git "):
                header = True
            elif header and line.startswith("+++ "):
                found.append(ChangedLines(line.removeprefix("+++ ").removeprefix("b/").rstrip("\t"), []))
            elif line.startswith("@@ "):
                header = False
            elif not header and line.startswith("+") and found:
                found[-1].lines.append(line[1:])
        return found

    def text(self, path: str, at: str) -> str | None:
        """A file as a commit has it, by its path below the top."""
        return self._run("cat-file", "blob", "--end-of-options", f"{at}:{path}")

    def blame(self, path: str, at: str) -> list[CommittedLine]:
        """The lines of a file as a commit, by its hash, has it; each with the commit that it comes from, through moves
        and copies."""
        told = self._run("blame", "--porcelain", "--no-textconv", "-w", "-M", "-C", at, "--", path)
        found: list[CommittedLine] = []
        names: dict[str, str] = {}
        commit, number = "", 0
        for line in (told or "").split("\n"):
            if line.startswith("\t"):
                found.append(CommittedLine(commit, number, names.get(commit, path)))
            elif header := _HEADER.fullmatch(line):
                commit, number = header[1], int(header[2])
            elif line.startswith("filename "):
                names[commit] = line.removeprefix("filename ")
        return found

    def earlier_names(self, path: str, at: str) -> list[str]:
        """What a file was called before, the latest name first."""
        arguments = (
            "--follow",
            "-M",
            "--diff-filter=R",
            "--name-status",
            "--format=",
            "--no-ext-diff",
            "--no-textconv",
        )
        told = self._run("log", *arguments, "--end-of-options", at, "--", path)
        return list(dict.fromkeys(old for old, _ in _RENAMED.findall(told or "") if old != path))

    def note(self, ref: str, commit: str) -> str:
        """What is noted of a commit; empty where nothing is."""
        return self._run("notes", f"--ref={ref}", "show", commit) or ""

    def add_note(self, ref: str, commit: str, text: str) -> bool:
        """Note something of a commit that has no such note yet."""
        return self._run("notes", f"--ref={ref}", "add", "-m", text, commit) is not None

    def worktrees(self) -> list[str]:
        """The folders in which the repository is checked out."""
        told = self._run("worktree", "list", "--porcelain", "-z") or ""
        return [one.removeprefix("worktree ") for one in told.split("\0") if one.startswith("worktree ")]

    def _run(self, *arguments: str) -> str | None:
        return _run(self.top, *arguments)


def _run(folder: str, *arguments: str) -> str | None:
    """What git says; None where it fails."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", folder, *_SAFE, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=_PATIENCE, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout.decode("utf-8", "replace")
