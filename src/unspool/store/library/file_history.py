"""What the logs know of a file over all sessions: what it held around a call, and who asked for each of its lines."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import apsw

from unspool.agents import by_id
from unspool.agents.records import Companion
from unspool.doc import Diff
from unspool.errors import NotFound, UnspoolError
from unspool.figures import calls_of, family
from unspool.figures.file_states import (
    CallOrigin,
    FileAroundCall,
    call_origins,
    call_time,
    calls_touching,
    file_place,
    forward_slashes,
    replay_file,
)
from unspool.figures.line_owners import LineOwner, line_owners
from unspool.model import Session, ToolCall
from unspool.store.index.schema import TOUCHES
from unspool.store.index.touched_files import FileTouch, file_touches
from unspool.tools import changes
from unspool.tools.diff import diff_of_texts, join_hunks

CHANGES = ("write", "edit")
"""The ways in which a touch changes a file."""
_LARGEST = 16 * 1024 * 1024
_BEFORE, _LOOKED = 3, 2000
"""Sessions before it that are looked at for what the file was, and touches among which they are looked for."""
_SESSIONS = 24
"""Sessions that are read for who asked for each line."""


class FileCall(NamedTuple):
    """A call, by where its line is in which log."""

    path: str
    key: str
    place: int
    agent: str = ""

    @classmethod
    def of(cls, path: str, touch: FileTouch) -> "FileCall | None":
        """The call of a touch; None where its place is not known, or its log is gone."""
        known = touch.place is not None and touch.kind != "ghost"
        return cls(path, touch.key, touch.place or 0, touch.agent) if known else None


class FileAtCall(NamedTuple):
    now: FileAroundCall
    title: str
    """Of the session."""
    borrowed: str
    """The title of the session before it that told what the file was; empty where none was needed."""
    diff: Diff | None
    """What the call changed; None where that is not known, or nothing."""

    @property
    def new(self) -> bool:
        """True where there was no such file before, and all of it is known."""
        return self.now.before == "" and bool(self.now.after)


class AskedChange(NamedTuple):
    """A call that changed a file, and the prompt that led to it."""

    call: ToolCall
    key: str
    title: str
    agent_id: str
    origin: CallOrigin
    model: str = ""

    @property
    def prompt(self) -> str:
        """The first line of what was asked for."""
        asked = self.origin.turn.prompt
        lines = asked.words.splitlines() if asked is not None else ()
        return next(filter(None, map(str.strip, lines)), asked.command if asked is not None else "")

    @property
    def time(self) -> datetime | None:
        return self.call.result.time if self.call.result is not None else self.call.time


class AskedLines(NamedTuple):
    """The lines of a file as it last stood, each with its owner, whose step is one of `changes`."""

    lines: tuple[str, ...] | None
    """None where no state of it is known."""
    owners: tuple[LineOwner, ...]
    later: int
    """Changes after that of which not enough is told."""
    changes: tuple[AskedChange, ...]
    left: int
    """Sessions that changed it earlier and were not read: what they did counts as what was there before."""


class FileHistory:
    """A file by its whole path. `open_session` gives a session by its id, `companions` its files that are no logs;
    `earlier` are paths that the file had before."""

    def __init__(
        self,
        db: apsw.Connection,
        path: str,
        open_session: Callable[[str], Session],
        companions: Callable[[Session], Iterable[Companion]],
        earlier: Sequence[str] = (),
    ) -> None:
        self._db, self.path, self.open_session, self._companions = db, path, open_session, companions
        self._earlier = tuple(earlier)

    def at(self, call: FileCall) -> FileAtCall:
        """The file around a call; NotFound where there is no such call."""
        session = self.open_session(call.key)
        agents, calls = _agents(session), self._calls(session)
        # a subagent's call that stands in its session's own log goes by its place alone
        near = [number for number, one in enumerate(calls) if one.place.offset == call.place]
        if not near:
            raise NotFound("The session has no such call on this file.")
        at = next((number for number in near if agents[id(calls[number])] == call.agent), near[0])
        kept = self._kept(session)
        found, borrowed = _nth(replay_file(calls, None, kept, self.path), at), ""
        if found.after is None:
            believed, title = self._left_before(calls[0], call.key)
            found = _nth(replay_file(calls, believed, kept, self.path), at)
            borrowed = title if found.after is not None else ""
        return FileAtCall(found, session.title, borrowed, self._diff(found, session.cwd))

    def _diff(self, step: FileAroundCall, folder: str) -> Diff | None:
        """The lines that a call tells of this file, of all that it changed; else the difference that it made."""
        if step.call.role not in CHANGES:
            return None
        made = [one for one in changes(step.call) if forward_slashes(file_place(one.path, folder)) == self.path]
        if made:
            hunks = tuple(hunk for one in made for hunk in one.hunks)
            return join_hunks(self.path, hunks, created=any(one.created for one in made))
        known = step.before is not None and step.after is not None and step.before != step.after
        return diff_of_texts(self.path, step.before or "", step.after or "") if known else None

    def asked_lines(self, most: int = _SESSIONS, now: str | None = None) -> AskedLines:
        """Who asked for each line, by the calls of the last sessions that changed the file: what `blame` is for.

        `now` is what the file holds, where that is known; else the lines are those that it last had.
        """
        paths = (self.path, *self._earlier)
        touches = [one for path in paths for one in file_touches(self._db, path, CHANGES, _LOOKED)]
        touches.sort(key=lambda one: one.time or 0.0, reverse=True)
        keys = list(dict.fromkeys(one.key for one in touches if one.kind != "ghost"))
        made: dict[str, AskedChange] = {}
        kept: list[tuple[float, str]] = []
        left = len(keys[most:])
        for key in reversed(keys[:most]):  # a fork's calls are those of the session that it was copied from
            try:
                session = self.open_session(key)
            except UnspoolError:
                left += 1
                continue
            kept += self._kept(session)
            for one in self._changes(session, key):
                made.setdefault(one.call.call_id or f"{key} {one.call.place.offset}", one)
        asked = sorted(made.values(), key=lambda one: call_time(one.call))
        steps = replay_file((one.call for one in asked), None, sorted(kept), self.path, self._earlier)
        return AskedLines(*line_owners(steps, now), tuple(asked), left)

    def _changes(self, session: Session, key: str) -> Iterator[AskedChange]:
        """The calls of a session that touched the file, reads among them: they tell what it was."""
        origins = {id(call): (call, origin) for call, origin in call_origins(session)}
        models = {message.id: message.model for member in family(session) for message in member.messages}
        for path in (self.path, *self._earlier):
            for call in calls_touching((call for call, _ in origins.values()), path, session.cwd):
                model, origin = models.get(call.message, ""), origins[id(call)][1]
                yield AskedChange(call, key, session.title, session.agent, origin, model)

    def _calls(self, session: Session) -> list[ToolCall]:
        return calls_touching((one for member in family(session) for one in calls_of(member)), self.path, session.cwd)

    def _kept(self, session: Session) -> list[tuple[float, str]]:
        """The file as the agent put it aside, with the times, as far as what it put aside is still there."""
        listed = by_id(session.agent).files.checkpoints(session.side, session.cwd)
        marked = [one for one in listed if forward_slashes(one.path) == self.path]
        names = {one.name for one in marked if one.name}
        files = {Path(one.path).name: Path(one.path) for one in self._companions(session)} if names else {}
        found = []
        for one in sorted(marked, key=lambda one: one.time):
            text = _text(files[one.name]) if one.name in files else None if one.name else ""
            if text is not None:
                found.append((one.time.timestamp(), text))
        return found

    def _left_before(self, first: ToolCall, key: str) -> tuple[str | None, str]:
        """What the sessions before a call left, by the last one that tells; and that one's title."""
        if first.time is None:
            return None, ""
        moment = first.time.timestamp()
        touches = file_touches(self._db, self.path, TOUCHES, _LOOKED)
        keys = (one.key for one in touches if one.time is not None and one.time < moment and one.kind != "ghost")
        for other in [other for other in dict.fromkeys(keys) if other != key][:_BEFORE]:
            session = self.open_session(other)
            replayed = deque(replay_file(self._calls(session), path=self.path), 1)
            if replayed and (after := replayed[-1].after) is not None:
                return after, session.title
        return None, ""


def _nth(steps: Iterator[FileAroundCall], number: int) -> FileAroundCall:
    return next(islice(steps, number, None))


def _agents(session: Session) -> dict[int, str]:
    """The subagent that made each call, by the call's identity."""
    found = dict.fromkeys(map(id, calls_of(session)), "")
    for member in family(session):
        for agent in member.agents:
            found.update(dict.fromkeys(map(id, calls_of(agent.session)), agent.id))
    return found


def _text(path: Path) -> str | None:
    """The text of a file; None where it is none."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_bytes()[:_LARGEST].decode() if not path.is_symlink() else None
    return None
