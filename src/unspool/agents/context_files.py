"""Context files: what sessions ran under or left beside their logs, found and told apart by where it lies."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

CONTEXT_KINDS = ("plan", "memory", "instructions", "settings", "skill", "agent", "command")
LARGEST = 1_000_000
"""Bytes of a file that is taken for a context file; whatever is larger is no text that a session runs under."""
_MOST_FILES, _MOST_FOLDERS, _MOST_NAMES, _DEEPEST = 500, 200, 2_000, 8
"""Of one look: files found, folders listed, names of a folder that are read, and folders within each other."""
_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})
"""Folders that hold what programs put there, never what a session was told."""
_SECRETS = (
    ".credentials*", "*credential*.json", "*creds*.json", "*oauth*.json", "*token*.json", "auth.json", ".env", ".env.*",
    "*.pem", "*.key", "id_rsa*", "id_ed25519*", ".netrc",
)  # fmt: skip
"""Names of files that let somebody in: they are never taken, wherever they lie."""
_ANY_DEPTH = "**"


class ContextPattern(NamedTuple):
    """Where files of one kind lie below a folder: names, with `*` for any letters; `**` for any folders between."""

    kind: str
    names: tuple[str, ...]


class ContextFile(NamedTuple):
    """A context file as it stands."""

    kind: str
    path: str
    """Whole, as it is named: it may be a link to a file below the same folder."""
    status: os.stat_result


def patterns(**places: str) -> tuple[ContextPattern, ...]:
    """Patterns by kind, each a line of paths with spaces between."""
    return tuple(
        ContextPattern(kind, tuple(path.split("/"))) for kind, paths in places.items() for path in paths.split()
    )


SHARED_INSTRUCTIONS = patterns(instructions="AGENTS.md")
"""The file that most agents read, in the folder worked in and those above it."""


class ContextFiles:
    """What an agent's sessions run under, by where it lies."""

    def __init__(
        self,
        *,
        home: Sequence[ContextPattern] = (),
        project: Sequence[ContextPattern] = SHARED_INSTRUCTIONS,
        kept: Sequence[ContextPattern] = (),
        elsewhere: Callable[[Mapping[str, str], Path], list[Path]] = lambda _, __: [],
        by_slug: str = "",
    ) -> None:
        self.home = tuple(home)
        """Below the agent's own folder."""
        self.project = tuple(project)
        """Below a folder that sessions work in, and those above it."""
        self.kept = tuple(kept)
        """Below the agent's own folder too, among the files that it keeps of its sessions."""
        self.elsewhere = elsewhere
        """Further folders that are the agent's own, by the environment and the user's home."""
        self._by_slug = by_slug
        """The folder of kept files that are called as the slug of their session."""

    def in_home(self, home: Path) -> Iterator[ContextFile]:
        """Those that lie in the agent's own folder and are no files of its sessions."""
        return find_context_files(home, self.home)

    def in_project(self, folder: Path) -> Iterator[ContextFile]:
        """Those that lie in a folder that sessions work in."""
        return find_context_files(folder, self.project)

    def kind_in_home(self, path: str) -> str:
        """The kind of a file by its path below the agent's own folder; empty where it is no context file."""
        return _kind(path, (*self.home, *self.kept))

    def kind_of_kept(self, path: str) -> str:
        """The same of a file that the agent keeps of its sessions."""
        return _kind(path, self.kept)

    def slug_of_kept(self, path: str) -> str:
        """The slug of the session that a kept file is of, where its name tells one."""
        folder, _, name = path.rpartition("/")
        return name.partition(".")[0].partition("-agent-")[0] if folder == self._by_slug else ""


class ProjectScope(NamedTuple):
    """Where a context file of a project holds."""

    kind: str
    folder: str
    """Sessions that work there or below it run under the file."""
    matched: tuple[str, ...]
    """The names of its path below that folder."""


def project_scope(path: str, known: Iterable[ContextPattern]) -> ProjectScope | None:
    """What a whole path is by the longest pattern that it ends with; None where it ends with none."""
    names = tuple(path.split("/"))
    found = (
        (at, one.kind) for one in known for at in range(max(1, len(names) - 32), len(names)) if fits(names[at:], one)
    )
    best = min(found, default=None, key=lambda pair: pair[0])
    if best is None:
        return None
    at, kind = best
    return ProjectScope(kind, "/".join(names[:at]) or "/", names[at:])


def fits(names: Sequence[str], pattern: ContextPattern) -> bool:
    """Whether names that lead to a file are such as the pattern says."""
    return _fits(tuple(names), pattern.names)


