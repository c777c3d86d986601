"""What was done with files: read, written, and how many lines came and went."""

from collections.abc import Iterable, Iterator

from unspool.doc import Diff, Fold, Node
from unspool.model import FileChange, ToolCall
from unspool.tools import describe

_PATHS = ("file_path", "notebook_path", "path")


def changes(calls: Iterable[ToolCall]) -> tuple[FileChange, ...]:
    """Every file that calls read or changed, in order of first touch; calls that failed changed nothing."""
    files: dict[str, FileChange] = {}
    for call in calls:
        if call.state != "ok" or call.role not in ("read", "write", "edit"):
            continue
        if call.role == "read":
            _add(files, FileChange(_path(call), reads=1))
            continue
        diffs = list(_diffs(describe(call)))
        for diff in diffs or [Diff(_path(call), (), 0, 0)]:
            _add(files, FileChange(diff.path or _path(call), 0, 1, diff.added, diff.removed, diff.created))
    return tuple(files.values())


def _add(files: dict[str, FileChange], new: FileChange) -> None:
    if not new.path:
        return
    was = files.get(new.path)
    files[new.path] = (
        new
        if was is None
        else FileChange(
            new.path,
            was.reads + new.reads,
            was.writes + new.writes,
            was.added + new.added,
            was.removed + new.removed,
            was.created or new.created,
        )
    )


def _path(call: ToolCall) -> str:
    given = call.input if isinstance(call.input, dict) else {}
    return next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")


def _diffs(node: Node) -> Iterator[Diff]:
    if isinstance(node, Diff):
        yield node
    elif isinstance(node, Fold):
        for child in node.children:
            yield from _diffs(child)
