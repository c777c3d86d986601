"""Builds a Claude Code log in memory, call by call, and writes it as Claude Code lays it out."""

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Self

from tests.log_builder.lines import LogLines
from tests.log_builder.tool_calls import ToolLines


def session_files(log: LogLines) -> dict[str, bytes]:
    """Every file of a session, by its path below the agent's home."""
    files: dict[str, bytes] = {}
    for one in _with_agents(log):
        files[one.path] = one.to_bytes()
        if one.sidecar and one.since("2.1.20"):
            files[one.path.removesuffix(".jsonl") + ".meta.json"] = json.dumps(one.sidecar).encode()
        files.update(one.files)
    return files


def write_session(log: LogLines, root: Path) -> Path:
    """Write a session and its companions below root; gives the path of its log. Files are as old as its last line."""
    for name, data in session_files(log).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (log.now.timestamp(), log.now.timestamp()))
    return root / log.path


def _with_agents(log: LogLines) -> Iterator[LogLines]:
    yield log
    for child in log.children:
        yield from _with_agents(child)


class LogBuilder(ToolLines):
    """One session's log, with its subagents and companion files."""

    def write(self, root: Path) -> Path:
        """Write `<root>/projects/<encoded cwd>/<session>.jsonl` and its companions; gives the path of the log."""
        return write_session(self, root)

    def tree(self) -> dict[str, bytes]:
        """Every file that `write` would write, by its path below root."""
        return session_files(self)

    def copied(self, session_id: str, fork: bool = False) -> Self:
        """A new session that begins as a copy of this one, under the same uuids; a fork says where it is from."""
        other = deepcopy(self)
        other.session_id, other.files, other.children = session_id, {}, []
        other.ids = type(self.ids)(f"{self.seed}/{session_id}/copy")
        for line in other.lines:
            if isinstance(line, dict):
                self._readdress(line, session_id, fork)
        return other

    def _readdress(self, line: dict[str, object], session_id: str, fork: bool) -> None:
        for name in ("sessionId", "session_id"):
            if name in line:
                line[name] = session_id
        if fork and "uuid" in line:
            line["forkedFrom"] = {"sessionId": self.session_id, "messageUuid": line["uuid"]}
