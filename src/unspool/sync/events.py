"""What changes below some folders, told by the system; nothing is read and next to nothing used while all is quiet."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from unspool.sync.stop import Stop

PULSE = 0.5
"""Seconds that a wait lasts at most: so soon a stop and the clock are heeded."""


class Changes(Protocol):
    """Where to hear of changes."""

    def wait(self) -> set[str]:
        """The paths that changed, after `PULSE` seconds at most; none where all is quiet."""

    def close(self) -> None: ...


class Silence:
    """Nothing is ever heard: what changed is found by looking."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def wait(self) -> set[str]:
        self._stop.wait(PULSE)
        return set()

    def close(self) -> None:
        pass


class Events:
    """The system's file events below some paths. OSError where it has no means left to watch them."""

    def __init__(self, paths: Iterable[Path], stop: Stop) -> None:
        from watchfiles import watch

        beat = int(PULSE * 1000)
        self._heard = watch(
            *paths,
            watch_filter=None,
            debounce=beat,
            step=beat // 2,
            rust_timeout=beat,
            yield_on_timeout=True,
            stop_event=stop,
            force_polling=False,
            poll_delay_ms=30_000,  # for systems where it falls back to that by itself
            ignore_permission_denied=True,
        )
        self._early = self._next()  # the first wait sets up the watches: from here on nothing is missed

    def wait(self) -> set[str]:
        """OSError where the system stopped telling."""
        early, self._early = self._early, set()
        return early or self._next()

    def _next(self) -> set[str]:
        try:
            return {path for _, path in next(self._heard, set())}
        except RuntimeError as error:  # what watchfiles makes of an error of the system
            raise OSError(str(error)) from None

    def close(self) -> None:
        self._heard.close()


class Standing:
    """Paths as they stand, to notice that one came, went, or is another folder under the same name."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.marks = {path: mark for path in paths if (mark := _mark(path))}

    @property
    def paths(self) -> list[Path]:
        return list(self.marks)


def _mark(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
