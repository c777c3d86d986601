"""Files beside a log that complete it: spilled output, plan files, and the sidecars of subagents."""

import stat
from pathlib import Path

import msgspec

from unspool.agents.base import FoundAgent, FoundLog
from unspool.agents.claude_code.values import mapping, text
from unspool.model import AgentSource, Transcript

_LARGEST = 64 * 1024 * 1024
_HELPERS = {"acompact": "compaction", "aside_question": "side question"}


class Companions:
    """Reads the companions of one session. Only names are taken from the log, never paths."""

    def __init__(self, found: FoundLog | None) -> None:
        self._found = found

    def spill(self, name: str) -> str | None:
        """The text of a spilled output."""
        return _read(self._found.home / "tool-results" / name) if self._found and _is_name(name) else None

    def plan(self, name: str) -> str | None:
        """The text of a plan file."""
        if not self._found or not self._found.root or not _is_name(name):
            return None
        return _read(Path(self._found.root) / "plans" / name)


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "\\" not in name and "\0" not in name


def _read(path: Path) -> str | None:
    """The text of a plain file; a link could lead anywhere, and a pipe would never end."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return path.read_bytes().decode(errors="replace")
    except (OSError, ValueError):
        return None


def agent_source(agent: FoundAgent, transcript: Transcript) -> AgentSource:
    """A subagent's log with what its sidecar says."""
    meta = mapping(_sidecar(agent.sidecar))
    helper = next((kind for prefix, kind in _HELPERS.items() if agent.id.startswith(prefix)), "")
    return AgentSource(
        agent.id,
        transcript,
        text(meta.get("agentType")) or helper,
        text(meta.get("description")),
        text(meta.get("toolUseId")),
        text(meta.get("parentAgentId")),
        text(meta.get("name")),
        "stopped" if meta.get("stoppedByUser") is True else "",
    )


def _sidecar(path: str) -> object:
    whole = _read(Path(path)) if path else None
    if whole is None:
        return {}
    try:
        return msgspec.json.decode(whole)
    except (msgspec.DecodeError, RecursionError):
        return {}
