"""What replaced what in the shares of a session: for its user's eyes alone, so that the next share says the same."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from unspool.archive.place import folder
from unspool.files import write_atomically


def remembered(session: str) -> dict[str, str]:
    """What was replaced before; empty where nothing was, or where it cannot be read."""
    try:
        return msgspec.json.decode(_place(session).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def remember(session: str, names: Mapping[str, str]) -> None:
    write_atomically(_place(session), [msgspec.json.encode(dict(names), order="sorted")])


def _place(session: str) -> Path:
    name = hashlib.sha256(session.encode(errors="replace")).hexdigest()[:24]
    return folder() / "shares" / "names" / f"{name}.json"
