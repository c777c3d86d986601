"""An index of very many sessions, written row by row, for what must stay quick however many there are."""

import random
from pathlib import Path

import msgspec

from tests.log_builder.builder import LogBuilder
from tests.store.index.filled import Filled
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.library import Library

NOW = 1_780_000_000.0
_KINDS = ("interactive",) * 7 + ("planning", "implementation", "headless", "background", "ghost", "empty")
_WORDS = ("stop", "losing", "orders", "when", "worker", "restarts", "move", "import", "find", "drift", "pricing")


def many(folder: Path, sessions: int, requests: int = 20) -> Path:
    """The folder of an archive whose index holds so many sessions, an hour apart, of fifty projects."""
    with ArchiveDatabase.open(folder), Index.open(folder) as index, index.db:
        filled, overview = Filled(index.db), _overview(folder)
        chance = random.Random(5)
        terms = [filled.put("terms", model=f"vendor-model-{one}", speed="", tier="", geo="") for one in (4, 5)]
        for number in range(sessions):
            ended = NOW - number * 3600
            session = filled.session(
                f"{number:08x}-0000-4000-8000-000000000000",
                project=f"/home/someone/work/project-{number % 50}",
                title=" ".join(chance.choices(_WORDS, k=7)),
                kind=_KINDS[number % len(_KINDS)],
                branch=("main", "fix/orders")[number % 2],
                started=ended - 1800,
                ended=ended,
                turns=number % 40,
                calls=number % 300,
                errors=number % 9,
                cost=chance.randrange(10**13),
                overview=overview,
            )
            _requests(filled, session, terms[number % 7 == 0], requests, ended)
    return folder


def _requests(filled: Filled, session: int, terms: int, number: int, ended: float) -> None:
    for at in range(number):
        place = session * 1000 + at
        filled.db.execute(
            "INSERT INTO request VALUES(?, ?, ?, ?, ?, 10, 200, 3000, 40, 0, 0, 0, 0, 1, NULL, 1, 5000000000)",
            (session, place, place, ended - at, terms),
        )


def _overview(folder: Path) -> bytes:
    """What the index keeps of a session, of a usual size."""
    source = folder.parent / "source"
    log = LogBuilder().prompt("Stop losing orders")
    log.assistant(log.text("They are lost when the worker restarts.")).write(source)
    found = next(iter(Library([source]).overviews()))
    return msgspec.msgpack.encode(msgspec.structs.replace(found, versions=("2.1.0",) * 20))
