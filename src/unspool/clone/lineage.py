"""What copies were made of what, by which options: one small file a copy, kept with the archive; and undoing one."""

import hashlib
from collections.abc import Iterator
from glob import escape as glob_escape
from pathlib import Path

import msgspec

from unspool.archive.place import folder, prepared
from unspool.clone.publish import Written
from unspool.clone.tally import Tally
from unspool.errors import Exists, NotFound
from unspool.files import write_atomically

_FOLDER = "clones"
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


def keep(record: Record) -> None:
    """Remember a copy."""
    place = prepared(folder()) / _FOLDER / f"{record.session}.json"
    write_atomically(place, [msgspec.json.format(msgspec.json.encode(record))])


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
        raise NotFound(f"{len(fitting)} copies have an id that begins with “{session}”; give more of it.")
    return fitting[0]


def undo(record: Record, *, force: bool = False) -> list[Path]:
    """Remove what a copy wrote, and its record; Exists where the session went on since."""
    there = [one for one in record.files if Path(one.path).exists()]
    changed = [one.path for one in there if digest(Path(one.path)) != one.digest]
    if changed and not force:
        raise Exists(
            f"{changed[0]} has changed since it was made: the session went on. --force removes it all the same."
        )
    for one in there:
        Path(one.path).unlink()
    for place in sorted({Path(one.path).parent for one in there[1:]}, key=lambda path: -len(path.parts)):
        _prune(place, record.session)
    for place in (folder() / _FOLDER).glob(f"{glob_escape(record.session)}*"):
        place.unlink()
    return [Path(one.path) for one in there]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _prune(place: Path, session: str) -> None:
    """Remove the empty folders that bear the copy's own id, and those in them."""
    while session in place.parts[-3:]:
        try:
            place.rmdir()
        except OSError:
            return
        place = place.parent
