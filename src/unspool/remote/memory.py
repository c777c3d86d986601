"""What was pushed from here: for each session, how its files were then and what the hub took of them.

Lines are only ever added, so that two processes never lose what the other one did; a torn one is as if it were not
there, and the session is looked at again. The hub is asked in any case whether it still has what is remembered.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.files import write_atomically

_WORN = 3
"""Lines a session on average, from which on the file is written anew."""


class Past(NamedTuple):
    """A session as it was pushed."""

    project: str
    key: str
    seal: str
    """Of its files, and of what they were redacted by."""
    state: str
    """Of what was sent, as the hub knows it."""


class Memory:
    """What was pushed to one hub."""

    def __init__(self, folder: Path, hub: str) -> None:
        self._path = folder / f"pushed-{sha256(hub.encode()).hexdigest()[:16]}.jsonl"
        self._known: dict[tuple[str, str], Past] = {}
        lines = self._read()
        if lines > 100 and lines > _WORN * len(self._known):
            write_atomically(self._path, (msgspec.json.encode(past) + b"\n" for past in self._known.values()))

    def past(self, project: str, key: str) -> Past | None:
        """What is known of a session."""
        return self._known.get((project, key))

    def remember(self, past: Past) -> None:
        """From now on."""
        self._known[past.project, past.key] = past
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, b"\n" + msgspec.json.encode(past) + b"\n")
        finally:
            os.close(file)

    def _read(self) -> int:
        decoder = msgspec.json.Decoder(Past)
        lines = 0
        try:
            with self._path.open("rb") as file:
                for line in file:
                    lines += bool(line.strip())
                    self._take(decoder, line)
        except FileNotFoundError:
            pass
        return lines

    def _take(self, decoder: "msgspec.json.Decoder[Past]", line: bytes) -> None:
        try:
            past = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        self._known[past.project, past.key] = past
