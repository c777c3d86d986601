"""Which project a session belongs to: the folder it worked in, worktrees and moved folders led back."""

import re
from pathlib import Path
from urllib.parse import unquote

from unspool.model import Facts

_OWN_WORKTREE = re.compile(r"^(.+?)[\\/]\.claude[\\/]worktrees[\\/][^\\/]+")
_TOOL_WORKTREE = re.compile(r"^(.+)[\\/]t3code-[0-9a-f]+$")
_HIDDEN_WORKTREE = re.compile(r"^(.+?)[\\/]\.worktrees[\\/][^\\/]+")
_KEPT_WORKTREE = re.compile(r"^(.+[\\/])worktrees[\\/](?P<name>[^\\/]+)[\\/][^\\/]+[\\/](?P=name)$")
"""A folder of worktrees beside the checkouts: worktrees/NAME/BRANCH/NAME stands for NAME."""
_GITDIR = re.compile(r"^gitdir:\s*(.+?)[\\/]\.git[\\/]worktrees[\\/]", re.MULTILINE)


def project(facts: Facts, folder: str) -> str:
    """The path of the project; the folder's own name only where no line names one."""
    told = facts.relocated or facts.worktree_of or facts.cwd
    if told:
        return _main(told)
    return unquote(folder) if "%2f" in folder.lower() else folder


def _main(path: str) -> str:
    """The main checkout of a worktree; any other path as it is."""
    for pattern in (_OWN_WORKTREE, _TOOL_WORKTREE, _HIDDEN_WORKTREE):
        found = pattern.match(path)
        if found:
            return found[1]
    kept = _KEPT_WORKTREE.match(path)
    if kept:
        return kept[1] + kept["name"]
    return _linked(path) or path


def _linked(path: str) -> str:
    """The checkout that a linked worktree's `.git` file names, where the folder is still there."""
    marker = Path(path) / ".git"
    try:
        if not marker.is_file():
            return ""
        with marker.open(encoding="utf-8", errors="replace") as stream:
            found = _GITDIR.search(stream.read(4096))
    except (OSError, ValueError):
        return ""
    return found[1] if found else ""
