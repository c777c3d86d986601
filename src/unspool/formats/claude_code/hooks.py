"""Claude Code's hooks: commands that it runs when something happens, listed in its `settings.json`.

    {"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "...", "timeout": 10}]}], ...}}

An edit touches only what is ours: an entry whose command carries `MARK`.
"""

import json
from pathlib import Path
from typing import Any

from unspool.errors import Unreadable
from unspool.formats import jsonedit
from unspool.formats.hooks import MARK, Edit

EVENTS = ("SessionEnd", "PreCompact")
"""When a session is over, and before a compaction takes its history out of the agent's sight."""

_SECONDS = 10
"""The agent waits no longer; the command returns at once, so this is for a machine that hangs."""


def edit(home: Path, command: str) -> Edit:
    """The change of the settings in the agent's folder that has the command run; with an empty one, ours no longer.

    A link is followed, so that the real file is changed and the link stays.
    """
    path = (home / "settings.json").resolve()
    try:
        before = path.read_bytes()
    except FileNotFoundError:
        before = b""
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None
    text = _text(path, before)
    after = _with(text, command) if command else _without(text)
    return Edit(path, before, after.encode("utf-8") if after != text else before)


def _text(path: Path, data: bytes) -> str:
    """The settings as text; Unreadable where they are not what the agent itself would take."""
    try:
        text = data.decode("utf-8")
        whole = json.loads(text if text.strip() else "{}", object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} is no valid JSON ({error}); it is left as it is.") from None
    _expect(whole, dict, path, "the whole")
    _expect(whole.get("hooks", {}), dict, path, "`hooks`")
    for event in EVENTS:
        _expect(whole.get("hooks", {}).get(event, []), list, path, f"`hooks.{event}`")
    return text if text.strip() else "{}\n"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _expect(value: Any, kind: type, path: Path, what: str) -> None:
    if not isinstance(value, kind):
        raise Unreadable(f"In {path}, {what} is not what hooks are listed in; it is left as it is.")


def _with(text: str, command: str) -> str:
    """The settings with our entry under every event, where it is not there as wanted already."""
    entry = {"hooks": [{"type": "command", "command": command, "timeout": _SECONDS}]}
    for event in EVENTS:
        listed = _listed(text, event)
        ours = (
            [item.value for item in jsonedit.items(text, listed) if any(map(_is_ours, _commands(item.value)))]
            if listed
            else []
        )
        if ours == [entry]:
            continue
        text = _appended(_without(text, event), event, entry)
    return text


def _appended(text: str, event: str, entry: dict[str, Any]) -> str:
    if not _at(text, "hooks"):
        text = jsonedit.appended(text, jsonedit.begin(text), "hooks", {})
    if not _listed(text, event):
        return jsonedit.appended(text, _at(text, "hooks"), event, [entry])
    return jsonedit.appended(text, _listed(text, event), "", entry)


def _without(text: str, *events: str) -> str:
    """The settings without our commands; lists and objects that held nothing else go with them."""
    for event in events or EVENTS:
        while (listed := _listed(text, event)) and (ours := _first(text, listed)) is not None:
            text = _taken(text, event, listed, ours)
    return text


def _first(text: str, listed: int) -> int | None:
    """The number of the first entry that has a command of ours."""
    present = enumerate(jsonedit.items(text, listed))
    return next((number for number, item in present if any(map(_is_ours, _commands(item.value)))), None)


def _taken(text: str, event: str, listed: int, number: int) -> str:
    """The settings without the first command of ours in that entry."""
    present = jsonedit.items(text, listed)
    commands = _commands(present[number].value)
    if len(commands) > 1:
        inner = _at(text, "hooks", present[number].at)
        return jsonedit.removed(text, inner, next(at for at, one in enumerate(commands) if _is_ours(one)))
    return jsonedit.removed(text, listed, number) if len(present) > 1 else _dropped(text, event)


def _dropped(text: str, event: str) -> str:
    """The settings without the event, and without `hooks` where that was all it held."""
    hooks = _at(text, "hooks")
    names = [item.name for item in jsonedit.items(text, hooks)]
    if len(names) > 1:
        return jsonedit.removed(text, hooks, names.index(event))
    top = [item.name for item in jsonedit.items(text, jsonedit.begin(text))]
    return jsonedit.removed(text, jsonedit.begin(text), top.index("hooks"))


def _at(text: str, name: str, within: int | None = None) -> int:
    """Where the value of a member begins; 0 where there is none, for there the whole begins."""
    start = jsonedit.begin(text) if within is None else within
    return next((item.at for item in jsonedit.items(text, start) if item.name == name), 0)


def _listed(text: str, event: str) -> int:
    hooks = _at(text, "hooks")
    return _at(text, event, hooks) if hooks else 0


def _commands(entry: Any) -> list[Any]:
    """What an entry runs; nothing where it is of another shape."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    return commands if isinstance(commands, list) else []


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and MARK in str(hook.get("command", ""))
