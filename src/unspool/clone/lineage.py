"""What copies were made of what, by which options: one small file a copy, kept with the archive; and undoing one."""

import errno
import hashlib
from collections.abc import Iterator
from glob import escape as glob_escape
from pathlib import Path

import msgspec

from unspool.archive.place import folder
from unspool.clone.publish import Written, emptied
from unspool.clone.tally import Tally
from unspool.errors import Ambiguous, Exists, NoRoom, NotFound, Unreadable
from unspool.files import write_atomically

_FOLDER = "clones"
_LISTED = 12
_DECODER_ERRORS = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError)


class Record(msgspec.Struct, frozen=True):
    """One copy."""

    session: str
    source: str
    """The session it was made from."""
    source_path: str
    command: str
    """clone, fork, repair, move or import."""
    options: dict[str, object]
    made: str
    version: str
    title: str
    cwd: str
    files: list[Written]
    """The log first."""
    before: Tally
    after: Tally
    folders: list[str] = []
    """Those made for the files, outer before inner."""
    compressed: list[str] = []
    """Lines of the copy that a model has shortened, in it or in one that it comes from."""


def keep(record: Record) -> None:
    """Remember a copy."""
    place = folder() / _FOLDER / f"{record.session}.json"
    try:
        write_atomically(place, [msgspec.json.format(msgspec.json.encode(record))])
    except OSError as error:
        kind = NoRoom if error.errno == errno.ENOSPC else Unreadable
        raise kind(f"{place} cannot be written ({error.strerror}), so no copy was made.") from None


def records() -> Iterator[Record]:
    """Every copy remembered, the newest first; files that are none of ours are passed over."""
    found = []
    for path in (folder() / _FOLDER).glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Record))
        except (*_DECODER_ERRORS, OSError):
            continue
    return iter(sorted(found, key=lambda record: record.made, reverse=True))


def find(session: str) -> Record:
    """The record of the copy whose id begins so; of the newest where nothing is said."""
    fitting = [record for record in records() if record.session.startswith(session)]
    if not fitting:
        raise NotFound(f"No copy is known whose id begins with “{session}”." if session else "No copy was made yet.")
    if session and len(fitting) > 1:
        listed = tuple(f"{record.session}  {record.title[:80]}" for record in fitting[:_LISTED])
        raise Ambiguous(f"{len(fitting)} copies begin with “{session}”:", listed)
    return fitting[0]


def compressed(session: str) -> frozenset[str]:
    """Lines of a session that a model has shortened already."""
    if Path(session).name != session:
        return frozenset()
    try:
        held = msgspec.json.decode((folder() / _FOLDER / f"{session}.json").read_bytes(), type=Record)
    except (*_DECODER_ERRORS, OSError, ValueError):
        return frozenset()
    return frozenset(held.compressed)


def undo(record: Record, *, force: bool = False) -> list[Path]:
    """Remove what a copy wrote, and its record; Exists where the session went on since."""
    there = [one for one in record.files if Path(one.path).exists()]
    changed = [one.path for one in there if digest(Path(one.path)) != one.digest]
    if changed and not force:
        raise Exists(
            f"{changed[0]} has changed since it was made: the session went on. --force removes it all the same."
        )
    for one in there:
        Path(one.path).unlink(missing_ok=True)
    emptied(map(Path, record.folders))
    for place in (folder() / _FOLDER).glob(f"{glob_escape(record.session)}*"):
        place.unlink()
    return [Path(one.path) for one in there]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
