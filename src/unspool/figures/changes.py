"""What was done with files: read, written, and how many lines came and went."""

from collections.abc import Iterable

from unspool.model import FileChange, ToolCall

_PATHS = ("file_path", "notebook_path", "path")


def changes(calls: Iterable[ToolCall]) -> tuple[FileChange, ...]:
    """Every file that calls read or changed, in order of first touch; calls that failed changed nothing."""
    from unspool.tools import changes as diffs_of  # all of the tools: a program that only lists needs none

    files: dict[str, FileChange] = {}
    for call in calls:
        if call.state != "ok" or call.role not in ("read", "write", "edit"):
            continue
        path = path_of(call)
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


def path_of(call: ToolCall) -> str:
    """The file that a call says it reads or changes; empty where it names none."""
    given = call.input if isinstance(call.input, dict) else {}
    return next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
