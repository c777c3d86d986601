"""Everything that changes an archive, in any order: what it should hold it holds, and it is clean."""

import random
from pathlib import Path

import pytest

from tests.store.archive.making import HERE, clean, held, keep, lines, write
from tests.store.archive.test_forget import belongs
from tests.thorough import tries
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.forget import files_by_session, find_session_files, forget
from unspool.store.archive.merge import merge_archives
from unspool.store.archive.pack_writer import tidy_packs
from unspool.store.archive.repair import repair_archive
from unspool.store.archive.salvage import convert
from unspool.store.archive.verify import verify_archive

STEPS = 60


class World:
    """A source, two archives of it, and what the first should hold."""

    def __init__(self, place: Path, seed: int) -> None:
        self.root, self.one, self.two = place / "source", place / "one", place / "two"
        self.root.mkdir()
        self.chosen = random.Random(seed)
        self.met: dict[str, list[bytes]] = {}
        self.gone: set[str] = set()
        self.write()
        self.sync()

    def write(self) -> None:
        """Make, grow, rewrite or copy a few logs."""
        for _ in range(self.chosen.randrange(1, 4)):
            name = f"s{self.chosen.randrange(6)}/{self.chosen.choice('ab')}"
            path = self.root / name
            before = path.read_bytes() if path.exists() else b""
            data = self.chosen.choice([before, before, b""]) + lines(self.chosen.getrandbits(30), 120)
            if self.chosen.random() < 0.3 and (others := [one for one in self.root.rglob("*") if one.is_file()]):
                data = self.chosen.choice(others).read_bytes().replace(b'"text"', b'"words"') + data[:50]
            write(self.root, name, data)

    def sync(self) -> None:
        """Keep all that was not forgotten."""
        with ArchiveDatabase.open(self.one) as archive:
            graves = archive.graves()
            hidden = [path for path in self.root.rglob("*") if path.is_file() and graves.hold(self.name(path))]
            for path in hidden:
                path.unlink()
            keep(archive, self.root)
        for path in self.root.rglob("*"):
            if path.is_file():
                self.note(self.name(path), path.read_bytes())

    def note(self, name: str, data: bytes) -> None:
        known = self.met.setdefault(name, [])
        if known and data.startswith(known[-1]):
            known[-1] = data
        else:
            known.append(data)

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def backup(self) -> None:
        with ArchiveDatabase.open(self.two) as other, ArchiveDatabase.open(self.one, readonly=True) as archive:
            merge_archives(other, archive)

    def back(self) -> None:
        """What the backup has, this has too: nothing may change but what was never here."""
        if not self.two.exists():
            return
        with ArchiveDatabase.open(self.one) as archive, ArchiveDatabase.open(self.two, readonly=True) as other:
            done = merge_archives(archive, other)
        assert (done.files, done.generations, done.grown) == (0, 0, 0)

    def tidy(self) -> None:
        with ArchiveDatabase.open(self.one) as archive:
            tidy_packs(archive, self.chosen.randrange(4))

    def forget(self) -> None:
        with ArchiveDatabase.open(self.one) as archive:
            known = sorted(session for _, session in files_by_session(archive, belongs))
            if len(known) < 3:
                return
            session = self.chosen.choice(known)
            assert forget(archive, find_session_files(archive, session, belongs)[1]).found == 0
        self.met = {name: data for name, data in self.met.items() if belongs("", name) != session}

    def flip(self) -> None:
        path = self.one / "archive.db"
        data = bytearray(path.read_bytes())
        data[self.chosen.randrange(len(data))] ^= 1 << self.chosen.randrange(8)
        path.write_bytes(data)
        assert repair_archive(self.one, verify_archive(self.one)).proof.clean

    def rewrite(self) -> None:
        convert(self.one, None, "key")
        convert(self.one, "key", None)

    def check(self) -> None:
        clean(self.one)
        want = {(HERE, name, number): data for name, all_ in self.met.items() for number, data in enumerate(all_, 1)}
        assert held(self.one) == want


@pytest.mark.parametrize("seed", range(tries(1, 20)))
def test_in_any_order(tmp_path: Path, seed: int) -> None:
    """Syncs, merges, tidying, forgetting, damage and encryption one after the other."""
    world = World(tmp_path, seed)
    acts = [world.write, world.sync, world.sync, world.backup, world.back, world.tidy, world.forget, world.flip]
    for step in range(STEPS):
        act = world.rewrite if step == STEPS // 2 else world.chosen.choice(acts)
        if act == world.sync:
            world.write()
        act()
        if act != world.write:
            world.check()
