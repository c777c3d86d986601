"""Tool calls as nodes: one renderer a tool or small family, all of them listed in `TOOLS`.

`describe` never fails: a call whose input or result has an unexpected shape is shown by its plain fields.
A tool that no renderer here names may have one in another package, found through the entry points
of the group `unspool.tools`. No tool is named outside its own renderer.
"""

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from unspool.doc import Diff, Fold
from unspool.model import ToolCall
from unspool.model.tool_input import patch_of, usual_input
from unspool.tools import (
    agent,
    bash,
    by_fields,
    edit,
    mcp,
    notebook,
    other,
    patch,
    question,
    read,
    search,
    todos,
    web,
    write,
)
from unspool.tools.diff import FileVersions
from unspool.tools.nodes import CallDescription, ToolRenderer, call_fold

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TOOLS: tuple[ToolRenderer, ...] = (
    agent,
    bash,
    by_fields,
    edit,
    mcp,
    notebook,
    patch,
    question,
    read,
    search,
    todos,
    web,
    write,
)

GROUP = "unspool.tools"
_T = TypeVar("_T")


def describe(call: ToolCall) -> Fold:
    """One call as a row that opens to its input and its answer."""
    shown = None if call.state == "orphan" else _attempt(renderer(call).describe, _usual(call))
    return call_fold(call, shown if isinstance(shown, CallDescription) else other.describe(call))


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """What the call changed in files, line by line; nothing where it did not run, failed, or changes none."""
    find = getattr(renderer(call), "changes", None)
    done = call.state == "ok" and call.result is not None and not call.result.error
    return (_attempt(find, _usual(call)) or ()) if done and find else ()


def stood(call: ToolCall, believed: str | None, path: str = "") -> FileVersions:
    """A file that a call read or changed, before and after it; `believed` is what it was taken to be, `path` tells
    which, of a call that changes several."""
    shower = renderer(call)
    find = getattr(shower, "stood", None)
    if find is None or call.state != "ok" or call.result is None:
        return FileVersions()
    if shower is patch:
        return _attempt(lambda one: patch.stood(one, believed, path), call) or FileVersions()
    return _attempt(lambda one: find(one, believed), _usual(call)) or FileVersions()


def group(call: ToolCall) -> str:
    """What calls that follow one another are shown together as, where they have that in common; mostly nothing."""
    shower = renderer(call)
    if shower in _UNGROUPED:
        return ""
    find = getattr(shower, "group", None)
    return (_attempt(find, _usual(call)) or "") if find else ""


def renderer(call: ToolCall) -> ToolRenderer:
    """Who shows a call: by the name of its tool, else by what the tool is for."""
    if call.role == "edit" and patch_of(call.input):
        return patch
    name = call.name
    return _BY_NAME.get(name) or _prefixed(TOOLS, name) or _guest(name) or _BY_ROLE.get(call.role) or other


def _usual(call: ToolCall) -> ToolCall:
    given = usual_input(call)
    return call if given is call.input else msgspec.structs.replace(call, input=given)


def _attempt(show: Callable[[ToolCall], _T], call: ToolCall) -> _T | None:
    """What a renderer makes of a call; None where the call has a shape it does not expect."""
    try:
        return show(call)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def _prefixed(renderers: Iterable[ToolRenderer], name: str) -> ToolRenderer | None:
    """The first whose name with a star begins this one."""
    for candidate in renderers:
        if any(known.endswith("*") and name.startswith(known[:-1]) for known in candidate.NAMES):
            return candidate
    return None


def _guest(name: str) -> ToolRenderer | None:
    guests = installed_renderers()
    return next((guest for guest in guests if name in guest.NAMES), None) or _prefixed(guests, name)


@cache
def installed_renderers() -> tuple[ToolRenderer, ...]:
    """Every renderer that another package brings: a module or object with `NAMES` and `describe`, looked up once."""
    from importlib.metadata import entry_points  # costs more than all of the tools, and is rarely needed

    found = (_loaded(point) for point in entry_points(group=GROUP))
    return tuple(renderer for renderer in found if renderer is not None)


def _loaded(point: "EntryPoint") -> ToolRenderer | None:
    """None for one that cannot be used, which is warned of: it must not keep anybody from reading a log."""
    try:
        found: Any = point.load()
        if isinstance(found.NAMES, tuple) and callable(found.describe):
            renderer: ToolRenderer = found
            return renderer
        why = "it has no NAMES and describe"
    except (ImportError, AttributeError) as problem:
        why = str(problem)
    warnings.warn(f"the tool renderer {point.name} ({point.value}) is left out: {why}", stacklevel=2)
    return None


_BY_ROLE: dict[str, ToolRenderer] = {
    "shell": bash, "read": read, "edit": edit, "write": write, "search": search, "web": web, "agent": agent,
    "todos": todos, "question": question, "plan": question,
}  # fmt: skip
_UNGROUPED = tuple(tool for tool in TOOLS if not hasattr(tool, "group"))
_BY_NAME = {name: tool for tool in TOOLS for name in tool.NAMES}
