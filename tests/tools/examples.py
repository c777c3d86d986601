"""One well-formed call of every kind: (input, text of the answer, its structured twin); and calls made wrong."""

from collections.abc import Iterator
from typing import Any

Example = tuple[Any, str, Any]

_PATCH = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]}]
_CELLS = [
    {"cellType": "code", "source": "print(1)", "cell_id": "c1", "outputs": [{"output_type": "stream", "text": "1"}]},
    {"cell_type": "markdown", "source": ["# a\n", "b"]},
]
_NOTEBOOK = '{"cells": [{"id": "c1", "source": ["one\\n", "two"]}]}'

EXAMPLES: dict[str, Example] = {
    "apply_patch": (
        {"patch": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-off\n+on\n*** End Patch"},
        "Success.",
        None,
    ),
    "Bash": (
        {"command": "git push", "description": "Push", "timeout": 5},
        "ok",
        {
            "stdout": "ok",
            "stderr": "warned",
            "interrupted": True,
            "backgroundTaskId": "b1",
            "timedOutAfterMs": 2000,
            "gitOperation": {
                "commit": {"sha": "abcdef0123456789", "kind": "committed"},
                "push": {"branch": "main"},
                "branch": {"ref": "topic", "action": "merged"},
                "pr": {"number": 7, "url": "https://a.b/7", "action": "created"},
            },
        },
    ),
    "BashOutput": ({"bash_id": "b1"}, "", {"status": "completed", "exitCode": 2, "stdout": "a\nb", "stderr": "c"}),
    "TaskOutput": (
        {"task_id": "t1", "block": True},
        "",
        {
            "retrieval_status": "success",
            "task": {"status": "completed", "output": "x", "exitCode": 0, "result": "done"},
        },
    ),
    "TaskStop": ({"task_id": "t1"}, "", {"message": "stopped", "task_id": "t1", "command": "sleep 5"}),
    "Monitor": ({"description": "CI", "ws": {"url": "wss://a.b"}}, "", {"taskId": "t1", "timeoutMs": 60000}),
    "Read": (
        {"file_path": "/p/a.py", "offset": 10},
        "    10→x",
        {"type": "text", "file": {"content": "x", "numLines": 1, "startLine": 10, "totalLines": 300}},
    ),
    "Write": (
        {"file_path": "/p/a.py", "content": "b\nc\n"},
        "updated",
        {"type": "update", "originalFile": "a\n", "structuredPatch": _PATCH},
    ),
    "Edit": (
        {"file_path": "/p/a.py", "old_string": "a", "new_string": "b\nc", "replace_all": True},
        "updated",
        {"originalFile": "a\n", "structuredPatch": _PATCH, "userModified": True},
    ),
    "MultiEdit": (
        {"file_path": "/p/a.py", "edits": [{"old_string": "a", "new_string": "b\nc"}]},
        "updated",
        {"originalFileContents": "a\n", "structuredPatch": []},
    ),
    "NotebookEdit": (
        {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "one\n2", "edit_mode": "replace"},
        "updated",
        {"original_file": _NOTEBOOK, "language": "python", "error": ""},
    ),
    "NotebookRead": ({"notebook_path": "n.ipynb"}, "", {"type": "notebook", "file": {"cells": _CELLS}}),
    "Glob": ({"pattern": "*.py"}, "a.py", {"filenames": ["a.py"], "numFiles": 1, "durationMs": 5, "truncated": True}),
    "Grep": (
        {"pattern": "def", "path": "src", "-A": 1},
        "",
        {"mode": "content", "numFiles": 1, "filenames": [], "content": "a:1:def", "numLines": 1},
    ),
    "LS": ({"path": "/p"}, "- /p/\n  - a\n  - b\n", None),
    "WebFetch": (
        {"url": "https://a.b/c/", "prompt": "What?"},
        "This.",
        {"bytes": 1200, "code": 200, "codeText": "OK", "result": "This.", "durationMs": 4200},
    ),
    "WebSearch": (
        {"query": "q"},
        "",
        {
            "query": "q",
            "results": [{"content": [{"title": "T", "url": "https://a.b"}]}, "said"],
            "durationSeconds": 2.5,
        },
    ),
    "Task": (
        {"description": "look", "prompt": "Look.", "subagent_type": "Explore", "model": "m"},
        "Found.",
        {
            "status": "completed",
            "agentId": "a1",
            "content": [{"type": "text", "text": "Found."}],
            "totalTokens": 1200,
            "totalToolUseCount": 3,
            "totalDurationMs": 61000,
        },
    ),
    "TodoWrite": (
        {"todos": [{"content": "a", "status": "in_progress", "activeForm": "doing a"}]},
        "ok",
        {"newTodos": []},
    ),
    "TaskCreate": ({"subject": "a", "description": "b"}, "made", {"task": {"id": "3", "subject": "a"}}),
    "TaskUpdate": ({"taskId": "3", "status": "completed"}, "done", {"success": True}),
    "TaskList": ({}, "", {"tasks": [{"id": "3", "subject": "a", "status": "pending", "blockedBy": ["1"]}]}),
    "TaskGet": ({"taskId": "3"}, "", {"task": {"id": "3", "subject": "a", "status": "pending", "owner": "me"}}),
    "AskUserQuestion": (
        {"questions": [{"question": "Why?", "header": "H", "options": [{"label": "so", "description": "d"}]}]},
        "answered",
        {"answers": {"Why?": "so"}},
    ),
    "ExitPlanMode": ({"plan": "# Title\n\nBody", "allowedPrompts": []}, "approved", {"plan": "# Title"}),
    "Skill": ({"skill": "pdf", "args": "x"}, "loaded", {"status": "forked"}),
    "ToolSearch": ({"query": "select:A", "max_results": 5}, "", {"matches": ["A", "B"]}),
    "LSP": (
        {"operation": "hover", "filePath": "a.py", "line": 3, "character": 5},
        "",
        {"result": "str", "resultCount": 1},
    ),
    "SendMessage": ({"to": "bob", "message": "hi", "summary": "greets"}, "sent", {"success": True}),
    "ScheduleWakeup": ({"delaySeconds": 90, "reason": "CI", "prompt": "go"}, "ok", {"clampedDelaySeconds": 60}),
    "CronCreate": ({"cron": "0 9 * * *", "prompt": "go"}, "ok", {"id": "1", "humanSchedule": "daily at 9"}),
    "EnterWorktree": ({"name": "w"}, "ok", {"worktreePath": "/w", "worktreeBranch": "b"}),
    "Workflow": ({"name": "w", "script": "run()"}, "ok", {"status": "async_launched", "runId": "r1"}),
    "ListMcpResources": ({"server": "s"}, "", [{"uri": "u://1", "name": "one", "server": "s"}]),
    "ListMcpResourcesTool": ({"server": "s"}, "", {"resources": [{"uri": "u://1", "name": "one", "server": "s"}]}),
    "ReadMcpResource": ({"server": "s", "uri": "u://1"}, "", {"contents": [{"uri": "u://1", "text": "hello"}]}),
    "Artifact": ({"file_path": "/p/a.html"}, "ok", {"url": "https://a.b/1", "title": "Page"}),
    "ReportFindings": (
        {"level": "high", "findings": [{"file": "a.py", "line": 3, "summary": "s", "failure_scenario": "f"}]},
        "ok",
        {"count": 1},
    ),
    "mcp__server__tool": ({"query": "q"}, '[{"a": 1}, {"a": 2}]', [{"type": "text", "text": "x"}]),
}

WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**400, 1.5, float("nan"), float("inf"), "", "x", "\x1b[31m\n"),
    *([], [1], [[]], {}, {"a": 1}, [{}]),
)


def keys_of(value: Any) -> Iterator[str]:
    """The names of all fields in a value, at any depth."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from keys_of(part)


def mutated(value: Any) -> Iterator[Any]:
    """The value with one place in it, at any depth, holding each wrong value in turn, or nothing."""
    if isinstance(value, dict):
        for key in value:
            yield {other: part for other, part in value.items() if other != key}
            for part in (*WRONG, *mutated(value[key])):
                yield {**value, key: part}
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            for changed in (*WRONG, *mutated(part)):
                yield type(value)((*value[:place], changed, *value[place + 1 :]))
