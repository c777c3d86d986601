"""What a call was given, under the names that every screen knows, whatever its agent calls them."""

import shlex
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from unspool.model.blocks import ToolCall
from unspool.model.entry import Json

_PATH = ("path", "filePath", "absolute_path", "absolutePath", "target_file", "targetFile", "relative_path", "file",
         "filename", "file_name", "filepath", "relative_workspace_path", "relativeWorkspacePath", "uri")  # fmt: skip
_OLD = ("oldText", "oldString", "old_str", "old_text", "oldStr", "search", "old", "original_content")
_NEW = ("newText", "newString", "new_str", "new_text", "newStr", "replace", "new", "new_content")
_PATCH = ("patch", "input", "patchText", "patch_text", "diff")
_ALIASES: dict[str, dict[str, tuple[str, ...]]] = {
    "shell": {"command": ("cmd", "script", "commandLine", "command_line", "code", "input")},
    "read": {"file_path": _PATH, "offset": ("start_line", "startLine"), "limit": ("lines",)},
    "write": {
        "file_path": _PATH,
        "content": ("contents", "text", "file_text", "fileText", "code", "code_edit", "new_content", "diff"),
    },
    "edit": {
        "file_path": _PATH,
        "old_string": _OLD,
        "new_string": _NEW,
        "replace_all": ("replaceAll",),
        "edits": ("edit", "replacements"),
    },
    "search": {
        "pattern": ("query", "regex", "glob_pattern", "globPattern", "search_term", "searchTerm", "symbol"),
        "path": ("dir_path", "directory", "target_directory", "targetDirectory", "target_directories", "cwd", "folder"),
    },
    "web": {"url": ("uri", "link"), "query": ("search_term", "searchTerm", "q", "objective")},
    "agent": {
        "prompt": ("message", "task", "instructions", "request", "instruction"),
        "description": ("title", "name", "task_name"),
        "subagent_type": ("agent", "agent_type", "agentType", "agentName", "agent_name", "subagentType", "role"),
    },
    "todos": {"todos": ("plan", "items", "todoList", "todo_list", "tasks")},
}
"""By role, each field with the names that agents have for it."""
_UNUSUAL = {role: frozenset(chain(("edits",), *names.values())) for role, names in _ALIASES.items()}
_UNUSUAL["edit"] |= {*_PATCH}
_UNUSUAL["todos"] |= {"todos"}
"""By role, the fields of an input that is not as every screen knows it, or may not be."""
_TODO: dict[str, tuple[str, ...]] = {"content": ("step", "text", "title", "task", "name", "description")}
PATCH_MARK = "*** Begin Patch"


def usual_input(call: ToolCall) -> Json:
    """The input of a call with the fields that its role has renamed; all others as they are."""
    given, names = call.input, _ALIASES.get(call.role)
    if names is None:
        return given
    if isinstance(given, str):
        return {"patch": given} if PATCH_MARK in given else {next(iter(names)): given}
    if not isinstance(given, dict) or _is_usual(given, call.role):
        return given
    if call.role == "edit" and patch_of(given):
        return given
    found = _renamed(given, names)
    if call.role == "shell" and isinstance(found.get("command"), list):
        return found | {"command": _joined(found["command"])}
    if call.role == "edit":
        found = _with_edits(found)
    inside: dict[str, dict[str, tuple[str, ...]]] = {"edits": _ALIASES["edit"], "todos": _TODO}
    for several, inner in inside.items():
        if several in found and several in (*names, "edits") and isinstance(found[several], list):
            items = [_renamed(one, inner) if isinstance(one, dict) else one for one in found[several]]
            found = found | {several: items}
    return found


def _is_usual(given: dict[str, Any], role: str) -> bool:
    """Whether an input is seen at once to have no field that would be renamed."""
    return given.keys().isdisjoint(_UNUSUAL[role]) and not (role == "shell" and isinstance(given.get("command"), list))


def shell_command(call: ToolCall) -> str:
    """What a shell was told to run, whatever the agent calls that; empty where it is no text."""
    given = usual_input(call)
    command = given.get("command") if isinstance(given, dict) else None
    return " ".join(map(str, command)) if isinstance(command, list) else command if isinstance(command, str) else ""


