"""The sync that goes on behind the app, in a process of its own, and how far it is.

A process, because reading logs would take the interpreter from the requests, and because a sync forks, which a
process with threads must not. It syncs once, then whenever logs have changed, and never outlives the app.
"""

import threading
import time
from multiprocessing import Pipe, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from unspool.app.background_work import Job, Message, keep
from unspool.prices import PriceTable
from unspool.sync.report import Report

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_PATIENCE = 1.2
"""Seconds that the process may take to end by itself."""
_AGAIN = 5.0
"""Seconds before it is started anew after it died; twice as long after each further time."""
_LONGEST = 600.0


class State(msgspec.Struct, frozen=True):
    """How the sync stands."""

    state: Literal["idle", "syncing", "done", "failed"] = "idle"
    """Idle: nothing was done yet, or the app reads only."""
    done: int = 0
    """Bytes of the running sync that are kept."""
    total: int = 0
    """Bytes that it has to keep, as far as is known."""
    failure: str = ""
    """Why the last sync failed, or what of it."""
    report: Report | None = None
    """What the last sync did."""
    at: float | None = None
    """When that was, in seconds of the epoch."""
    round: int = 0
    """How many syncs found something since the start: another number, and there is something new to show."""


class Background:
    """Starts and ends the process, and knows how it stands."""

    def __init__(self, folder: Path, sources: tuple[Path, ...], key: str | None, prices: PriceTable) -> None:
        self._job = Job(folder, sources, key, prices)
        self._state = State()
        self._changed = threading.Condition()
        self._process: SpawnProcess | None = None
        self.stopping = threading.Event()
        """Set when the app ends: whoever waits for long looks here."""

    @property
    def state(self) -> State:
        return self._state

    def wait(self, known: State, seconds: float) -> State:
        """The state as soon as it is another than the one known, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._state is not known or self.stopping.is_set(), seconds)
        return self._state

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._follow, name="background", daemon=True).start()

    def ask(self) -> None:
        """Ask it to end, without waiting for that."""
        self.stopping.set()
        process = self._process
        if process is not None and process.pid is not None and process.is_alive():
            process.terminate()

    def stop(self, patience: float = _PATIENCE) -> None:
        """End it: politely, or after so many seconds not. What is kept is safe either way."""
        self.ask()
        with self._changed:
            self._changed.notify_all()
        process = self._process
        if process is not None and process.pid is not None:
            process.join(patience)
            if process.exitcode is None:
                process.kill()
                process.join(_PATIENCE)

    def _follow(self) -> None:
        wait = _AGAIN
        while not self.stopping.is_set():
            began, why = time.monotonic(), "The sync's process ended."
            try:
                self._once()
            except OSError as problem:  # no process is to be had
                why = f"The sync cannot be started: {problem.strerror or problem}."
            if self.stopping.is_set():
                return
            self._become(msgspec.structs.replace(self._state, state="failed", failure=why))
            wait = _AGAIN if time.monotonic() - began > _LONGEST else min(wait * 2, _LONGEST)
            self.stopping.wait(wait)

    def _once(self) -> None:
        """Start the process and hear it to its end."""
        context = get_context("spawn")
        hearing, telling = Pipe(duplex=False)
        with hearing:
            with telling:
                self._process = context.Process(target=keep, args=(self._job, telling), name="unspool sync")
                self._process.start()
            if self.stopping.is_set():
                self._process.terminate()
            self._hear(hearing)
            self._process.join()

    def _hear(self, pipe: "Connection[None, Message]") -> None:
        while True:
            try:
                told = pipe.recv()
            except (EOFError, OSError):
                return
            self._become(_after(self._state, told))

    def _become(self, state: State) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()


def _after(before: State, told: Message) -> State:
    """The state after some news."""
    replace = msgspec.structs.replace
    match told:
        case (int(done), int(total)):
            return replace(before, state="syncing", done=done, total=total, failure="")
        case Report() as report:
            seen = before.round + bool(report.changed)
            failure = "\n".join(report.failures)
            return State("done", before.done, before.total, failure, report, time.time(), seen)
        case str(why):
            return replace(before, state="failed", failure=why, at=time.time())
