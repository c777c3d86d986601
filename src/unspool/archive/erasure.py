"""Proof that bytes are gone: samples of what was removed are looked for wherever they could still be."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from unspool.archive.archive import Archive

WINDOW = 64
_MOST = 48
_CHUNK = 8 * 1024 * 1024


class Erasure(msgspec.Struct, frozen=True):
    """What was looked for, and found."""

    samples: int
    """Pieces of 64 bytes of what was removed, plain and as it was packed, which no file that stays has too."""
    found: int = 0
    """How many of them are still somewhere; 0 is the proof."""
    where: tuple[str, ...] = ()
    shared: int = 0
    """Further samples that files which stay have too, and that are not looked for therefore."""


class Samples(msgspec.Struct, frozen=True):
    """Bytes of files, and of the packs that hold them, from all over both."""

    plain: frozenset[bytes]
    packed: frozenset[bytes]


def samples(archive: Archive, files: Iterable[int], lines: "Mapping[int, Sequence[bytes]] | None" = None) -> Samples:
    """Samples to be looked for once these files, and these lines of other generations, are removed."""
    generations = [one for file in files for one in archive.generations(file)]
    numbers = [*(one.generation for one in generations), *(lines or ())]
    packs = sorted({piece.pack for number in numbers for piece in archive.pieces(number)})
    plain = _windows(
        [one.size for one in generations], lambda at, start: archive.read(generations[at].generation, start, WINDOW)
    )
    going = [line for some in (lines or {}).values() for line in some]
    plain |= _windows([len(line) for line in going], lambda at, start: going[at][start : start + WINDOW])
    blobs = [archive.db.execute("SELECT length(data) FROM pack WHERE id = ?", (pack,)).get for pack in packs]
    part = "SELECT substr(data, ?, ?) FROM pack WHERE id = ?"
    packed = _windows(blobs, lambda at, start: archive.db.execute(part, (start + 1, WINDOW, packs[at])).get)
    return Samples(plain, packed)


def _windows(sizes: list[int], read: Callable[[int, int], bytes]) -> frozenset[bytes]:
    """Windows of things of these sizes; `read` gives that of a thing at a place."""
    room = [max(0, size - WINDOW + 1) for size in sizes]
    if not sum(room):
        return frozenset()
    chosen = random.Random(sum(room))  # noqa: S311  any will do
    picked = chosen.choices(range(len(room)), room, k=_MOST)
    found = (read(at, chosen.randrange(room[at])) for at in picked)
    return frozenset(window for window in found if len(set(window)) > 8)  # no blanks or rows of dashes


def look(archive: Archive, sought: Samples) -> Erasure:
    """Look for samples in every pack, and for those that are in none in the bytes of all files of the folder."""
    plain, packed = set(sought.plain), set(sought.packed)
    for pack, data in archive.db.execute("SELECT id, data FROM pack"):
        raw = archive.unpacked(pack)
        plain -= {window for window in plain if window in raw}
        packed -= {window for window in packed if window in data}  # what stays may begin as it did
    own = plain | packed
    where = {str(path): found for path in _files(archive.path.parent) if (found := _within(path, own))}
    found = set().union(*where.values())
    return Erasure(len(own), len(found), tuple(where), len(sought.plain) - len(plain))


def _files(folder: Path) -> list[Path]:
    """Every file of a folder: also a broken archive that was put aside, or what a killed process left."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _within(path: Path, sought: set[bytes]) -> set[bytes]:
    """Which of the samples are among the bytes of a file."""
    return {window for chunk in _chunks(path) for window in sought if window in chunk}


def _chunks(path: Path) -> Iterator[bytes]:
    """A file's bytes, in chunks that overlap by less than a sample."""
    before = b""
    with path.open("rb") as stream:
        while data := stream.read(_CHUNK):
            yield before + data
            before = data[-WINDOW + 1 :]
