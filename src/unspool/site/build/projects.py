"""Where projects lie in a site: each in a folder of its own, called like the project, for as long as the site lives."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from unspool.errors import UnspoolError
from unspool.formats import Found, by_id
from unspool.library.heads import beginning
from unspool.library.projects import named_after
from unspool.library.read import Reader
from unspool.site.build.manifest import Manifest, Project, digest

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions

_LINES = 40
_ASKED = 8
"""How many logs of a project are asked for its path."""
TAKEN = {"assets", "search"}
"""Folders of the site that are no projects."""


def key_of(found: Found) -> str:
    """A project's key: the same folder name in two sources is two projects."""
    return digest(found.root or found.path.rpartition(found.folder)[0], found.folder)


def settle(logs: Iterable[Found], manifest: Manifest, kept: "KeptSessions | None" = None) -> None:
    """Give every project of these logs its place in the manifest; those that have one keep it.

    Log folders that belong to one project, as those of its worktrees do, share its place.
    """
    fresh: dict[str, list[Found]] = {}
    for found in logs:
        key = key_of(found)
        if key not in manifest.projects:
            fresh.setdefault(key, []).append(found)
    taken = TAKEN | {project.folder for project in manifest.projects.values()}
    paths = {key: _path(group, kept) for key, group in fresh.items()}
    known = {project.path: project.folder for project in manifest.projects.values()}
    for key, path in sorted(paths.items(), key=lambda item: (item[1], item[0])):
        known[path] = known.get(path) or free(_plain(path), taken)
        manifest.projects[key] = Project(known[path], path)


def _path(group: list[Found], kept: "KeptSessions | None") -> str:
    """The project's path as its newest logs tell; the one its folder is named after, if any does."""
    folder, newest = group[0].folder, ""
    for found in group[:_ASKED]:
        path = _told(found, kept)
        if path and named_after(folder, (path,)):
            return path
        newest = newest or path
    return newest or folder


def _told(found: Found, kept: "KeptSessions | None") -> str:
    """The project that a log's first lines name; empty where they name none."""
    format_ = by_id(found.format)
    parser = format_.parser(None)
    try:
        with beginning(found, kept) as stream:
            for entry in islice(Reader().entries(stream), _LINES):
                parser.event(entry)
                if parser.facts.cwd:
                    break
    except (UnspoolError, OSError):
        return ""
    return format_.project(parser.facts, "")


def name(path: str) -> str:
    """What a project is called: the last part of its path."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path or "project"


def _plain(path: str) -> str:
    """A project's name as a folder's, without anything that an address would have to escape."""
    return re.sub(r"[^a-z0-9_-]+", "-", name(path).lower()).strip("-")[:60] or "project"


def free(wanted: str, taken: set[str]) -> str:
    """A name that nobody has, and from now on somebody does."""
    number, found = 1, wanted
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    taken.add(found)
    return found
