"""Which of Claude Code's files change while a session goes on: what a watch must look at, and nothing more.

The agent's folder also holds programs, caches and settings, some with thousands of folders; watching those would cost
much and tell nothing.
"""

from pathlib import Path

from unspool.formats.claude_code.belongings import home

_LIVELY = ("projects", "plans", "tasks", "todos", "file-history", "paste-cache", "history.jsonl")


def lively(root: Path) -> list[Path]:
    """The paths of a source whose changes matter, whether they are there or not."""
    own = home(root)
    if own is not None and root in (own, own / "projects"):
        return [own / name for name in _LIVELY]
    return [root]
