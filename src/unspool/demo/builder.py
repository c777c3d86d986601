"""A Claude Code log in memory, built call by call: for the demo, the documentation and every test.

    log = LogBuilder(version="2.1.230")
    use = log.use("Bash", command="ls")
    log.prompt("What is here?").assistant(log.think(), use).result(use, "README.md")
    log.assistant(log.text("A README.")).write(folder)

Line methods return the builder, so they chain; `last` is the uuid of the line just written; every line method
that takes `**extra` sets top-level fields of the line with it. Nothing is random: the same calls give the same
bytes, and another `seed` or `session_id` gives other ids.
"""

from copy import deepcopy
from pathlib import Path
from typing import Self

from unspool.demo import layout
from unspool.demo.tools import Tools


class LogBuilder(Tools):
    """One session's log, with its subagents and companion files."""

    def write(self, root: Path) -> Path:
        """Write `<root>/projects/<encoded cwd>/<session>.jsonl` and its companions; gives the path of the log."""
        return layout.write(self, root)

    def tree(self) -> dict[str, bytes]:
        """Every file that `write` would write, by its path below root."""
        return layout.tree(self)

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
