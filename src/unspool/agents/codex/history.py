"""Which records of a rollout are copies: forks begin with them, and subagents that know what their parent knew."""

from datetime import datetime
from typing import Any

from unspool.agents.values import mapping, text
from unspool.model import Json

_PAUSE = 1.0
"""Seconds; records that are copied are all written at once."""


class CopiedHistory:
    """Hears the records of a rollout in order."""

    def __init__(self) -> None:
        self._own = ""
        self._until = -1
        """The ordinal from which on records are the thread's own."""
        self._copying = False
        self._fresh = True
        """Whether nothing but what describes threads came yet."""
        self._last: datetime | None = None
        self.over = False
        """Whether no copies will come any more, so that nobody needs to ask."""

    def holds(self, data: dict[str, Json], time: datetime | None) -> bool:
        """Whether this record is a copy of one that another thread has."""
        ordinal, payload = data.get("ordinal"), mapping(data.get("payload"))
        if data.get("type") == "session_meta":
            return self._meta(payload, time)
        self._fresh = False
        if self._until >= 0 and isinstance(ordinal, int):
            return ordinal < self._until
        if not self._copying:
            self.over = self._until < 0 and bool(self._own)
            return False
        younger = _began_later(text(payload.get("turn_id")), self._own) if _begins_turn(data, payload) else None
        pause = time is not None and self._last is not None and (time - self._last).total_seconds() > _PAUSE
        self._copying = not (pause if younger is None else younger)
        self._last = time or self._last
        return self._copying

    def _meta(self, said: dict[str, Any], time: datetime | None) -> bool:
        thread, self._last = text(said.get("id")), time
        if not self._own:
            self._own = thread
            start = said.get("subagent_history_start_ordinal")
            self._until = start if isinstance(start, int) and not isinstance(start, bool) else -1
            return False
        if thread != self._own and self._fresh:
            self._copying = True
        return thread != self._own


def _begins_turn(data: dict[str, Json], payload: dict[str, Any]) -> bool:
    return data.get("type") == "turn_context" or payload.get("type") in ("task_started", "turn_started")


def _began_later(turn: str, thread: str) -> bool | None:
    """Whether a turn is younger than a thread, by the times in their ids; None where an id holds no time."""
    times = _milliseconds(turn), _milliseconds(thread)
    return None if times[0] is None or times[1] is None else times[0] >= times[1]


def _milliseconds(identity: str) -> int | None:
    """The time that a UUID of version 7 begins with."""
    if len(identity) != 36 or identity[14] != "7":
        return None
    try:
        return int(identity[:8] + identity[9:13], 16)
    except ValueError:
        return None
