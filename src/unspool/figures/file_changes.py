"""Files that calls read or changed, and each file rebuilt as it was around every call."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unspool.model import FileChange, ToolCall

_PATHS = ("file_path", "notebook_path", "path")


def file_changes(calls: Iterable[ToolCall]) -> tuple[FileChange, ...]:
    """Every file that calls read or changed, in order of first touch; calls that failed changed nothing."""
    from unspool.tools import changes as diffs_of  # all of the tools: a program that only lists needs none

    files: dict[str, FileChange] = {}
    for call in calls:
        if call.state != "ok" or call.role not in ("read", "write", "edit"):
            continue
        path = file_path_of(call)
        if call.role == "read":
            _add(files, FileChange(path, reads=1))
            continue
        _add(files, FileChange(path, writes=1))
        for diff in diffs_of(call):
            _add(files, FileChange(diff.path or path, 0, 0, diff.added, diff.removed, diff.created))
    return tuple(files.values())


def _add(files: dict[str, FileChange], new: FileChange) -> None:
    if not new.path:
        return
    was = files.get(new.path, FileChange(new.path))
    files[new.path] = FileChange(
        new.path,
        was.reads + new.reads,
        was.writes + new.writes,
        was.added + new.added,
        was.removed + new.removed,
        was.created or new.created,
    )


def file_path_of(call: ToolCall) -> str:
    """The file that a call says it reads or changes; empty where it names none."""
    given = call.input if isinstance(call.input, dict) else {}
    return next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")


_TOUCHING = ("read", "write", "edit")


class FileAroundCall(NamedTuple):
    """A file around one call; None where it is not known."""

    call: ToolCall
    before: str | None
    after: str | None
    outside: bool = False
    """True where it was not what the call before left: something else changed it in between."""


def calls_touching(calls: Iterable[ToolCall], path: str) -> list[ToolCall]:
    """The calls that read or changed a file and went well, in order of time as far as it is known."""
    found = [
        call
        for call in calls
        if call.role in _TOUCHING and call.state == "ok" and forward_slashes(file_path_of(call)) == path
    ]
    return sorted(found, key=_when)


def replay_file(
    calls: Iterable[ToolCall], believed: str | None = None, kept: Sequence[tuple[float, str]] = ()
) -> list[FileAroundCall]:
    """The file around each call, in order; `believed` is what it is taken to be before the first.

    `kept` are times at which all of it was put aside, in order: they tell what no call does.
    """
    from unspool import tools  # all of the tools: a program that only lists needs none

    found, since = [], float("-inf")
    for call in calls:
        now = _when(call)
        if believed is None:
            believed = next((text for time, text in reversed(kept) if since < time <= now), None)
        since = now if call.role != "read" else since
        before, after = tools.stood(call, believed)
        outside = believed is not None and before is not None and before != believed
        found.append(FileAroundCall(call, before, after, outside))
        believed = after
    return found


def forward_slashes(path: str) -> str:
    """A path with one kind of slash."""
    return path.strip().replace("\\", "/").removeprefix("./")


def _when(call: ToolCall) -> float:
    time = call.result.time if call.result is not None and call.result.time is not None else call.time
    return time.timestamp() if time is not None else float("inf")
