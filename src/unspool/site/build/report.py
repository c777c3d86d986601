"""What a run did, for whoever asked for it."""

from collections.abc import Callable

import msgspec


class Failure(msgspec.Struct, frozen=True):
    """A session that could not be made."""

    log: str
    why: str


class Report(msgspec.Struct):
    """What a run did."""

    made: int = 0
    unchanged: int = 0
    empty: int = 0
    """Logs that hold no conversation."""
    gone: int = 0
    """Sessions that stay though their logs are gone."""
    files: int = 0
    size: int = 0
    failures: list[Failure] = []
    indexed: bool = False
    """Whether the indexes were written."""


Watch = Callable[[int, int], None]
"""Hears the bytes of each log that is done, and of all that there are to do."""
