"""Claude Code's settings: how long it keeps files, its hooks, and edits that leave the rest as it is."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unspool.agents.base import MARK
from unspool.agents.records import Retention, SettingsEdit
from unspool.agents.values import LARGEST_FILE, items, mapping, read_small_json, text
from unspool.errors import Unreadable
from unspool.model import Json

KEY = "cleanupPeriodDays"
DEFAULT = 30
LONG = 36_500
"""A century: what is put for "never", which the setting cannot say."""

_OF_PROJECT = ("settings.local.json", "settings.json")
_MANAGED = {
    "darwin": ("/Library/Application Support/ClaudeCode",),
    "win32": ("C:/Program Files/ClaudeCode", "C:/ProgramData/ClaudeCode"),
}


def managed_folders(platform: str = sys.platform) -> list[Path]:
    """Where an organisation puts settings that win over the user's."""
    return [Path(folder) for folder in _MANAGED.get(platform, ("/etc/claude-code",))]


def settings_files(root: Path, managed: Sequence[Path]) -> list[Path]:
    """Every settings file that applies to the agent's folder, the one that wins first."""
    found: list[Path] = []
    for folder in managed:
        found += sorted(_dropped(folder / "managed-settings.d"), reverse=True)
        found.append(folder / "managed-settings.json")
    return [*found, root / "settings.local.json", root / "settings.json"]


def _dropped(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith("."))
    except OSError:
        return


def retention(root: Path, managed: Sequence[Path] | None = None, folders: Iterable[str] = ()) -> Retention:
    """How long files are kept below the agent's folder `root`; `folders` are those it was started in."""
    problems: list[str] = []
    days, told_by = DEFAULT, ""
    for path, settings in _settings(settings_files(root, managed_folders() if managed is None else managed), problems):
        if KEY not in settings:
            continue
        value = settings[KEY]
        if _is_days(value):
            days, told_by = int(value), str(path)
            break
        problems.append(f"{path} sets {KEY} to {_shown(value)}, which is no whole number of days.")
    if not days:
        problems.append(
            f"{told_by} sets {KEY} to 0: versions before 2.1.89 delete every log when they start and write no more; "
            "later ones refuse the value."
        )
    problems += _shorter(days, folders)
    return Retention(days, told_by, tuple(problems), not days, _remedy(root, told_by), _last(root))


def _shorter(days: int, folders: Iterable[str]) -> Iterator[str]:
    """Settings of projects that keep less: when the agent starts there, they hold for the files of all projects."""
    for folder in folders:
        for path, settings in _settings([Path(folder, ".claude", name) for name in _OF_PROJECT], []):
            value = settings.get(KEY)
            if value is not None and _is_days(value) and value < days:
                yield f"{path} sets {KEY} to {int(value)}; started there, the agent cleans up all projects by it."


def _settings(paths: Iterable[Path], problems: list[str]) -> Iterator[tuple[Path, dict[str, Json]]]:
    """The settings that can be read. A link is followed: people keep these files in a repository of their own."""
    for path in paths:
        try:
            if not path.is_file():
                continue
            too_large = path.stat().st_size > LARGEST_FILE
        except (OSError, ValueError):
            problems.append(f"{path} cannot be read.")
            continue
        settings = None if too_large else read_small_json(path)
        if settings is None:
            problems.append(f"{path} cannot be read as settings.")
        else:
            yield path, settings


def _is_days(value: Json) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and 0 <= value < 10**9


def _shown(value: Json) -> str:
    return repr(value)[:40]


def _remedy(root: Path, told_by: str) -> str:
    own = root / "settings.json"
    if told_by and Path(told_by).parent != root:
        return f"{told_by} is your organisation's: ask for a larger {KEY} there."
    return f'Put "{KEY}": {LONG} into {told_by or own}.'


def _last(root: Path) -> float | None:
    """The agent touches a file whenever it has cleaned up."""
    try:
        return (root / ".last-cleanup").lstat().st_mtime
    except OSError:
        return None


def hook_commands(root: Path) -> tuple[str, ...]:
    """Every command that the agent runs at some moment of a session, by the user's own settings."""
    paths = [root / "settings.local.json", root / "settings.json"]
    return tuple(command for _, settings in _settings(paths, []) for command in _commands(settings) if command)


def _commands(settings: dict[str, Json]) -> Iterator[str]:
    for matchers in mapping(settings.get("hooks")).values():
        for matcher in items(matchers):
            yield from (text(mapping(hook).get("command")) for hook in items(mapping(matcher).get("hooks")))


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class JsonItem(NamedTuple):
    """A member of an object, or an element of a list (its name is empty): from `start` to `end`, its value at `at`."""

    name: str
    value: Any
    start: int
    at: int
    end: int


def json_items(text: str, at: int) -> list[JsonItem]:
    """What the object or list that begins at `at` holds, in order."""
    return list(_items(text, at))


def _items(text: str, at: int) -> Iterator[JsonItem]:
    named = text[at] == "{"
    where = _skip(text, at + 1)
    while text[where] not in "]}":
        start, name = where, ""
        if named:
            name, where = _DECODER.raw_decode(text, where)
            where = _skip(text, _skip(text, where) + 1)
        value, end = _DECODER.raw_decode(text, where)
        yield JsonItem(name, value, start, where, end)
        where = _skip(text, end)
        where = _skip(text, where + 1) if text[where] == "," else where


