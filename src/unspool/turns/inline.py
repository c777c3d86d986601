"""Lines of subagents that stand in the session's own log, told apart by whose they are."""

from unspool.model import Event


class InlineAgents:
    """Names the subagent of each line: its own id, or the line its chain began with."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._last = ""

    def of(self, event: Event) -> str:
        if event.agent:
            return event.agent
        if event.link and self._last:
            return self._last
        name = self._roots.get(event.logical or event.parent or "", "") or f"inline-{event.id}"
        self._roots[event.id] = self._last = name
        return name
