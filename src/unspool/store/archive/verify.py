"""Verifies every byte of an archive, or names those that are not as they were."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import msgspec

from unspool.errors import Busy, NotFound, Unreadable, UnspoolError, UsageProblem
from unspool.store.archive.archive import ArchiveDatabase, KeptFile, path_from_database
from unspool.store.archive.chain import bytes_digest, first_link, next_link
from unspool.store.archive.database import ARCHIVE
from unspool.store.archive.keys import is_encrypted
from unspool.store.archive.page_checksums import PAGE, damaged_pages, page_fits


class Damage(msgspec.Struct, frozen=True, order=True):
    """Bytes of a file that are not in the archive as they were kept."""

    machine: str
    root: str
    path: str
    generation: int
    start: int
    size: int
    why: str


class VerifyResult(msgspec.Struct, frozen=True):
    """What was proved, and what was found wrong."""

    archive: str
    files: int = 0
    generations: int = 0
    bytes: int = 0
    """Of all generations together."""
    packs: int = 0
    pages: int = 0
    damaged_pages: tuple[int, ...] = ()
    damages: tuple[Damage, ...] = ()
    problems: tuple[str, ...] = ()
    """What else is wrong, a sentence each."""
    refused: bool = False
    """Whether the database cannot be trusted as one: it must be put together anew from what is readable."""

    @property
    def clean(self) -> bool:
        return not (self.damaged_pages or self.damages or self.problems)


Progress = Callable[[int], None]
_STRIDE = 64
_LOOKS = 3
_LEFT_OVER = {
    "a pack without pieces": "SELECT count(*) FROM pack WHERE id NOT IN (SELECT pack FROM piece)",
    "a piece without a generation": "SELECT count(*) FROM piece WHERE generation NOT IN (SELECT id FROM generation)",
    "a generation without a file": "SELECT count(*) FROM generation WHERE file NOT IN (SELECT id FROM file)",
    "a file without a generation": "SELECT count(*) FROM file WHERE id NOT IN (SELECT file FROM generation)",
    "a file without an origin": "SELECT count(*) FROM file WHERE origin NOT IN (SELECT id FROM origin)",
    "a trait of no pack": "SELECT count(*) FROM trait WHERE pack NOT IN (SELECT id FROM pack)",
    "an archive without an id": "SELECT count(*) = 0 FROM meta WHERE key = 'id'",
}


def verify_archive(folder: Path, *, key: str | None = None, progress: Progress = lambda _: None) -> VerifyResult:
    """Read all of the archive in a folder; `progress` hears of bytes read, all in all twice the file's size."""
    path = folder / ARCHIVE
    if not path.exists():
        raise NotFound(f"There is no archive in {folder} yet; `unspool sync` makes it.")
    if key is None and is_encrypted(path):
        raise Unreadable(f"{path} is encrypted; it cannot be verified without its key.")
    if key is None and _spoiled(path):  # nothing that its header says can be trusted: do not let SQLite act on it
        return _refused(path, "Its first page is damaged")
    try:
        archive = _open(folder, key)
    except (UsageProblem, Busy):
        raise
    except UnspoolError as error:
        return _refused(path, str(error), plain=key is None)
    with archive:
        return _Prover(archive, progress, encrypted=key is not None).proof()


