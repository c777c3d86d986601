"""Which sessions there are to push, and where each goes: by the folder that it ran in."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from unspool.errors import NotFound, UnspoolError
from unspool.formats import Found, by_id
from unspool.library import Library
from unspool.library.heads import beginning
from unspool.library.read import Reader
from unspool.remote.choosing import Folders, project_of
from unspool.remote.push import Task

_LINES = 80


def tasks(library: Library, choices: Folders, named: Sequence[str]) -> list[Task]:
    """The sessions that were named, or else all, as far as their folders were chosen.

    NotFound where one was named whose folder was not: it goes nowhere.
    """
    places = _Places(library)
    if not named:
        return list(_chosen(library.logs(), places, choices))
    found = [library.find(name) for name in named]
    chosen = list(_chosen(found, places, choices))
    if len(chosen) < len(found):
        lost = next(log for log in found if log not in [task.found for task in chosen])
        place = places.of(lost)
        raise NotFound(f"{lost.session_id} ran in {place}, of which nothing is pushed: --project NAME={place}.")
    return chosen


def _chosen(logs: Iterable[Found], places: "_Places", choices: Folders) -> Iterator[Task]:
    for found in logs:
        if project := project_of(choices, places.of(found)):
            yield Task(found, project)


class _Places:
    """The folders that sessions ran in; those whose logs lie together ran in the same."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, str] = {}

    def of(self, found: Found) -> str:
        """Where a session ran; empty where nothing tells."""
        folder = os.path.dirname(found.path)  # noqa: PTH120  once for every log
        if not self._known.get(folder):
            self._known[folder] = self._read(found)
        return self._known[folder]

    def _read(self, found: Found) -> str:
        format_ = by_id(found.format)
        parser = format_.parser(None)
        try:
            with beginning(found, self._library.kept) as stream:
                for entry in islice(Reader().entries(stream), _LINES):
                    parser.event(entry)
                    if parser.facts.cwd:
                        break
        except (UnspoolError, OSError):
            return ""
        return format_.project(parser.facts, found.folder) if parser.facts.cwd else ""
