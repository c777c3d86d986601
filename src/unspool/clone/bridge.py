"""Lines that follow one of a subagent's log: the agent sometimes hangs the main conversation from there."""

import msgspec

from unspool.clone.original import Original
from unspool.errors import UnspoolError
from unspool.library.read import transcript
from unspool.model import Event


class Bridge:
    """Finds the line of the main log that such a line goes back to. The subagents' logs are read when asked for."""

    def __init__(self, log: Original) -> None:
        self._log = log
        self._above: dict[str, str] | None = None

    def __call__(self, event: Event) -> int | None:
        there = self._log.draft.tree.at
        above = self.parents()
        at, seen = event.parent, set[str]()
        while at is not None and at not in there and at not in seen:
            seen.add(at)
            at = above.get(at)
        found = there.get(at or "")
        return found if found is not None and found < there[event.id] else None

    def parents(self) -> dict[str, str]:
        """The line that each line of the subagents' logs follows, by id."""
        if self._above is None:
            self._above = {}
            for agent in self._log.found.agents:
                try:
                    events = transcript(agent.path, self._log.format).events
                except (UnspoolError, OSError, msgspec.DecodeError):
                    continue  # the copy then follows the line before, as for any parent that is missing
                self._above.update({one.id: one.parent for one in events if one.id and one.parent})
        return self._above
