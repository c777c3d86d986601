"""What a session changed: files, commits and pushes."""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from unspool.model import Commit, FileChange, Json, Push, Session, ToolCall
from unspool.model.tool_input import paths_of, shell_command

_TOUCHING = ("read", "write", "edit")


def file_changes(calls: Iterable[ToolCall]) -> tuple[FileChange, ...]:
    """Every file that calls read or changed, in order of first touch; calls that failed changed nothing."""
    from unspool.tools import changes as diffs_of  # all of the tools: a program that only lists needs none

    files: dict[str, FileChange] = {}
    for call in calls:
        if call.state != "ok" or call.role not in _TOUCHING:
            continue
        paths = paths_of(call)
        for path in paths:
            _add(files, FileChange(path, reads=1) if call.role == "read" else FileChange(path, writes=1))
        for diff in diffs_of(call) if call.role != "read" else ():
            path = diff.path or next(iter(paths), "")
            _add(files, FileChange(path, 0, 0, diff.added, diff.removed, diff.created))
    return tuple(files.values())


def _add(files: dict[str, FileChange], new: FileChange) -> None:
    if not new.path:
        return
    was = files.get(new.path)
    files[new.path] = new if was is None else FileChange(
        new.path,
        was.reads + new.reads,
        was.writes + new.writes,
        was.added + new.added,
        was.removed + new.removed,
        was.created or new.created,
    )  # fmt: skip


def changed_lines(call: ToolCall) -> dict[str, tuple[int, int]]:
    """The lines that a call added and removed, by file as it names them, as far as it tells."""
    if call.role not in ("write", "edit"):
        return {}
    from unspool.tools import changes as diffs_of

    found: dict[str, tuple[int, int]] = {}
    for diff in diffs_of(call):
        added, removed = found.get(diff.path, (0, 0))
        found[diff.path] = added + diff.added, removed + diff.removed
    return found


_COMMIT = re.compile(
    r"^\[(?P<branch>[^\]\n]+?)(?P<root> \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<message>.*)$", re.M
)
_CHANGED = re.compile(r"^ \d+ files? changed", re.M)
_TO = re.compile(r"^To (\S+)$", re.M)
_REF = re.compile(
    r"^ [ +*] ?(?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) +(?P<from>\S+) -> (?P<to>\S+)", re.M
)
_REMOTE = re.compile(r"(?:github|gitlab)\.[a-z.]+[:/](?P<repository>[\w.-]+(?:/[\w.-]+?)+?)(?:\.git)?/?$")
_NEW_PULL = re.compile(r"https?://(?P<host>[\w.-]+)/(?P<repository>[\w.-]+/[\w.-]+)/pull/new/(?P<branch>\S+)")
_PULL = re.compile(
    r"https?://(?P<host>[\w.-]+)/(?P<repository>[\w.-]+(?:/[\w.-]+)+?)/(?:-/)?(?:pull|merge_requests)/(?P<number>\d+)"
)


def find_commits(calls: Iterable[ToolCall]) -> Iterator[Commit]:
    """Commits that shell commands made, in order; each once a command, however many answers it had."""
    for call in calls:
        made: dict[str, Commit] = {}
        for one in _answered(call) if call.role == "shell" else ():
            for commit in _printed(one) or _recorded(one):
                made.setdefault(commit.hash, commit)
        yield from made.values()


def _answered(call: ToolCall) -> list[ToolCall]:
    """A call with each of the answers that it had, the last one last."""
    last = [call] if call.result is not None else []
    return [*(replace(call, result=result, earlier=()) for result in call.earlier), *last] if call.earlier else last


def _printed(call: ToolCall) -> list[Commit]:
    text = call.result.text if call.result is not None else ""
    if "] " not in text or not _begins_line("[", text):
        return []
    if not ("git" in shell_command(call) or (" changed" in text and _CHANGED.search(text))):
        return []
    return [
        Commit(
            match["hash"], match["branch"], match["message"], call.call_id, call.result.time if call.result else None,
            root=bool(match["root"]),
        )
        for match in _COMMIT.finditer(text)
    ]  # fmt: skip


def _recorded(call: ToolCall) -> list[Commit]:
    """A commit that only the structured result names."""
    commit = _operation(call).get("commit")
    if not isinstance(commit, dict) or not isinstance(commit.get("sha"), str) or call.result is None:
        return []
    branch = commit.get("branch")
    return [Commit(commit["sha"], branch if isinstance(branch, str) else "", "", call.call_id, call.result.time)]


def find_pushes(session: Session, calls: Iterable[ToolCall]) -> Iterator[Push]:
    """Pushes and pull requests, each address once."""
    return distinct_pushes((*session.recorded, *(push for call in calls for push in pushes_of(call))))


def distinct_pushes(pushes: Iterable[Push]) -> Iterator[Push]:
    """Each address once."""
    seen: set[tuple[str, str]] = set()
    for push in pushes:
        key = (push.kind, push.url or f"{push.branch} {push.call_id}")
        if key not in seen:
            seen.add(key)
            yield push


def pushes_of(call: ToolCall) -> Iterator[Push]:
    """What one shell command pushed, and the pull requests that it opened."""
    return (push for one in (_answered(call) if call.role == "shell" else ()) for push in _pushed(one))


def _pushed(call: ToolCall) -> Iterator[Push]:
    if call.result is None:
        return
    text, time = call.result.text, call.result.time
    to = _to(text)
    if to is not None:
        remote = _REMOTE.search(to[1])
        repository = remote["repository"] if remote else ""
        for ref in _REF.finditer(text, to.end()):
            yield Push("push", ref["to"], to[1], repository, call_id=call.call_id, time=time)
    if "pr create" in shell_command(call) or isinstance(_operation(call).get("pr"), dict):
        for pull in _PULL.finditer(text):
            number = int(pull["number"][:18])
            yield Push("pull-request", "", pull[0], pull["repository"], number, call.call_id, time)


def find_repository(session: Session, calls: Iterable[ToolCall]) -> str:
    """owner/name of the repository that was pushed to, where the log tells; else the address of its checkout."""
    for push in session.recorded:
        if push.repository:
            return push.repository
    for call in calls:
        if call.role == "shell" and call.result is not None:
            to = _to(call.result.text)
            new = _NEW_PULL.search(call.result.text) if "/pull/new/" in call.result.text else None
            found = new or (_REMOTE.search(to[1]) if to is not None else None)
            if found is not None:
                return found["repository"]
    return session.remote


def _to(text: str) -> "re.Match[str] | None":
    """Where a push says it goes; most of what is printed is no push, which is seen without looking at every line."""
    return _TO.search(text) if _begins_line("To ", text) else None


def _begins_line(words: str, text: str) -> bool:
    return f"\n{words}" in text or text.startswith(words)


def _operation(call: ToolCall) -> dict[str, Json]:
    detail = call.result.detail if call.result is not None else None
    operation = detail.get("gitOperation") if isinstance(detail, dict) else None
    return operation if isinstance(operation, dict) else {}
