"""Files given back as they were: byte for byte, with their times, never over something else unless told so."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from unspool.errors import Exists, NotFound, UsageProblem
from unspool.files import write_atomically
from unspool.store.archive.archive import ArchiveDatabase, KeptFile
from unspool.store.archive.forget import SessionFile

Outcome = Literal["written", "same", "differs", "replaced"]
_SUFFIX = ".generation-"
_VERSION = ".version-"


class RestoredFile(msgspec.Struct, frozen=True):
    path: str
    generation: int
    size: int
    outcome: Outcome


class RestoreOptions(msgspec.Struct, frozen=True):
    """Which files are wanted, and whether other content may be replaced."""

    generation: int = 0
    """0 is the last."""
    every: bool = False
    force: bool = False
    machine: str = ""
    """Only what came from there."""


def restore(
    archive: ArchiveDatabase, files: Sequence[SessionFile], to: Path | None, options: RestoreOptions
) -> list[RestoredFile]:
    """Write the files of a session below a folder, or where each came from where that is None.

    Nothing is written unless all can be: a file of other content in the way of any is an error, without force.
    """
    machines = sorted({one.place.machine for one in files})
    if options.machine and options.machine not in machines:
        raise NotFound(f"Nothing of this session came from {options.machine!r}, but from {', '.join(machines)}.")
    files = [one for one in files if options.machine in ("", one.place.machine)]
    wanted = [(_place(one, kept, to, options), kept) for one in files for kept in _wanted(archive, one, options)]
    if not wanted:
        raise UsageProblem(f"No file has a generation {options.generation}.")
    wanted = list(_told_apart(wanted))
    states = [_state(archive, path, kept) for path, kept in wanted]
    blocked = [str(path) for (path, _), state in zip(wanted, states, strict=True) if state == "differs"]
    if blocked and not options.force:
        shown = ", ".join(blocked[:3]) + (f" and {len(blocked) - 3} more" if len(blocked) > 3 else "")
        raise Exists(f"Not overwritten, for what is there differs: {shown}. Use --force, or --to another folder.")
    return [_restored(archive, path, kept, state) for (path, kept), state in zip(wanted, states, strict=True)]


def _told_apart(wanted: Iterable[tuple[Path, KeptFile]]) -> Iterator[tuple[Path, KeptFile]]:
    """Files that were kept from several places under one path: equal ones once, the last written under its own name,
    others beside it with a number."""
    by_path: dict[Path, dict[bytes, KeptFile]] = {}
    for path, kept in sorted(wanted, key=lambda one: -one[1].modified):
        by_path.setdefault(path, {}).setdefault(kept.chain, kept)
    for path, versions in by_path.items():
        for number, kept in enumerate(versions.values(), 1):
            yield path if number == 1 else path.with_name(f"{path.name}{_VERSION}{number}"), kept


def _wanted(archive: ArchiveDatabase, one: SessionFile, options: RestoreOptions) -> list[KeptFile]:
    if not options.every and not options.generation:
        return [one.kept]
    return [kept for kept in archive.generations(one.kept.file) if options.every or kept.number == options.generation]


def _place(one: SessionFile, kept: KeptFile, to: Path | None, options: RestoreOptions) -> Path:
    """Where a file goes; earlier generations beside the last one, with their number."""
    base = Path(one.place.root) if to is None else to
    earlier = options.every and kept.generation != one.kept.generation
    return path_inside(base, kept.path + (f"{_SUFFIX}{kept.number}" if earlier else ""))


def path_inside(base: Path, path: str) -> Path:
    """A path of an archive below a folder; UsageProblem where it would lead out of it, by its names or by a link."""
    pure = PurePosixPath(path)
    parts = pure.parts
    odd = any(
        part in ("..", "") or "\0" in part or (os.name == "nt" and set('\\:*?"<>|') & set(part)) for part in parts
    )
    if not parts or pure.is_absolute() or odd:
        raise UsageProblem(f"The path {path!r} does not stay below a folder; it is not restored.")
    place = base.joinpath(*parts)
    real = os.path.realpath(base)
    if os.path.commonpath([real, os.path.realpath(place.parent)]) != real or place.is_symlink():
        raise UsageProblem(f"{place} leads elsewhere by a link; it is not restored.")
    return place


def _state(archive: ArchiveDatabase, path: Path, kept: KeptFile) -> Outcome:
    """Whether a file is there already, and as it was kept."""
    try:
        with path.open("rb") as stream:
            same = all(stream.read(len(chunk)) == chunk for chunk in archive.stream(kept.generation))
            return "same" if same and not stream.read(1) else "differs"
    except FileNotFoundError:
        return "written"
    except (IsADirectoryError, NotADirectoryError, PermissionError):
        raise Exists(f"{path} is in the way and cannot be read.") from None


def _restored(archive: ArchiveDatabase, path: Path, kept: KeptFile, state: Outcome) -> RestoredFile:
    if state != "same":
        write_atomically(path, archive.stream(kept.generation))
        os.utime(path, ns=(kept.modified, kept.modified))
    outcome: Outcome = "replaced" if state == "differs" else state
    return RestoredFile(str(path), kept.number, kept.size, outcome)
