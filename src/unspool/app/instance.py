"""The one app of its kind that runs: a private note of where it is, by which a second start finds it.

Whoever serves holds a lock as long as it lives, and the system takes that back however it ends; so a note without a
holder is stale, whatever it says.
"""

import http.client
import os
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import msgspec

from unspool.files import locked, write_atomically

_PATIENCE = 10.0
"""Seconds that an app may take from its start until it answers."""
_BEAT = 0.05
_SHORT = 4096


class RunningApp(msgspec.Struct, frozen=True):
    url: str
    """Where it listens, without a slash at the end."""
    token: str
    pid: int

    def ticket(self) -> str | None:
        """A token for one use, so that the real one stands among no program's arguments; None where it is not there."""
        parts = urlsplit(self.url)
        line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_PATIENCE)
        try:
            line.request("GET", "/ticket", headers={"Authorization": f"Bearer {self.token}"})
            answer = line.getresponse()
            words = answer.read(_SHORT).decode("ascii", "replace")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            line.close()
        return words if answer.status == http.client.OK else None


class AppInstance:
    """The place of one kind of app: of one archive, with the same sources and rules."""

    def __init__(self, *kind: object) -> None:
        name = sha256("\0".join(map(str, kind)).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._lock, self._note = (_folder() / f"app-{name}.{end}" for end in ("lock", "json"))
        self._held: int | None = None

    def __enter__(self) -> Self:
        """Take the place where nobody has it; where there can be no lock, nobody is found and nobody finds us."""
        with suppress(OSError):
            self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                if locked(descriptor):
                    self._held = descriptor
                    self._note.unlink(missing_ok=True)
            finally:
                if self._held is None:
                    os.close(descriptor)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._held is not None:
            with suppress(OSError):
                self._note.unlink(missing_ok=True)
            os.close(self._held)
            self._held = None

    def announce(self, app: RunningApp) -> None:
        """Say where we are, to nobody but our own user."""
        if self._held is not None:
            with suppress(OSError):
                write_atomically(self._note, [msgspec.json.encode(app)])

    def running(self, patience: float = _PATIENCE) -> tuple[RunningApp, str] | None:
        """Whoever has the place, with a ticket to it; one that has only begun is waited for. None where it is ours."""
        end = time.monotonic() + patience
        while self._held is None and self._lock.exists():
            with suppress(OSError, msgspec.DecodeError):
                found = msgspec.json.decode(self._note.read_bytes(), type=RunningApp)
                if ticket := found.ticket():
                    return found, ticket
            if time.monotonic() >= end:
                break
            time.sleep(_BEAT)
        return None


def _folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(runtime or state) / "unspool"
