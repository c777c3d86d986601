"""A file from call to call: what it held around each.

It is known as far as calls tell: what they kept of the file, what they wrote, and edits that fit what was known before.
Nothing is guessed; a state that is not known is None.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from unspool.figures import all_turns, calls_of
from unspool.model import Session, ToolCall, Turn
from unspool.model.tool_input import paths_of

_TOUCHING = ("read", "write", "edit")
_WHOLE = re.compile(r"[/~]|[A-Za-z]:")


def forward_slashes(path: str) -> str:
    """A path with one kind of slash."""
    return path.strip().replace("\\", "/").removeprefix("./")


def file_place(name: str, folder: str) -> str:
    """Where a file lies that a call names: below the folder that the session works in, where it names no whole path."""
    plain = forward_slashes(name)
    if not plain or not folder or _WHOLE.match(plain):
        return name
    return posixpath.normpath(f"{forward_slashes(folder)}/{plain}")


class FileAroundCall(NamedTuple):
    """A file around one call; None where it is not known."""

    call: ToolCall
    before: str | None
    after: str | None
    outside: bool = False
    """True where it was not what the call before left: something else changed it in between."""


def calls_touching(calls: Iterable[ToolCall], path: str, folder: str = "") -> list[ToolCall]:
    """The calls that read or changed a file and went well, in order of time as far as it is known; `folder` is where
    they were made."""
    done = (call for call in calls if call.role in _TOUCHING and call.state == "ok")
    return sorted((call for call in done if any(_names(call, path, folder))), key=call_time)


def _names(call: ToolCall, path: str, folder: str) -> Iterator[str]:
    """What a call calls a file."""
    return (name for name in paths_of(call) if forward_slashes(file_place(name, folder)) == path)


def replay_file(
    calls: Iterable[ToolCall],
    believed: str | None = None,
    kept: Sequence[tuple[float, str]] = (),
    path: str = "",
    earlier: Sequence[str] = (),
) -> Iterator[FileAroundCall]:
    """The file at a path around each call, one after the other; `believed` is what it is taken to be before the first.

    `kept` are times at which all of it was put aside, in order: they tell what no call does. `earlier` are paths that
    it had before.
    """
    from unspool import tools  # all of the tools: a program that only lists needs none

    since = float("-inf")
    for call in calls:
        now = call_time(call)
        if believed is None:
            believed = next((text for time, text in reversed(kept) if since < time <= now), None)
        since = now if call.role != "read" else since
        # of several files, the one that is meant: its name may be only the end of its path
        named = next((name for name in paths_of(call) if any(_ends(one, name) for one in (path, *earlier))), path)
        before, after = tools.stood(call, believed, named)
        outside = believed is not None and before is not None and before != believed
        yield FileAroundCall(call, before, after, outside)
        believed = after


def _ends(path: str, name: str) -> bool:
    return f"/{path}".endswith(f"/{forward_slashes(name)}")


def call_time(call: ToolCall) -> float:
    """When a call was done, in seconds; after all others where that is not known."""
    time = call.result.time if call.result is not None and call.result.time is not None else call.time
    return time.timestamp() if time is not None else float("inf")


class CallOrigin(NamedTuple):
    """Where a call comes from: the turn of the person whose prompt led to it, and the subagent that made it."""

    turn: Turn
    agent: str = ""


def call_origins(session: Session) -> Iterator[tuple[ToolCall, CallOrigin]]:
    """Every call of a session and its subagents with where it comes from; copied turns are left out, for they are the
    session's that they were copied from."""
    turns = list(all_turns(session))
    started: dict[str, Turn] = {}
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, ToolCall):
                started[block.call_id] = turn
                if not turn.copied:
                    yield block, CallOrigin(turn)
    waiting = [(agent, started.get(agent.call_id) or _begun(agent.session, turns)) for agent in session.agents]
    while waiting:
        agent, led = waiting.pop()
        if led is not None and not led.copied:
            yield from ((call, CallOrigin(led, agent.id)) for call in calls_of(agent.session))
            waiting += [(inner, led) for inner in agent.session.agents]


def _begun(member: Session, turns: Sequence[Turn]) -> Turn | None:
    """The last turn that had begun when a subagent did, of which no call tells; the first where no time does."""
    earlier = (turn for turn in reversed(turns) if turn.started and member.started and turn.started <= member.started)
    return next(earlier, next(iter(turns), None))
