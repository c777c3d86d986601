"""What an object store does for the hub: contents by key, whole or not there, streamed both ways."""

from collections.abc import Iterable, Iterator
from typing import Protocol

CHUNK = 256 * 1024
"""Bytes that are held in memory at a time."""


class Objects(Protocol):
    """An open object store, for all threads of a process. `Trouble` where it cannot be reached or has no room.

    Keys are made by the hub alone: letters, digits, `-`, `.` and `/`, never taken from what anybody sends.
    """

    def put(self, key: str, data: Iterable[bytes]) -> int:
        """Keep what comes, in place of what was there; its size. Nobody ever sees a part of it."""

    def get(self, key: str) -> Iterator[bytes]:
        """What is kept, piece by piece; NotFound before the first piece where there is nothing."""

    def size(self, key: str) -> int | None:
        """How large it is; None where there is nothing."""

    def delete(self, key: str) -> None:
        """Have nothing under a key any more."""

    def keys(self, prefix: str) -> Iterator[str]:
        """All keys that begin so, in order; they are held in memory, so ask for a part of many."""

    def sweep(self) -> int:
        """Remove what somebody who was killed left half written, more than a day ago; how many there were."""

    def well(self) -> bool:
        """Whether it answers now."""
