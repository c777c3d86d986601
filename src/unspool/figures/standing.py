"""A file as it stood after every call that read or changed it, rebuilt from what the calls themselves tell."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unspool.figures.changes import path_of
from unspool.model import ToolCall

_TOUCHING = ("read", "write", "edit")


class Standing(NamedTuple):
    """A file around one call; None where it is not known."""

    call: ToolCall
    before: str | None
    after: str | None
    outside: bool = False
    """True where it was not what the call before left: something else changed it in between."""


def touching(calls: Iterable[ToolCall], path: str) -> list[ToolCall]:
    """The calls that read or changed a file and went well, in order of time as far as it is known."""
    found = [call for call in calls if call.role in _TOUCHING and call.state == "ok" and plain(path_of(call)) == path]
    return sorted(found, key=_when)


def standing(
    calls: Iterable[ToolCall], believed: str | None = None, kept: Sequence[tuple[float, str]] = ()
) -> list[Standing]:
    """The file around each call, in order; `believed` is what it is taken to be before the first.

    `kept` are times at which all of it was put aside, in order: they tell what no call does.
    """
    from unspool.tools import stood  # all of the tools: a program that only lists needs none

    found, since = [], float("-inf")
    for call in calls:
        now = _when(call)
        if believed is None:
            believed = next((text for time, text in reversed(kept) if since < time <= now), None)
        since = now if call.role != "read" else since
        before, after = stood(call, believed)
        outside = believed is not None and before is not None and before != believed
        found.append(Standing(call, before, after, outside))
        believed = after
    return found


def plain(path: str) -> str:
    """A path with one kind of slash."""
    return path.strip().replace("\\", "/").removeprefix("./")


def _when(call: ToolCall) -> float:
    time = call.result.time if call.result is not None and call.result.time is not None else call.time
    return time.timestamp() if time is not None else float("inf")
