"""What was forgotten on purpose and must not come back."""

from typing import NamedTuple, Self

from unspool.archive import Archive
from unspool.archive.chain import name_digest


class Graves(NamedTuple):
    """The tombstones of an archive, read once."""

    names: frozenset[bytes]
    salts: tuple[str, ...]

    @classmethod
    def of(cls, archive: Archive) -> Self:
        return cls(archive.buried(), archive.salts)

    def hold(self, path: str) -> bool:
        """Whether the file at a path below its place was removed for good."""
        return bool(self.names) and any(name_digest(salt, path) in self.names for salt in self.salts)
