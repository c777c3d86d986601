"""Which folders' sessions go to which projects of a hub: chosen by a person once; nothing else is ever pushed."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec

from unspool.errors import Unreadable, UsageProblem
from unspool.files import write_atomically

_FILE = "chosen.json"

Folders = dict[str, list[str]]
"""By project, the folders whose sessions go there."""


def chosen(folder: Path, hub: str) -> Folders:
    """What was chosen for a hub."""
    return _all(folder).get(hub, {})


def choose(folder: Path, hub: str, project: str, place: str) -> None:
    """Have the sessions of a folder go to a project; from then on to no other one."""
    every = _all(folder)
    mine = {name: [one for one in places if one != place] for name, places in every.get(hub, {}).items()}
    mine.setdefault(project, []).append(place)
    _write(folder, {**every, hub: {name: places for name, places in mine.items() if places}})


def forget(folder: Path, hub: str, project: str) -> None:
    """Push nothing more to a project."""
    every = _all(folder)
    if project not in every.get(hub, {}):
        raise UsageProblem(f"Nothing is pushed to a project “{project}” from here.")
    left = {name: places for name, places in every[hub].items() if name != project}
    _write(folder, {**every, hub: left})


def parsed(text: str) -> tuple[str, str]:
    """A choice as it is typed, NAME=FOLDER, with the folder's whole path."""
    name, sign, place = text.partition("=")
    if not sign or not name.strip() or not place.strip():
        raise UsageProblem(f"“{text}” does not say which folder goes where: --project NAME=FOLDER.")
    windows = len(place) > 1 and place[1] == ":"
    return name.strip(), place.strip() if windows else str(Path(place.strip()).expanduser().absolute())


def project_of(choices: Mapping[str, list[str]], place: str) -> str:
    """The project that a session goes to which ran in a place: by the nearest folder above it; empty where to none."""
    found = [(len(one), name) for name, places in choices.items() for one in places if _within(place, one)]
    return max(found)[1] if found else ""


def _within(place: str, folder: str) -> bool:
    kind = PureWindowsPath if "\\" in folder or "\\" in place else PurePosixPath
    return bool(place) and kind(place).is_relative_to(kind(folder))


def _all(folder: Path) -> dict[str, Folders]:
    path = folder / _FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Folders])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}. Remove it, and choose again what is pushed.") from None


def _write(folder: Path, every: dict[str, Folders]) -> None:
    write_atomically(folder / _FILE, [msgspec.json.format(msgspec.json.encode(every, order="sorted")), b"\n"])
