"""Which lines of a log a session holds, found by walking everything reachable from it."""

from collections.abc import Iterable, Iterator

import msgspec

from unspool.model import Place, Session


def reached(session: Session) -> set[int]:
    """Numbers of the lines of its own log that turns, branches, messages, side lines and problems stand on."""
    held = [session.turns, session.branches, session.side, session.problems]
    lines = set(_places(held))
    lines.update(line for message in session.messages for line in message.lines)
    for agent in session.agents:
        if agent.session.log.path == session.log.path:
            lines |= reached(agent.session)
    return lines


def _places(held: Iterable[object]) -> Iterator[int]:
    waiting = list(held)
    while waiting:
        item = waiting.pop()
        if isinstance(item, Place):
            yield item.line
        elif isinstance(item, msgspec.Struct):
            waiting.extend(getattr(item, name) for name in item.__struct_fields__ if name != "data")
        elif isinstance(item, list | tuple):
            waiting.extend(item)


def numbered(data: bytes) -> set[int]:
    """Numbers of the lines of a log that are not blank."""
    return {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip(b" \t\r")}


def counted(data: bytes) -> int:
    """How many lines a log has; what follows the last newline is one only if there is something."""
    return data.count(b"\n") + bool(data and not data.endswith(b"\n"))
