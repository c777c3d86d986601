"""Tool calls as nodes: one renderer a tool or small family, all of them listed in `TOOLS`.

`describe` never fails: a call whose input or result has an unexpected shape is shown by its plain fields.
A tool that no renderer here names may have one in another package, found through the entry points
of the group `unspool.tools`. No tool is named outside its own renderer.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from unspool.doc import Diff, Fold
from unspool.model import ToolCall
from unspool.tools import (
    agent,
    bash,
    by_fields,
    edit,
    lsp,
    mcp,
    notebook,
    other,
    plan,
    plugins,
    question,
    read,
    search,
    shells,
    todos,
    toolsearch,
    web,
    write,
)
from unspool.tools.diff import FileVersions
from unspool.tools.nodes import CallDescription, ToolRenderer, call_fold

TOOLS: tuple[ToolRenderer, ...] = (
    agent,
    bash,
    by_fields,
    edit,
    lsp,
    mcp,
    notebook,
    plan,
    question,
    read,
    search,
    shells,
    todos,
    toolsearch,
    web,
    write,
)

_T = TypeVar("_T")


def describe(call: ToolCall) -> Fold:
    """One call as a row that opens to its input and its answer."""
    if call.state == "orphan":
        return call_fold(call, other.describe_orphan(call))
    shown = _attempt(renderer(call.name).describe, call)
    return call_fold(call, shown if isinstance(shown, CallDescription) else other.describe(call))


def changes(call: ToolCall) -> tuple[Diff, ...]:
    """What the call changed in files, line by line; nothing where it did not run, failed, or changes none."""
    find = getattr(renderer(call.name), "changes", None)
    done = call.state == "ok" and call.result is not None and not call.result.error
    return (_attempt(find, call) or ()) if done and find else ()


def stood(call: ToolCall, believed: str | None) -> FileVersions:
    """The file that a call read or changed, before and after it; `believed` is what it was taken to be."""
    find = getattr(renderer(call.name), "stood", None)
    if find is None or call.state != "ok" or call.result is None:
        return FileVersions()
    return _attempt(lambda one: find(one, believed), call) or FileVersions()


def renderer(name: str) -> ToolRenderer:
    """Who shows the tool of this name."""
    return _BY_NAME.get(name) or _prefixed(TOOLS, name) or _guest(name) or other


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
    guests = plugins.installed_renderers()
    return next((guest for guest in guests if name in guest.NAMES), None) or _prefixed(guests, name)


_BY_NAME = {name: tool for tool in TOOLS for name in tool.NAMES}
