"""Commits, pushes and pull requests, from what shell commands printed and what the log records."""

import re
from collections.abc import Iterable, Iterator

from unspool.model import Commit, Json, Push, Session, ToolCall

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
    """Commits that shell commands made, in order."""
    for call in calls:
        if call.role == "shell" and call.result is not None:
            found = list(_printed(call, call.result.text))
            yield from found or _recorded(call)


def _printed(call: ToolCall, text: str) -> Iterator[Commit]:
    if "] " not in text or not ("git" in _command(call) or (" changed" in text and _CHANGED.search(text))):
        return
    for match in _COMMIT.finditer(text):
        yield Commit(
            match["hash"], match["branch"], match["message"], call.call_id, call.result.time if call.result else None,
            root=bool(match["root"]),
        )  # fmt: skip


def _recorded(call: ToolCall) -> Iterator[Commit]:
    """A commit that only the structured result names."""
    commit = _operation(call).get("commit")
    if isinstance(commit, dict) and isinstance(commit.get("sha"), str) and call.result is not None:
        branch = commit.get("branch")
        yield Commit(commit["sha"], branch if isinstance(branch, str) else "", "", call.call_id, call.result.time)


def find_pushes(session: Session, calls: Iterable[ToolCall]) -> Iterator[Push]:
    """Pushes and pull requests, each address once."""
    seen: set[tuple[str, str]] = set()
    for push in (*session.recorded, *(push for call in calls for push in _pushed(call))):
        key = (push.kind, push.url or f"{push.branch} {push.call_id}")
        if key not in seen:
            seen.add(key)
            yield push


def _pushed(call: ToolCall) -> Iterator[Push]:
    if call.role != "shell" or call.result is None:
        return
    text, time = call.result.text, call.result.time
    to = _to(text)
    if to is not None:
        repository = _repository(to[1])
        for ref in _REF.finditer(text, to.end()):
            yield Push("push", ref["to"], to[1], repository, call_id=call.call_id, time=time)
    if "pr create" in _command(call) or isinstance(_operation(call).get("pr"), dict):
        for pull in _PULL.finditer(text):
            number = int(pull["number"][:18])
            yield Push("pull-request", "", pull[0], pull["repository"], number, call.call_id, time)


def find_repository(session: Session, calls: Iterable[ToolCall]) -> str:
    """owner/name of the repository that was pushed to, where the log tells."""
    for push in session.recorded:
        if push.repository:
            return push.repository
    for call in calls:
        if call.role == "shell" and call.result is not None:
            found = _NEW_PULL.search(call.result.text) or _remote_of(call.result.text)
            if found is not None:
                return found["repository"]
    return ""


def _remote_of(text: str) -> "re.Match[str] | None":
    to = _to(text)
    return _REMOTE.search(to[1]) if to is not None else None


def _to(text: str) -> "re.Match[str] | None":
    """Where a push says it goes; most of what is printed is no push, which is seen without looking at every line."""
    return _TO.search(text) if "To " in text else None


def _repository(remote: str) -> str:
    found = _REMOTE.search(remote)
    return found["repository"] if found else ""


def _command(call: ToolCall) -> str:
    command = call.input.get("command") if isinstance(call.input, dict) else ""
    return command if isinstance(command, str) else ""


def _operation(call: ToolCall) -> dict[str, Json]:
    detail = call.result.detail if call.result is not None else None
    operation = detail.get("gitOperation") if isinstance(detail, dict) else None
    return operation if isinstance(operation, dict) else {}
