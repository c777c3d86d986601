"""What Claude Code's settings say of its cleanup and its hooks.

`cleanupPeriodDays` (30 where nothing sets it) is the age, by the time a file was last modified, at which the
agent deletes it when it starts. Managed settings win over local ones, those over the user's. 0 is refused since
2.1.89; before, it deleted every log at the next start and wrote none from then on.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from unspool.formats.claude_code.small import LARGEST, read
from unspool.formats.claude_code.values import items, mapping, text
from unspool.formats.traces import Retention
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


def files(root: Path, managed: Sequence[Path]) -> list[Path]:
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
    for path, settings in _settings(files(root, managed_folders() if managed is None else managed), problems):
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
            too_large = path.stat().st_size > LARGEST
        except (OSError, ValueError):
            problems.append(f"{path} cannot be read.")
            continue
        settings = None if too_large else read(path)
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


def hooks(root: Path) -> tuple[str, ...]:
    """Every command that the agent runs at some moment of a session, by the user's own settings."""
    paths = [root / "settings.local.json", root / "settings.json"]
    return tuple(command for _, settings in _settings(paths, []) for command in _commands(settings) if command)


def _commands(settings: dict[str, Json]) -> Iterator[str]:
    for matchers in mapping(settings.get("hooks")).values():
        for matcher in items(matchers):
            yield from (text(mapping(hook).get("command")) for hook in items(mapping(matcher).get("hooks")))
