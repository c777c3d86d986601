"""How sessions of a project were shared last, so that the next one is offered the same way."""

from pathlib import Path

import msgspec

from unspool.app.sharing.seals import Seal
from unspool.files import write_atomically
from unspool.share.choices import place


class Habit(msgspec.Struct, frozen=True):
    """Neither key nor passphrase is among it."""

    chain: bool = False
    seal: Seal = "open"


def habit(project: str) -> Habit:
    """How it was done last; the default where it never was, or where that cannot be read."""
    try:
        return msgspec.json.decode(_place(project).read_bytes(), type=Habit)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Habit()


def keep(project: str, now: Habit) -> None:
    """Keep it for the project's next share, for this user's eyes alone."""
    if now != habit(project):
        write_atomically(_place(project), [msgspec.json.encode(now)])


def _place(project: str) -> Path:
    return place(project).with_suffix(".habit.json")
