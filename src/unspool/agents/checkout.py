"""The git checkout that a folder is in: its main checkout, and the web address that it came from.

Read from the files below `.git`; git itself is never run, for what a repository configures could then be run too.
"""

import os
import re
import stat
from pathlib import Path

_WORKTREES = (
    re.compile(r"^(.+?)[\\/]\.claude[\\/]worktrees[\\/][^\\/]+"),
    re.compile(r"^(.+)[\\/]t3code-[0-9a-f]+(?:[\\/]|$)"),
    re.compile(r"^(.+?)[\\/]\.worktrees[\\/][^\\/]+"),
)
_KEPT_WORKTREE = re.compile(r"^(.+[\\/])worktrees[\\/](?P<name>[^\\/]+)[\\/][^\\/]+[\\/](?P=name)$")
"""A folder of worktrees beside the checkouts: worktrees/NAME/BRANCH/NAME stands for NAME."""
_NAMED_WORKTREE = re.compile(r"[\\/]([^\\/]+)[\\/]t3code-[0-9a-f]+(?:[\\/]|$)")
_GITDIR = re.compile(r"^gitdir:\s*(.+?)\s*$", re.MULTILINE)
_LINKED = re.compile(r"^(.+?)[\\/]\.git[\\/]worktrees[\\/]")
_ORIGIN = re.compile(r'^\s*\[remote "origin"\]\s*$(.*?)(?=^\s*\[|\Z)', re.MULTILINE | re.DOTALL)
_URL = re.compile(r"^\s*url\s*=\s*\"?([^\"\n]+?)\"?\s*$", re.MULTILINE)
_REMOTE = re.compile(
    r"(?:(?P<scheme>https?|ssh|git)://(?:[^@/\s]*@)?|(?:[\w.-]+@)?(?=[^/]*:(?!/)))"
    r"(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?P<port>:\d{1,5}(?=/))?[:/](?P<name>[\w.~+-]+(?:/[\w.~+-]+)*)"
)
_DEEPEST, _LARGEST = 40, 64 * 1024


def main_checkout(path: str) -> str:
    """The main checkout of a work tree, as the tree itself says or as its path tells; any other path as it is."""
    top = _top(path)
    named = _LINKED.match(_gitdir(top)) if top is not None else None
    if named:
        return named[1]
    found = next((match for pattern in _WORKTREES if (match := pattern.match(path))), None)
    if found:
        return found[1]
    kept = _KEPT_WORKTREE.match(path)
    return kept[1] + kept["name"] if kept else path


def repository_top(path: str) -> str:
    """The folder around a path that is a checkout's top; empty where there is none."""
    top = _top(path)
    return "" if top is None else str(top)


def worktree_name(path: str) -> str:
    """The name of the project that a work tree is of, where its path tells no more than that."""
    found = _NAMED_WORKTREE.search(path)
    return found[1] if found else ""


def remote_address(path: str) -> str:
    """The web address that the checkout around a folder calls origin; empty where there is none."""
    top = _top(path)
    if top is None:
        return ""
    said = _gitdir(top)
    folder = top / (said or ".git")
    shared = _read(folder / "commondir").strip()
    config = _read((folder / shared if shared else folder) / "config")
    section = _ORIGIN.search(config)
    url = _URL.search(section[1]) if section else None
    return web_remote(url[1]) if url else ""


def web_remote(url: str) -> str:
    """The web address of a remote as git writes it, without what lets one in; empty where it has none."""
    found = _REMOTE.fullmatch(url.strip().rstrip("/").removesuffix(".git"))
    if found is None or ".." in found["name"].split("/") or found["name"].isdigit():
        return ""
    port = found["port"] if found["port"] and found["scheme"] == "https" else ""
    return f"https://{found['host']}{port}/{found['name']}"


def _top(path: str) -> Path | None:
    """The folder around a path that has a `.git`; None where there is none, or the path is none of this machine."""
    here = Path(path)
    if not here.is_absolute():
        return None
    folder, above = str(here), ""
    for _ in range(_DEEPEST):
        try:
            if stat.S_IFMT(os.lstat(f"{folder}{os.sep}.git").st_mode) in (stat.S_IFDIR, stat.S_IFREG):
                return Path(folder)
        except (OSError, ValueError):
            pass  # there is none
        folder, above = os.path.dirname(folder), folder  # noqa: PTH120  of thousands of logs
        if folder == above:
            break
    return None


def _gitdir(top: Path) -> str:
    """Where a `.git` that is a file says that the folder is; empty where it is the folder itself."""
    found = _GITDIR.search(_read(top / ".git"))
    return found[1] if found else ""


def _read(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_LARGEST)
    except (OSError, ValueError):
        return ""
