"""Merges another archive into this one."""

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from unspool.errors import Unreadable
from unspool.store.archive.archive import ArchiveDatabase, KeptFile, PackPiece, path_for_database
from unspool.store.archive.chain import Origin, bytes_digest, name_digest
from unspool.store.archive.line_filter import ByPath, Drops, FileRules, Tombstones, filtered_pieces, split_lines
from unspool.store.archive.pack_writer import Packer, packing, renumber


class FilteredGenerations:
    """An archive read without the lines that `drops` names; each piece is a pack of its own."""

    def __init__(self, archive: ArchiveDatabase, drops: Drops) -> None:
        self._archive, self._drops = archive, drops
        self._packs: list[bytes] = []
        self._pieces: dict[int, list[PackPiece]] = {}

    def generations(self, file: int) -> list[KeptFile]:
        return [self._filtered(kept) for kept in self._archive.generations(file)]

    def _filtered(self, kept: KeptFile) -> KeptFile:
        pieces, size = self._pieces.setdefault(kept.generation, []), 0
        for data in filtered_pieces(self._archive.stream(kept.generation), self._drops):
            pieces.append(PackPiece(size, len(data), len(self._packs), 0, bytes_digest(data)))
            self._packs.append(data)
            size += len(data)
        return kept._replace(size=size)

    def pieces(self, generation: int) -> list[PackPiece]:
        return self._pieces[generation]

    def stream(self, generation: int) -> Iterator[bytes]:
        return (self._packs[piece.pack] for piece in self._pieces[generation])

    def unpacked(self, pack: int) -> bytes:
        return self._packs[pack]


GenerationReader = ArchiveDatabase | FilteredGenerations


class MergeReport(msgspec.Struct, frozen=True):
    origins: int = 0
    files: int = 0
    """New ones."""
    grown: int = 0
    """Generations of which the other archive had more."""
    generations: int = 0
    """Further generations of files that were here."""
    bytes: int = 0
    forgotten: int = 0
    """Files of the other archive that were removed for good here, and stay so."""
    buried: int = 0
    """Tombstones taken over."""
    forgotten_there: tuple[str, ...] = ()
    """Files here that were removed for good there; they stay until they are forgotten here too."""


Ruled = Callable[[Tombstones, Origin], FileRules]
"""What holds for the files of a place."""


class _Own(NamedTuple):
    """A generation here, and where its bytes can be read: what was just taken over is not stored yet."""

    generation: int
    size: int
    modified: int
    archive: GenerationReader
    place: int


def merge_archives(
    archive: ArchiveDatabase, other: ArchiveDatabase, rules: Ruled = lambda tombstones, _: ByPath(tombstones)
) -> MergeReport:
    """Join all that `other` holds into `archive`; all of it or, on an error, nothing. What was forgotten here is not
    brought back, as the `rules` for the files of a place tell."""
    if other.path.samefile(archive.path):
        return MergeReport()
    with archive.writing(), packing(archive) as packer:
        return _Merger(archive, other, rules, packer).merge()


