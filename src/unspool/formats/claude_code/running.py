"""sessions/<pid>.json: the sessions that are open, as their processes say, and whether these are still there."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from unspool.formats.claude_code.small import read, regular
from unspool.formats.claude_code.values import moment, text, whole
from unspool.formats.traces import Running
from unspool.model import Json

_NAME = re.compile(r"(?:pid-)?(\d{1,9})\.json")
_MOST = 10_000


def running(root: Path) -> Iterator[Running]:
    """Every session that a process has registered below the agent's folder."""
    try:
        with os.scandir(root / "sessions") as entries:
            names = sorted(entry.name for _, entry in zip(range(_MOST), entries, strict=False))
    except OSError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        path = root / "sessions" / name
        data = read(path) if found and regular(path) else None
        if found and data is not None:
            yield _running(int(found[1]), data)


def _running(named: int, data: dict[str, Json]) -> Running:
    pid = whole(data.get("pid")) or named
    changed = moment(data.get("statusUpdatedAt")) or moment(data.get("updatedAt"))
    return Running(
        pid,
        text(data.get("sessionId")) or text(data.get("session_id")),
        text(data.get("cwd")),
        text(data.get("status")),
        moment(data.get("startedAt")),
        changed,
        alive(pid, text(data.get("procStart"))),
    )


def alive(pid: int, began: str = "") -> bool | None:
    """Whether a process is there, and the one meant: a number is given anew once its process is gone."""
    if os.name != "posix":
        return None  # asking by signal 0 would interrupt the process there
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)  # asks only: nothing is sent
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return not began or _began(pid) in ("", began)


def _began(pid: int) -> str:
    """When a process began, in the ticks that Linux counts; empty where that cannot be told."""
    if sys.platform != "linux":
        return ""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = told.rpartition(b")")[2].split()
    return fields[19].decode() if len(fields) > 19 else ""
