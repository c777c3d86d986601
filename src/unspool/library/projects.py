"""Sessions that lie in one project folder belong to one project, whatever path each of them names."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from unspool.model import Overview

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def unified(overviews: Iterable[tuple[str, Overview]]) -> list[Overview]:
    """The overviews, each with its project's path settled; the text beside each is the folder it lies in."""
    listed = list(overviews)
    by_folder: dict[str, list[Overview]] = {}
    for folder, overview in listed:
        by_folder.setdefault(folder, []).append(overview)
    settled = {folder: _path(folder, group) for folder, group in by_folder.items() if folder}
    return [_in(overview, settled.get(folder, "")) for folder, overview in listed]


def _in(overview: Overview, project: str) -> Overview:
    return (
        overview if not project or project == overview.project else msgspec.structs.replace(overview, project=project)
    )


def _path(folder: str, group: list[Overview]) -> str:
    """The path the folder is named after, if a session names it; else the newest session's."""
    named = [overview for overview in group if overview.cwd]
    newest = max(named or group, key=lambda overview: overview.ended or _LONG_AGO)
    return named_after(folder, (overview.project for overview in named)) or newest.project


def named_after(folder: str, paths: Iterable[str]) -> str:
    """Which of the paths a project's log folder is named after; empty where it is none of them."""
    name = _letters(folder.rsplit("/", 1)[-1])
    return next((path for path in paths if _letters(path) == name), "")


def _letters(path: str) -> str:
    return re.sub(r"[^a-z0-9]", "", path.lower())
