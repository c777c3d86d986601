"""A source that changes as agents change theirs, and remembers everything it ever held."""

import os
import random
from collections import Counter
from pathlib import Path

from tests.log_builder.builder import LogBuilder
from tests.store.sync.sessions import child, turn
from unspool.store.archive import ArchiveDatabase

Held = dict[tuple[str, int], bytes]
"""Bytes by path and number of the generation."""
_MOST = 12


class Changing:
    """Sessions that grow, are rewritten, gain subagents, shrink and vanish."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self._chosen = random.Random(seed)
        self._logs: list[LogBuilder] = []
        self._count = 0
        self.versions: dict[str, list[bytes]] = {}
        """All that every file ever held, in order; growth is no version of its own."""
        self.replaced: Counter[str] = Counter()
        """How often every file was replaced, when it was there or when it was not."""
        (root / "projects").mkdir(parents=True)
        for _ in range(4):
            self._new()

    def change(self, times: int = 3) -> None:
        """Let a few things happen."""
        for _ in range(times):
            what = self._chosen.choices(
                [self._grow, self._part, self._agent, self._new, self._rewrite, self._shrink, self._delete, self._back],
                [8, 3, 2, 2, 1, 1, 1, 1],
            )[0]
            what()

    def _one(self) -> LogBuilder:
        return self._chosen.choice(self._logs)

    def _new(self) -> None:
        if len(self._logs) > _MOST:
            self._logs.pop(0)  # it stays as it is from now on
        self._count += 1
        log = LogBuilder(seed=f"session{self._count}", cwd=f"/home/dev/project{self._count % 3}")
        self._logs.append(turn(log, self._chosen.randrange(10)))
        self._write(log)

    def _grow(self) -> None:
        log = self._one()
        for _ in range(self._chosen.randint(1, 3)):
            turn(log, self._chosen.randrange(1000))
        self._write(log)

    def _part(self) -> None:
        """Write no more than a part of what is new, to the middle of a line."""
        log = turn(self._one(), self._chosen.randrange(1000))
        data, path = log.to_bytes(), self.root / log.path
        if path.exists() and data.startswith(path.read_bytes()):
            self._put(log.path, data[: self._chosen.randint(path.stat().st_size, len(data))])

    def _agent(self) -> None:
        log = child(self._one(), f"errand {self._chosen.randrange(1000)}")
        self._write(log)

    def _rewrite(self) -> None:
        """Another log in the place of one."""
        log = self._one()
        self._count += 1
        other = LogBuilder(seed=f"rewritten{self._count}", session_id=log.session_id, cwd=log.cwd)
        self._logs[self._logs.index(log)] = turn(other, self._chosen.randrange(1000))
        self._write(other)

    def _shrink(self) -> None:
        name = self._chosen.choice(sorted(self._there()))
        data = (self.root / name).read_bytes()
        if len(data) > 1:
            self._put(name, data[: self._chosen.randint(1, len(data) - 1)])

    def _delete(self) -> None:
        (self.root / self._chosen.choice(sorted(self._there()))).unlink()

    def _back(self) -> None:
        """What a log once held, again."""
        name = self._chosen.choice(sorted(self.versions))
        self._put(name, self.versions[name][-1])

    def _there(self) -> list[str]:
        return [name for name in self.versions if (self.root / name).exists()]

    def _write(self, log: LogBuilder) -> None:
        for name, data in log.tree().items():
            self._put(name, data)

    def _put(self, name: str, data: bytes) -> None:
        """Append where that is enough; else replace, as a whole."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        versions = self.versions.setdefault(name, [])
        before = path.read_bytes() if path.exists() else None
        if before == data:
            return
        if versions and data.startswith(versions[-1]):
            versions[-1] = data
        elif not versions or not versions[-1].startswith(data):
            versions.append(data)
        if before is not None and data.startswith(before):
            with path.open("ab") as stream:
                stream.write(data[len(before) :])
        else:
            self.replaced[name] += name in self.replaced
            beside = path.with_name(f".{path.name}.new")
            beside.write_bytes(data)
            os.replace(beside, path)  # noqa: PTH105


def held(folder: Path) -> Held:
    """Every generation that the archive of a folder holds, whole."""
    with ArchiveDatabase.open(folder) as archive:
        return {
            (name, one.number): archive.read(one.generation)
            for number in archive.origins()
            for name, last in archive.kept(number).items()
            for one in archive.generations(last.file)
        }


def unlost(before: Held, now: Held) -> None:
    """Everything that was kept is still kept, though it may have grown."""
    for key, data in before.items():
        assert now.get(key, b"").startswith(data), f"lost of {key}"


def true(now: Held, changing: Changing) -> None:
    """Everything that is kept was there once, and nothing of it is kept twice over."""
    for (name, number), data in now.items():
        assert any(version.startswith(data) for version in changing.versions[name]), f"{name} never held this"
        assert number <= 1 + changing.replaced[name], f"{name} has more generations than it had beginnings"


def complete(now: Held, changing: Changing) -> None:
    """The last generation of every file that is there is what the file holds."""
    latest = {name: now[name, number] for name, number in sorted(now)}
    for path in changing.root.rglob("*"):
        if path.is_file():
            assert latest[path.relative_to(changing.root).as_posix()] == path.read_bytes()
