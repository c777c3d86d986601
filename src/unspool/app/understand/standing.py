"""Which call of which session is meant, and what the file was around it: from its session, and those before it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from unspool.app.desk import Desk
from unspool.app.reading.held import reading
from unspool.app.reading.told import Reading
from unspool.app.understand import history
from unspool.errors import NotFound
from unspool.figures import calls_of, family
from unspool.figures.standing import Standing, plain, standing, touching
from unspool.formats import by_id
from unspool.index.schema import TOUCHES
from unspool.model import Session, ToolCall

_LARGEST = 16 * 1024 * 1024
_BEFORE, _LOOKED = 3, 2000
"""Sessions before it that are looked at for what the file was, and touches among which they are looked for."""


class Asked(NamedTuple):
    """A call, by where its line is in which log."""

    path: str
    key: str
    place: int
    agent: str = ""


class Neighbour(NamedTuple):
    """Another call of the same session on the same file."""

    place: int
    agent: str


class Stand(NamedTuple):
    """The file around a call."""

    now: Standing
    title: str
    """Of the session."""
    number: int
    """Which of the session's calls on the file it is, from 1."""
    of: int
    earlier: Neighbour | None
    later: Neighbour | None
    borrowed: str
    """The title of the session before it that told what the file was; empty where none was needed."""

    @property
    def new(self) -> bool:
        """True where there was no such file before, and all of it is known."""
        return self.now.before == "" and bool(self.now.after)


def find(desk: Desk, asked: Asked) -> Stand:
    """The file around a call; NotFound where there is no such call."""
    told = reading(desk, asked.key)
    session = told.session
    agents = _agents(session)
    calls = touching(_calls(session), asked.path)
    places = [Neighbour(call.place.offset, agents[id(call)]) for call in calls]
    at = _at(places, asked)
    kept = _kept(desk, told, asked.path)
    found, borrowed = standing(calls, None, kept), ""
    if found[at].after is None:
        believed, borrowed = _believed(desk, asked, calls[0])
        found = standing(calls, believed, kept)
        borrowed = borrowed if found[at].after is not None else ""
    earlier = places[at - 1] if at else None
    later = places[at + 1] if at + 1 < len(places) else None
    return Stand(found[at], session.title, at + 1, len(calls), earlier, later, borrowed)


def _at(places: Sequence[Neighbour], asked: Asked) -> int:
    """Which of the calls is asked for; a subagent's that stands in its session's own log goes by its place alone."""
    for number, one in enumerate(places):
        if one == (asked.place, asked.agent):
            return number
    for number, one in enumerate(places):
        if one.place == asked.place:
            return number
    raise NotFound("The session has no such call on this file.")


def _agents(session: Session) -> dict[int, str]:
    """The subagent that made each call, by the call's identity."""
    found = dict.fromkeys(map(id, calls_of(session)), "")
    for member in family(session):
        for agent in member.agents:
            found.update(dict.fromkeys(map(id, calls_of(agent.session)), agent.id))
    return found


def _calls(session: Session) -> Iterator[ToolCall]:
    return (call for member in family(session) for call in calls_of(member))


def _kept(desk: Desk, told: Reading, path: str) -> list[tuple[float, str]]:
    """The file as the agent put it aside, with the times, as far as what it put aside is still there."""
    session = told.session
    listed = by_id(told.found.format).checkpoints(session.side, session.cwd)
    marked = [one for one in listed if plain(one.path) == path]
    names = {one.name for one in marked if one.name}
    files = {Path(one.path).name: Path(one.path) for one in desk.library().companions(session)} if names else {}
    found = []
    for one in sorted(marked, key=lambda one: one.time):
        text = _text(files[one.name]) if one.name in files else None if one.name else ""
        if text is not None:
            found.append((one.time.timestamp(), text))
    return found


def _text(path: Path) -> str | None:
    """The text of a file; None where it is none."""
    try:
        return path.read_bytes()[:_LARGEST].decode() if not path.is_symlink() else None
    except (OSError, UnicodeDecodeError):
        return None


def _believed(desk: Desk, asked: Asked, first: ToolCall) -> tuple[str | None, str]:
    """What the sessions before it left, by the last one that tells; and that one's title."""
    for key in _before(desk, asked, first):
        session = reading(desk, key).session
        told = standing(touching(_calls(session), asked.path))
        left = told[-1].after if told else None
        if left is not None:
            return left, session.title
    return None, ""


def _before(desk: Desk, asked: Asked, first: ToolCall) -> list[str]:
    """The sessions that touched the file last before a call."""
    if first.time is None:
        return []
    with desk.index() as index:
        touches = history.touched(index.db, asked.path, TOUCHES, _LOOKED)
    moment = first.time.timestamp()
    keys = (one.key for one in touches if one.time is not None and one.time < moment and one.kind != "ghost")
    return [key for key in dict.fromkeys(keys) if key != asked.key][:_BEFORE]
