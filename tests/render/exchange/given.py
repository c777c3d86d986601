"""Sessions that exchange formats are tried on, and what comes back of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from bench.mutate import mutant
from tests.log_builder import demo_sessions
from tests.thorough import THOROUGH
from unspool.agents import FoundLog
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.render.view import View
from unspool.render.writers import find_writer, write
from unspool.store.library import Library

PRICES = PriceTable.load()
WHOLE = View(full=True, agents=True, prices=PRICES)
SAMPLES = ("claude", "codex", "agents/gemini", "agents/pi", "agents/opencode", "agents/cursor")
"""Folders of real logs."""


def exported(session: Session, name: str, folder: Path, view: View = WHOLE) -> Path:
    """The session as a file of that format."""
    writer = find_writer(name)
    path = folder / f"{session.id}{writer.suffixes[0]}"
    write(writer, session, path, view)
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def demo(folder: Path) -> list[Session]:
    """Every session of the demo, and of other agents."""
    from unspool.demo import write_demo

    library = Library([write_demo(folder, others=True)])
    return [library.open(log) for log in library.logs()]


def real_logs(shared: Path, most: int = 6) -> Iterator[tuple[Library, FoundLog]]:
    """Some real logs of each kind; all of them where tests try harder."""
    for sample in SAMPLES:
        library = Library([shared / "corpora" / sample])
        yield from ((library, log) for log in library.logs()[: None if THOROUGH else most])


def damaged(folder: Path, count: int) -> Iterator[Session]:
    """Demo sessions whose logs are damaged, always the same."""
    logs = demo_sessions()
    for seed in range(count):
        place = folder / str(seed)
        path = logs[seed % len(logs)].write(place)
        path.write_bytes(mutant(path.read_bytes(), Random(seed)))
        yield Library([place]).open(path)
