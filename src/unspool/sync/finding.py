"""What the doctor found: one thing that is well, or not, and how to mend it."""

from typing import Literal

import msgspec

Level = Literal["ok", "note", "warn", "bad"]
LEVELS: tuple[Level, ...] = ("bad", "warn", "note", "ok")
"""The worst first."""


class Finding(msgspec.Struct, frozen=True):
    """One result of one check."""

    level: Level
    check: str
    """The check's name, one word."""
    message: str
    """One sentence."""
    details: tuple[str, ...] = ()
    """Paths or sessions it is about."""
    remedy: str = ""
    """A command, or a sentence that says what to do; empty where nothing is to be done."""
