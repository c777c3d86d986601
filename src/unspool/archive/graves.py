"""What was forgotten on purpose and must not come back, by digests of names."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from unspool.archive.chain import lines_of, name_digest
from unspool.archive.sieve import Drops


class Graves(NamedTuple):
    """The tombstones of an archive, read once."""

    names: frozenset[bytes] = frozenset()
    salts: tuple[str, ...] = ()

    def hold(self, name: str) -> bool:
        """Whether what has that name, as a file below its place has its path, was removed for good."""
        return bool(self.names) and any(name_digest(salt, name) in self.names for salt in self.salts)

    def hold_lines(self, path: str, session: str) -> bool:
        """Whether the lines of a session in a file of all sessions were."""
        return self.hold(lines_of(path, session))


class Rules(Protocol):
    """What was forgotten, for whoever takes files in."""

    def hides(self, path: str) -> bool:
        """Whether a file is not to be kept."""

    def drops(self, path: str) -> Drops | None:
        """Which lines of a file are not to be kept; None where it is kept as it is."""

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterable[str]:
        """All names by which a file, or lines of it, may have been buried."""


class ByPath:
    """Knows files by their paths alone."""

    def __init__(self, graves: Graves) -> None:
        self._graves = graves

    def hides(self, path: str) -> bool:
        return self._graves.hold(path)

    def drops(self, path: str) -> Drops | None:
        return None

    def aliases(self, path: str, lines: Iterable[bytes]) -> Iterable[str]:
        return (path,)