def json_begin(text: str) -> int:
    """Where the value of the whole text begins."""
    return _skip(text, 0)


def json_append(text: str, at: int, name: str, value: Any) -> str:
    """The text with a member (or, without a name, an element) put last in the object or list at `at`."""
    present = json_items(text, at)
    own = _indent_at(text, at)
    made = json.dumps(value, indent=_unit(text) or None, ensure_ascii=False)
    inner = own + _unit(text)
    piece = (json.dumps(name, ensure_ascii=False) + ": " if name else "") + made.replace("\n", _newline(text) + inner)
    spread = bool(_unit(text)) and (not present or "\n" in text[at : present[0].start])
    if present:
        gap = _newline(text) + inner if spread else " "
        return f"{text[: present[-1].end]},{gap}{piece}{text[present[-1].end :]}"
    close = _skip(text, at + 1)
    around = (_newline(text) + inner, _newline(text) + own) if spread else ("", "")
    return text[: at + 1] + around[0] + piece + around[1] + text[close:]


def json_remove(text: str, at: int, number: int) -> str:
    """The text without item `number` of the object or list at `at`."""
    present = json_items(text, at)
    if len(present) == 1:
        return text[: at + 1] + text[_skip(text, present[0].end) :]
    if number:
        return text[: present[number - 1].end] + text[present[number].end :]
    return text[: present[0].start] + text[present[1].start :]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """What one level is indented by; empty where the text is all on one line."""
    if "\n" not in text.strip():
        return "" if text.strip() not in ("{}", "[]") else "  "
    found = re.search(r"[{\[]\r?\n([ \t]+)", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    """How the line that holds `at` is indented."""
    line = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[line:at])
    return found[0] if found else ""


EVENTS = ("SessionEnd", "PreCompact")
"""When a session is over, and before a compaction takes its history out of the agent's sight."""

_SECONDS = 10
"""The agent waits no longer; the command returns at once, so this is for a machine that hangs."""


def hook_edit(home: Path, command: str) -> SettingsEdit:
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
    return SettingsEdit(path, before, after.encode("utf-8") if after != text else before)


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
            [item.value for item in json_items(text, listed) if any(map(_is_ours, _commands_hooks(item.value)))]
            if listed
            else []
        )
        if ours == [entry]:
            continue
        text = _appended(_without(text, event), event, entry)
    return text


def _appended(text: str, event: str, entry: dict[str, Any]) -> str:
    if not _at(text, "hooks"):
        text = json_append(text, json_begin(text), "hooks", {})
    if not _listed(text, event):
        return json_append(text, _at(text, "hooks"), event, [entry])
    return json_append(text, _listed(text, event), "", entry)


def _without(text: str, *events: str) -> str:
    """The settings without our commands; lists and objects that held nothing else go with them."""
    for event in events or EVENTS:
        while (listed := _listed(text, event)) and (ours := _first(text, listed)) is not None:
            text = _taken(text, event, listed, ours)
    return text


def _first(text: str, listed: int) -> int | None:
    """The number of the first entry that has a command of ours."""
    present = enumerate(json_items(text, listed))
    return next((number for number, item in present if any(map(_is_ours, _commands_hooks(item.value)))), None)


def _taken(text: str, event: str, listed: int, number: int) -> str:
    """The settings without the first command of ours in that entry."""
    present = json_items(text, listed)
    commands = _commands_hooks(present[number].value)
    if len(commands) > 1:
        inner = _at(text, "hooks", present[number].at)
        return json_remove(text, inner, next(at for at, one in enumerate(commands) if _is_ours(one)))
    return json_remove(text, listed, number) if len(present) > 1 else _dropped_hooks(text, event)


def _dropped_hooks(text: str, event: str) -> str:
    """The settings without the event, and without `hooks` where that was all it held."""
    hooks = _at(text, "hooks")
    names = [item.name for item in json_items(text, hooks)]
    if len(names) > 1:
        return json_remove(text, hooks, names.index(event))
    top = [item.name for item in json_items(text, json_begin(text))]
    return json_remove(text, json_begin(text), top.index("hooks"))


def _at(text: str, name: str, within: int | None = None) -> int:
    """Where the value of a member begins; 0 where there is none, for there the whole begins."""
    start = json_begin(text) if within is None else within
    return next((item.at for item in json_items(text, start) if item.name == name), 0)


def _listed(text: str, event: str) -> int:
    hooks = _at(text, "hooks")
    return _at(text, event, hooks) if hooks else 0


def _commands_hooks(entry: Any) -> list[Any]:
    """What an entry runs; nothing where it is of another shape."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    return commands if isinstance(commands, list) else []


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and MARK in str(hook.get("command", ""))


_CHEAPEST = "haiku"
_QUIET = '{"disableAllHooks": true}'


def print_mode_command(model: str, system: str) -> list[str]:
    """The command that takes a prompt on its input and prints the answer.

    The user's own settings hold, for they may say how to sign in; those of a project do not.
    """
    return [
        "claude",
        "--print",
        *("--output-format", "text"),
        *("--model", model or _CHEAPEST),
        *("--system-prompt", system),
        *("--tools", ""),
        "--strict-mcp-config",
        *("--setting-sources", "user"),
        *("--settings", _QUIET),
        "--no-session-persistence",
    ]
