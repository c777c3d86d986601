"""Follows a log while its session goes on: what is added is sent, until it ends or nobody wants it any more."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from unspool.agents import FoundLog, by_id


class FollowPace(NamedTuple):
    """Seconds."""

    look: float = 2.0
    """Between two looks at the log."""
    hold: float = 15.0
    """For which something that is being written is waited for at most: an answer is rather sent whole."""
    patience: float = 3600.0
    """Without a word after which it is over."""


class Stop(Protocol):
    def wait(self, seconds: float) -> bool:
        """Sleep, unless the end is asked for; whether it was."""


LogState = tuple[tuple[str, int, int], ...]


def log_state(found: FoundLog) -> LogState:
    """What tells whether a session's log, or anything in the folder of its companions, was written to."""
    paths = [found.path, *(agent.path for agent in found.agents)]
    for folder, _, names in os.walk(found.home):
        paths += [os.path.join(folder, name) for name in names]  # noqa: PTH118  as `walk` gives them
    states = {}
    for path in paths:
        try:
            state = Path(path).stat()
        except OSError:
            continue
        states[path] = (state.st_size, state.st_mtime_ns)
    return tuple((path, *state) for path, state in sorted(states.items()))


class FollowedLog(NamedTuple):
    found: FoundLog
    sent: LogState
    """As it was before it was read to be sent first: what was added since is sent soon."""


def is_open(found: FoundLog) -> bool:
    """Whether a process says that it has the session open."""
    agent = by_id(found.agent_id)
    home = agent.home(Path(found.root)) if found.root else None
    running = agent.files.running(home) if home is not None else ()
    return any(one.session_id == found.session_id and one.alive for one in running)


def follow_log(log: FollowedLog, send: Callable[[], bool], stop: Stop, pace: FollowPace = FollowPace()) -> str:  # noqa: B008
    """Have what is added to a log sent; why that is over, or nothing where the end was asked for.

    `send` says whether it was done; else it is tried again after a while.
    """
    found, sent = log
    seen: LogState = sent
    opened, begun, last = is_open(found), 0.0, time.monotonic()
    while not stop.wait(pace.look):
        now, there = log_state(found), is_open(found)
        over, opened = opened and not there, opened or there
        if now != sent:
            begun = begun or time.monotonic()
            grows, seen = now != seen, now
            if grows and not over and time.monotonic() - begun < pace.hold:
                continue
            last = time.monotonic()
            sent, begun = (now, 0.0) if send() else (sent, last)
            seen = now if sent == now else ()
        if over:
            return "The session has ended."
        if time.monotonic() - last > pace.patience:
            return "Nothing was added to it for a long time."
    return ""