class _Merger:
    def __init__(self, archive: ArchiveDatabase, other: ArchiveDatabase, rules: Ruled, packer: Packer) -> None:
        self._archive, self._db, self._other = archive, archive.db, other
        self._there: GenerationReader = other
        """Where the file that is being joined is read."""
        self._rules = rules
        self._packer = packer
        self._forgotten = archive.graves()
        self._counts = dict.fromkeys(("origins", "files", "grown", "generations", "bytes", "forgotten", "buried"), 0)

    def merge(self) -> MergeReport:
        known = set(self._archive.origins().values())
        for number, origin in self._other.origins().items():
            self._counts["origins"] += origin not in known
            self._origin(number, self._archive.origin(origin), self._rules(self._forgotten, origin))
        self._packer.flush()
        there = self._tombstones()
        return MergeReport(**self._counts, forgotten_there=there)

    def _origin(self, theirs: int, ours: int, rules: FileRules) -> None:
        for path, kept in self._other.kept(theirs).items():
            if rules.hides(path):
                self._counts["forgotten"] += 1
                continue
            own = self._archive.last(ours, path)
            drops = rules.drops(path)
            self._there = self._other if drops is None else FilteredGenerations(self._other, drops)
            generations = self._there.generations(kept.file)
            if own is None:
                self._new(ours, path, generations)
            else:
                self._join(own.file, generations, apart=rules.apart(path))

    def _new(self, origin: int, path: str, theirs: list[KeptFile]) -> None:
        self._counts["files"] += 1
        self._db.execute("INSERT INTO file(origin, path) VALUES(?, ?)", (origin, path_for_database(path)))
        file = self._db.last_insert_rowid()
        for number, kept in enumerate(theirs, 1):
            self._add(file, number, kept)
        renumber(self._archive, file)

    def _join(self, file: int, theirs: list[KeptFile], *, apart: bool) -> None:
        """Generations of a file that is here too: what one side has more of wins, what differs stays beside; so does
        what one side has more of, where each state is kept apart."""
        kept_here = self._archive.generations(file)
        ours = [_Own(one.generation, one.size, one.modified, self._archive, one.generation) for one in kept_here]
        known = len(ours)
        at = 0  # place among ours that the next of theirs must not come before
        for kept in theirs:
            twin = self._same(ours, kept, at) if apart else self._twin(ours, kept)
            if twin is None:
                older = [place for place, own in enumerate(ours) if own.modified <= kept.modified]
                at = max(at, older[-1] + 1 if older else 0)
                added = self._add(file, -1 - len(ours), kept)
                ours.insert(at, _Own(added, kept.size, kept.modified, self._there, kept.generation))
                at += 1
            else:
                at = max(at, twin + 1)
                ours[twin] = self._grown(ours[twin], kept)
        self._counts["generations"] += len(ours) - known
        renumber(self._archive, file, [own.generation for own in ours])

    def _same(self, ours: list[_Own], kept: KeptFile, after: int) -> int | None:
        """Which generation here, from a place on, holds the same as that one: a file may be again what it was."""
        places = (place for place, own in enumerate(ours) if place >= after and own.size == kept.size)
        return next((place for place in places if self._begins(ours[place], kept)), None)

    def _twin(self, ours: list[_Own], kept: KeptFile) -> int | None:
        """Which generation here begins with that one, or is what that one began with; the one most in common."""
        fits = [
            (min(own.size, kept.size), place)
            for place, own in enumerate(ours)
            if (own.size or len(ours) == 1 or not kept.size) and self._begins(own, kept)
        ]
        return max(fits)[1] if fits else None

    def _begins(self, own: _Own, kept: KeptFile) -> bool:
        """Whether one of two generations is the beginning of the other."""
        size = left = min(own.size, kept.size)
        for one, other in zip_longest(own.archive.pieces(own.place), self._there.pieces(kept.generation)):
            if left <= 0:
                return True
            if one is None or other is None or one.size != other.size:
                break
            if one.digest != other.digest:
                return False
            left -= one.size
        return left <= 0 or _alike(own.archive.stream(own.place), self._there.stream(kept.generation), size)

    def _grown(self, own: _Own, kept: KeptFile) -> _Own:
        if kept.size <= own.size:
            return own
        self._counts["grown"] += 1
        self._copy(own.generation, kept, own.size)
        self._db.execute(
            "UPDATE generation SET size = ?, modified = ?, changed = ?, inode = ?, gone = ? WHERE id = ?",
            (kept.size, kept.modified, kept.changed, kept.inode, kept.gone, own.generation),
        )
        return _Own(own.generation, kept.size, kept.modified, self._there, kept.generation)

    def _add(self, file: int, number: int, kept: KeptFile) -> int:
        """One of their generations, as a new one here; its chain is made to fit afterwards."""
        seen = self._other.db.execute("SELECT seen FROM generation WHERE id = ?", (kept.generation,)).get
        row = (file, number, kept.size, kept.modified, kept.changed, kept.inode, seen, kept.gone, b"")
        self._db.execute(
            "INSERT INTO generation(file, number, size, modified, changed, inode, seen, gone, chain)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        generation = self._db.last_insert_rowid()
        self._copy(generation, kept, 0)
        return generation

    def _copy(self, generation: int, kept: KeptFile, start: int) -> None:
        """The bytes of their generation from `start` on, each piece checked before it is taken."""
        end = start
        for piece in self._there.pieces(kept.generation):
            last = piece.start + piece.size
            if last <= start:
                continue
            data = self._there.unpacked(piece.pack)[piece.place : piece.place + piece.size]
            if len(data) != piece.size or bytes_digest(data) != piece.digest or piece.start > end:
                raise Unreadable(f"{self._other.path} is damaged in {kept.path}; run `unspool verify` on it.")
            data = data[max(0, start - piece.start) :]
            self._packer.store(generation, end, data, reuse=True)
            self._counts["bytes"] += len(data)
            end = last
        if end != kept.size:
            raise Unreadable(f"{self._other.path} is damaged in {kept.path}; run `unspool verify` on it.")

    def _tombstones(self) -> tuple[str, ...]:
        """Take over what they buried, but for what is here: that is named instead."""
        theirs = dict(self._other.db.execute("SELECT name, time FROM tombstone"))
        salts, here = self._other.salts, set[str]()
        if not theirs:
            return ()
        for number, origin in self._archive.origins().items():
            rules = self._rules(self._forgotten, origin)
            for path, kept in self._archive.kept(number).items():
                aliases = rules.aliases(path, split_lines(self._archive.stream(kept.generation)))
                found = {name for alias in aliases for salt in salts if (name := name_digest(salt, alias)) in theirs}
                here |= {path} if found else set()
                for name in found:
                    del theirs[name]
        before = self._db.execute("SELECT count(*) FROM tombstone").get
        self._db.executemany("INSERT OR IGNORE INTO tombstone VALUES(?, ?)", theirs.items())
        self._counts["buried"] = self._db.execute("SELECT count(*) FROM tombstone").get - before
        if theirs:
            own = self._archive.salts
            self._archive.note("salts", " ".join([*own[1:], *(salt for salt in salts if salt not in own)]))
        return tuple(sorted(here))


def _alike(one: Iterator[bytes], other: Iterator[bytes], size: int) -> bool:
    """Whether two streams begin with the same bytes."""
    a = b = b""
    while size > 0:
        a, b = a or next(one, b""), b or next(other, b"")
        step = min(len(a), len(b), size)
        if not step or a[:step] != b[:step]:
            return False
        a, b, size = a[step:], b[step:], size - step
    return True