def _refused(path: Path, why: str, *, plain: bool = True) -> VerifyResult:
    bad = tuple(damaged_pages(path)) if plain else ()
    pages, problem = -(-path.stat().st_size // PAGE), f"{why.removesuffix('.')}."
    return VerifyResult(str(path), pages=pages, damaged_pages=bad, problems=(problem,), refused=True)


def _spoiled(path: Path) -> bool:
    """Whether the first page is not as it was written, and nobody is writing it or was while he was killed."""
    for _ in range(_LOOKS):
        with path.open("rb") as stream:
            first = stream.read(PAGE)
        journal = path.with_name(path.name + "-journal")
        if not first or page_fits(first, 1) or (journal.exists() and journal.stat().st_size):
            return False
        time.sleep(0.01)
    return True


def _open(folder: Path, key: str | None) -> ArchiveDatabase:
    """The archive, open for writing where it may be: a process that was killed may have left something to take back."""
    try:
        return ArchiveDatabase.open(folder, key=key)
    except Unreadable:
        return ArchiveDatabase.open(folder, key=key, readonly=True)


class _Prover:
    """One reading of an archive, within one transaction: nothing changes meanwhile."""

    def __init__(self, archive: ArchiveDatabase, progress: Progress, *, encrypted: bool) -> None:
        self._archive, self._db = archive, archive.db
        self._progress, self._encrypted = progress, encrypted
        self._problems: list[str] = []
        self._damages: set[Damage] = set()
        self._bad: list[int] = []
        self._counts = {"files": 0, "generations": 0, "bytes": 0, "packs": 0, "pages": 0}
        self._refused = False

    def proof(self) -> VerifyResult:
        for step in (self._begin, self._pages, self._integrity, self._packs, self._generations, self._left_over):
            try:
                step()
            except (apsw.Error, UnspoolError, UnicodeDecodeError, TypeError, ValueError) as error:
                self._problems.append(f"The database cannot be read ({type(error).__name__}: {error}).")
                self._refused = True
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        return VerifyResult(
            str(self._archive.path),
            damaged_pages=tuple(self._bad),
            damages=tuple(sorted(self._damages)),
            problems=tuple(self._problems),
            refused=self._refused,
            **self._counts,
        )

    def _begin(self) -> None:
        self._db.execute("BEGIN")
        self._db.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  takes the lock

    def _pages(self) -> None:
        """Every page of the file, those that hold nothing included."""
        size = self._archive.path.stat().st_size
        self._counts["pages"] = -(-size // PAGE)
        stride = 1 if self._encrypted else _STRIDE
        for first in range(0, self._counts["pages"], stride):
            want = min(stride * PAGE, size - first * PAGE)
            self._bad += self._misfits(first, want)
            self._progress(want)
        stated = self._db.pragma("page_count")
        if stated != self._counts["pages"]:
            self._problems.append(f"The file has {self._counts['pages']} pages, and says that it has {stated}.")

    def _misfits(self, first: int, want: int) -> list[int]:
        """The numbers of the damaged pages among some."""
        try:
            whole, data = self._db.read("main", 0, first * PAGE, want)
        except apsw.Error:
            return list(range(first + 1, first + 1 + -(-want // PAGE)))
        if self._encrypted:
            return [] if whole and want == PAGE else [first + 1]
        pages = (data[at : at + PAGE] for at in range(0, want, PAGE))
        return [number for number, page in enumerate(pages, first + 1) if not page_fits(page, number)]

    def _integrity(self) -> None:
        found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            self._refused = True
            self._problems += [f"SQLite: {text}." for text in found]

    def _packs(self) -> None:
        """Every pack unpacks, every piece of it is what it was, and nothing but pieces is in it."""
        packs = [pack for (pack,) in self._db.execute("SELECT id FROM pack")]
        wanted = {pack for (pack,) in self._db.execute("SELECT DISTINCT pack FROM piece")}
        self._counts["packs"] = len(packs)
        share = self._archive.path.stat().st_size // max(1, len(packs))
        for pack in packs:
            self._pack(pack)
            self._progress(share)
        for pack in wanted - set(packs):
            self._damage_pack(pack, "its pack is missing")

    def _pack(self, pack: int) -> None:
        try:
            raw = self._archive.unpacked(pack)
        except UnspoolError:
            self._damage_pack(pack, "its pack cannot be unpacked")
            return
        end, sums = 0, dict[tuple[int, int], bytes]()
        for place, size, digest, generation, start in self._slices(pack):
            if (place, size) not in sums:
                sums[place, size] = bytes_digest(memoryview(raw)[place : place + size])
            if sums[place, size] != digest or place + size > len(raw):
                self._damage(generation, start, size, "it is not what was kept")
            if place > end:
                self._problems.append(f"Pack {pack} holds bytes that belong to no file.")
            end = max(end, place + size)
        if 0 < end < len(raw):
            self._problems.append(f"Pack {pack} holds bytes that belong to no file.")

    def _slices(self, pack: int) -> list[Any]:
        query = "SELECT place, size, digest, generation, start FROM piece WHERE pack = ? ORDER BY place, size"
        return list(self._db.execute(query, (pack,)))

    def _damage_pack(self, pack: int, why: str) -> None:
        for _, size, _, generation, start in self._slices(pack):
            self._damage(generation, start, size, why)

    def _damage(self, generation: int, start: int, size: int, why: str) -> None:
        query = (
            "SELECT machine, root, path, number FROM generation"
            " JOIN file ON file.id = generation.file JOIN origin ON origin.id = file.origin WHERE generation.id = ?"
        )
        row: Any = self._db.execute(query, (generation,)).fetchone()
        if row is None:
            self._problems.append(f"Bytes of the unknown generation {generation} are damaged.")
            return
        machine, root, path, number = row
        self._damages.add(Damage(machine, root, path_from_database(path), number, start, size, why))

    def _generations(self) -> None:
        """Sizes add up and chains hold, file by file."""
        for (file,) in list(self._db.execute("SELECT id FROM file")):
            self._counts["files"] += 1
            before = b""
            for number, kept in enumerate(self._archive.generations(file), 1):
                self._counts["generations"] += 1
                self._counts["bytes"] += kept.size
                if kept.number != number:
                    self._problems.append(f"Generation {number} of {kept.path} is missing.")
                before = self._chained(kept, before)

    def _chained(self, kept: KeptFile, before: bytes) -> bytes:
        chain, size = first_link(kept.path, kept.number, before), 0
        for piece in self._archive.pieces(kept.generation):
            if piece.start != size:
                break
            chain, size = next_link(chain, piece.size, piece.digest), size + piece.size
        if size != kept.size:
            missing = (min(size, kept.size), abs(kept.size - size))
            self._damage(kept.generation, *missing, "its pieces do not add up to its size")
        elif chain != kept.chain:
            self._problems.append(f"The chain of generation {kept.number} of {kept.path} is broken.")
        return kept.chain

    def _left_over(self) -> None:
        for what, query in _LEFT_OVER.items():
            if count := self._db.execute(query).get:
                self._problems.append(f"There is {what} ({count}).")
