"""Syncs in processes of their own, which can be killed at any moment."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["unspool.store.sync.run", "tests.store.sync.killing"])


def often(pool: bool) -> None:
    """Have this process commit after every few kilobytes, so that a kill meets every step of a sync."""
    import unspool.store.archive.keeper as keeping
    import unspool.store.index.write as writing
    import unspool.store.sync.readers as reading
    import unspool.store.sync.stale as batching

    keeping._COMMIT_BYTES = 20_000
    writing._TEXT = 8_000
    batching._BATCH = 30_000
    reading.WORTH_A_POOL = 0 if pool else 1 << 60


def syncing(folder: Path, root: Path, pool: bool, done: str) -> None:
    """Sync, and say so."""
    from unspool.store.sync import sync

    often(pool)
    report = sync(folder, [root])
    Path(done).write_text("\n".join(report.failures))


def dying(folder: Path, root: Path, module: str, name: str, times: int) -> None:
    """Sync until a function was called so many times, and be killed there."""
    import importlib

    from unspool.store.sync import sync

    often(False)
    owner: object = importlib.import_module(module)
    *classes, method = name.split(".")
    for one in classes:
        owner = getattr(owner, one)
    real: Callable[..., object] = getattr(owner, method)
    left = [times]

    def fatal(*args: object, **named: object) -> object:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **named)

    setattr(owner, method, fatal)
    sync(folder, [root])


def started(target: Callable[..., None], *args: object) -> ForkServerProcess:
    process = _CONTEXT.Process(target=target, args=args)
    process.start()
    return process


def killed(process: ForkServerProcess, after: float) -> None:
    """Kill a process after some seconds, unless it ended by itself; its workers end as well."""
    time.sleep(after)
    with suppress(ProcessLookupError):
        os.kill(process.pid or 0, signal.SIGKILL)
    process.join(120)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
