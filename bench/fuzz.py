"""Thousands of damaged logs, each listed and opened: none may raise, every line is accounted for, both say the same."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench import corpus
from bench.measure import run
from bench.mutate import mutant
from bench.table import Row

if TYPE_CHECKING:
    from unspool.model import Session
    from unspool.store.library import Library

LARGEST = 40_000
"""Bytes of log to damage at a time: small logs are quick, and hold every kind of line together."""


def row(source: Path, examples: int, seed: int) -> Row:
    """How many of the damaged logs were read whole."""
    command = [sys.executable, "-m", "bench.fuzz", str(source), str(examples), str(seed)]
    got = run(command, {"PYTHONPATH": str(corpus.ROOT)})
    what = f"{examples} mutated logs (seed {seed})"
    if got.failed:
        return Row(what, got.failed, aim="none raises or loses a line", met=False)
    bad = json.loads(got.output)
    ours = f"{len(bad)} bad in {got.seconds:.0f} s" + (f", first: {bad[0]}" if bad else "")
    return Row(what, ours, aim="none raises or loses a line", met=not bad)


def windows(source: Path) -> list[bytes]:
    """Pieces of the logs of a source, of whole lines, none much larger than LARGEST."""
    found: list[bytes] = []
    for path in sorted(source.rglob("*.jsonl")):
        piece: list[bytes] = []
        for line in path.read_bytes().splitlines(keepends=True):
            if piece and sum(map(len, piece)) + len(line) > LARGEST:
                found.append(b"".join(piece))
                piece = []
            piece.append(line)
        found.append(b"".join(piece))
    return found


def failures(source: Path, examples: int, seed: int) -> Iterator[str]:
    """What went wrong, a line each: the number of the example and the complaint."""
    from unspool.store.library import Library

    pieces = windows(source)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "projects" / "-home-ada-loom" / f"{corpus.SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        for number in range(examples):
            random = Random(f"{seed}/{number}")
            data = mutant(random.choice(pieces), random)
            path.write_bytes(data)
            complaint = _complaint(Library(sources=[Path(scratch)]), data)
            if complaint:
                yield f"{number}: {complaint}"


def _complaint(library: "Library", data: bytes) -> str:
    """Why this log is not read right; empty where it is. Any exception at all is the finding looked for here."""
    try:
        sessions = [library.open(log) for log in library.logs()]
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    lines = sum(session.lines.total for session in sessions)
    expected = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return f"{lines} lines of {expected}" if lines != expected else "; ".join(_differences(library, sessions))


def _differences(library: "Library", sessions: "list[Session]") -> "Iterator[str]":
    """Figures that a list tells otherwise than the whole session; a damaged line may be half of what it was in one."""
    from unspool.figures import figures

    listed = {one.id: one for one in library.overviews()}
    for session in sessions:
        one, full = listed[session.id], figures(session, library.prices)
        told = {
            "turns": (one.turns, full.turns), "messages": (one.messages, full.messages),
            "tool calls": (one.tool_calls, full.tool_calls), "failed": (one.tool_errors, full.tool_errors),
            "usage": (one.usage, full.usage + full.agents_usage), "cost": (one.cost, full.cost.amount),
            "title": (one.title, session.title), "kind": (one.kind, session.kind),
        }  # fmt: skip
        yield from (f"{name}: list {here}, whole {there}" for name, (here, there) in told.items() if here != there)


if __name__ == "__main__":
    print(json.dumps(list(failures(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))
