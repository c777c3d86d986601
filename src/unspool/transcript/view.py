"""What of a session a reader wants to see: one frozen value that travels through every document writer."""

from datetime import UTC, tzinfo

import msgspec


class View(msgspec.Struct, frozen=True):
    """The default shows the live conversation with long outputs cut; nothing is left out but by a field here."""

    thinking: bool = True
    tools: bool = True
    """False hides tool calls, save plans and questions: they are words between the agent and the user."""
    notices: bool = True
    """False hides what happened around the conversation, save compactions: they divide it."""
    full: bool = False
    """False cuts long outputs, saying how much was cut, tells most notices in one line each and no progress."""
    turns: tuple[tuple[int, int], ...] = ()
    """Ranges of turn numbers, both ends included; empty for all."""
    branch: int = 0
    """0 is the live conversation; another number shows that branch after the turns it has in common."""
    agents: bool = False
    """Subagents' conversations in place, nested to any depth."""
    branches: bool = True
    """Mention the other branches where they leave."""
    zone: tzinfo | None = UTC
    """The time zone that moments are shown in; None: this machine's."""

    def has_turn(self, number: int) -> bool:
        return not self.turns or any(first <= number <= last for first, last in self.turns)
