"""Reads fields of untrusted data and small files: the value if it has the right type, else a harmless one."""

import json
import os
import stat
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from unspool.model import Json

LARGEST = 2**53


def text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def whole(value: Json) -> int:
    """A count: never negative, never beyond what any reader of JSON can hold, 0 for anything else."""
    if type(value) is int and 0 <= value <= LARGEST:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, min(int(value), LARGEST))


def add_cost(sum_: str, said: Json) -> str:
    """What an agent says that requests cost, with one more added; what is no amount adds nothing."""
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 < said <= LARGEST:
        return sum_
    return str(Decimal(sum_ or 0) + Decimal(str(said)))


def mapping(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def moment(value: Json) -> datetime | None:
    """An ISO timestamp, or seconds or milliseconds since 1970, as an aware UTC time."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo is UTC else _aware(found)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _aware(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def decode_object(value: Json) -> Json:
    """The object that a string of JSON holds; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return data if isinstance(data, dict) else value


LARGEST_FILE = 4 * 1024 * 1024


def is_small_file(path: Path, largest: int = LARGEST_FILE) -> bool:
    """Whether a path is a plain file of reasonable size; a link could lead anywhere, and a pipe would never end."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= largest


def plain_bytes(path: Path, size: int = -1) -> bytes:
    """The bytes of a plain file, or the first of them. OSError where it is none, or cannot be read: a pipe or a device
    that lies where a file should would never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:  # a stream of a folder would not close it
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no plain file")
        with open(descriptor, "rb", buffering=0, closefd=False) as stream:
            return stream.read(size)
    finally:
        os.close(descriptor)


def first_bytes(path: Path, size: int = 256) -> bytes:
    """How a plain file begins; nothing where it is none, or cannot be read."""
    try:
        return plain_bytes(path, size)
    except (OSError, ValueError):
        return b""


def read_small_json(path: Path) -> dict[str, Json] | None:
    """The object that a file holds; None where it cannot be read or holds something else."""
    try:
        data = msgspec.json.decode(plain_bytes(path).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError, RecursionError):
        return None
    return mapping(data) if isinstance(data, dict) else None