def _with_edits(given: dict[str, Any]) -> dict[str, Any]:
    """Several edits as a list: one that stands alone, or those of a text that says what to search and replace."""
    if isinstance(given.get("edits"), dict):
        return given | {"edits": [given["edits"]]}
    name = next((name for name in _PATCH if isinstance(given.get(name), str) and " SEARCH" in given[name]), "")
    edits = list(_searched(given[name])) if name else []
    return {key: value for key, value in given.items() if key != name} | {"edits": edits} if edits else given


def _searched(text: str) -> Iterator[dict[str, Json]]:
    """The pieces of a text `<<<<<<< SEARCH ... ======= ... >>>>>>> REPLACE`, and of other marks in their places."""
    old: list[str] = []
    new: list[str] = []
    within: list[str] | None = None
    for line in text.split("\n"):
        mark = line.strip()
        if mark.lstrip("<-").rstrip(">") == " SEARCH":
            old, new = [], []
            within = old
        elif within is old and mark and set(mark) == {"-"} and all(one.startswith(":") for one in old):
            old.clear()  # only the numbers of lines stood before
        elif within is old and len(mark) > 4 and set(mark) == {"="}:
            within = new
        elif within is new and mark.lstrip(">+").lstrip() == "REPLACE":
            yield {"old_string": "\n".join(old), "new_string": "\n".join(new)}
            within = None
        elif within is not None:
            within.append(line)


def _renamed(given: dict[str, Any], names: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    wanted: dict[str, str] = {}
    for name, others in names.items():
        if given.get(name) is None and (other := next((one for one in others if given.get(one) is not None), "")):
            wanted.setdefault(other, name)
    if not wanted:
        return given
    return {wanted.get(name, name): value for name, value in given.items() if name not in wanted.values()}


def _joined(words: list[Json]) -> str:
    """A command that is a list of words, as one types it; what a shell is asked to run, by itself."""
    texts = [word if isinstance(word, str) else str(word) for word in words]
    if len(texts) == 3 and texts[1] in ("-c", "-lc", "/c", "-Command"):
        return texts[2]
    return shlex.join(texts)


def patch_of(given: Json) -> str:
    """The text of a patch of several files that a call was given; empty where it was given none."""
    if isinstance(given, str):
        return given if PATCH_MARK in given else ""
    if not isinstance(given, dict):
        return ""
    for name in _PATCH:
        text = given.get(name)
        if isinstance(text, str) and PATCH_MARK in text:
            return text
    return ""


class PatchedFile(NamedTuple):
    """What a patch does with one file."""

    action: str
    """Add, Update or Delete."""
    path: str
    moved_to: str
    lines: tuple[str, ...]
    """As the patch has them: each begins with a space, a minus, a plus, or `@@` where a run of changes does."""


def patched_files(patch: str) -> Iterator[PatchedFile]:
    """The files of a patch, in order."""
    action = path = moved = ""
    lines: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("*** ") and (line.endswith(" Patch") or " File: " in line):
            if action:
                yield PatchedFile(action, path, moved, tuple(lines))
            head, _, path = line.removeprefix("*** ").partition(" File: ")
            action, moved, lines = head if path else "", "", []
        elif line.startswith("*** Move to: "):
            moved = line.removeprefix("*** Move to: ").strip()
        elif action and not line.startswith("*** "):
            lines.append(line)
    if action:
        yield PatchedFile(action, path, moved, tuple(lines))


def paths_of(call: ToolCall) -> tuple[str, ...]:
    """The files that a call says it reads or changes."""
    if call.role == "edit" and (patch := patch_of(call.input)):
        return tuple(dict.fromkeys(one.moved_to or one.path.strip() for one in patched_files(patch)))
    given = usual_input(call)
    named = (given.get(name) for name in ("file_path", "notebook_path", "path")) if isinstance(given, dict) else ()
    return next(((path,) for path in named if isinstance(path, str) and path), ())