def _fits(names: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not names or not wanted:
        return not names and not wanted
    if wanted[0] == _ANY_DEPTH:
        return _fits(names, wanted[1:] or ("*",)) or _fits(names[1:], wanted)
    return fnmatchcase(names[0], wanted[0]) and _fits(names[1:], wanted[1:])


def _kind(path: str, known: Iterable[ContextPattern]) -> str:
    names = tuple(path.split("/"))
    return "" if is_secret(names[-1]) else next((one.kind for one in known if fits(names, one)), "")


def is_secret(name: str) -> bool:
    """Whether a file is one that lets somebody in, as its name says."""
    return any(fnmatchcase(name.lower(), one) for one in _SECRETS)


def find_context_files(folder: Path, known: Sequence[ContextPattern], top: Path | None = None) -> Iterator[ContextFile]:
    """The files below a folder that patterns name. What cannot be read, is too large, is no plain file or a link that
    leads out of `top`, or of the folder, is passed over; where there is no end of them, what comes last is."""
    return _Look(str(top or folder)).below(str(folder), [(one.kind, one.names) for one in known])


_Wanted = list[tuple[str, tuple[str, ...]]]


class _Look:
    def __init__(self, top: str) -> None:
        self._top = top
        self._files, self._folders = _MOST_FILES, _MOST_FOLDERS

    def below(self, folder: str, wanted: _Wanted, depth: int = 0) -> Iterator[ContextFile]:
        """By name where a name is known, which asks the system once; only else are folders listed."""
        exact: dict[str, _Wanted] = {}
        for kind, names in wanted:
            if "*" not in names[0]:
                exact.setdefault(names[0], []).append((kind, names[1:]))
        open_ = [(kind, names) for kind, names in wanted if "*" in names[0]]
        for name, rest in exact.items():
            yield from self._named(f"{folder}/{name}", [*rest, *_rest_of(name, open_)], depth)
        for name in self._listed(folder) if open_ else ():
            if name not in exact:
                yield from self._named(f"{folder}/{name}", list(_rest_of(name, open_)), depth)

    def _named(self, path: str, rest: _Wanted, depth: int) -> Iterator[ContextFile]:
        """A file or folder by its path, for which these names are still to come: none, for a file."""
        if not rest:
            return
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return
        inner = [(kind, names) for kind, names in rest if names]
        if stat.S_ISDIR(status.st_mode):
            if inner and depth < _DEEPEST and _name(path) not in _PASSED_OVER:
                yield from self.below(path, inner, depth + 1)
            return
        kind = next((kind for kind, names in rest if not names), "")
        found = context_status(path, self._top, status) if kind and self._files else None
        if found is not None:
            self._files -= 1
            yield ContextFile(kind, path, found)

    def _listed(self, folder: str) -> list[str]:
        if not self._folders:
            return []
        self._folders -= 1
        with suppress(OSError, ValueError), os.scandir(folder) as entries:
            return sorted(entry.name for _, entry in zip(range(_MOST_NAMES), entries, strict=False))
        return []


def _rest_of(name: str, wanted: _Wanted) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is still to come of names once the first is known."""
    for kind, names in wanted:
        if names[0] == _ANY_DEPTH:
            last = names[1:] or ("*",)
            if len(last) == 1 and fnmatchcase(name, last[0]):
                yield kind, ()
            yield kind, names
        elif fnmatchcase(name, names[0]):
            yield kind, names[1:]


def context_status(path: str, top: str, status: os.stat_result | None = None) -> os.stat_result | None:
    """What the system says of a file that may be taken for a context file; None of any other. OSError where it is not
    there, or nobody may ask, unless its own status is given."""
    own = status or os.lstat(path)
    if stat.S_ISLNK(own.st_mode):
        own = _linked(path, top) or own
    small = stat.S_ISREG(own.st_mode) and own.st_size <= LARGEST
    return own if small and not is_secret(_name(path)) else None


def _linked(path: str, top: str) -> os.stat_result | None:
    """What a link leads to, where that lies below the same folder."""
    try:
        real, above = os.path.realpath(path), os.path.realpath(top)
        inside = real.startswith(f"{above.rstrip(os.sep)}{os.sep}")
        return os.lstat(real) if inside and not is_secret(_name(real)) else None
    except (OSError, ValueError):
        return None


def _name(path: str) -> str:
    return path.replace(os.sep, "/").rpartition("/")[2]
