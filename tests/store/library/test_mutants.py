"""Whatever happens to a log on disk, it is read without an exception and without losing a line."""

from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.mutate import mutant
from tests.log_builder import demo_sessions
from tests.reading.reading import entries, session
from tests.store.library.accounted import counted, numbered, reached
from tests.thorough import tries
from unspool.figures import figures
from unspool.prices import PriceTable
from unspool.store.library import Library

LOGS = [log.to_bytes() for log in demo_sessions()]
PRICES = PriceTable.load()


def piece(log: bytes, random: Random) -> bytes:
    """Some lines of a log that follow each other."""
    lines = log.splitlines(keepends=True)
    at = random.randrange(len(lines))
    return b"".join(lines[at : at + 25])


@given(seed=st.integers(0, 2**32), log=st.integers(0, len(LOGS) - 1))
@settings(max_examples=tries(25, 1500))
def test_a_damaged_log_is_read_and_every_line_is_accounted_for(seed: int, log: int) -> None:
    random = Random(seed)
    data = mutant(piece(LOGS[log], random), random)
    read = session(data)
    lines = read.lines
    parts = (lines.conversation, lines.side, lines.repeated, lines.superseded, lines.blank, lines.problems)
    assert sum(parts) == lines.total == counted(data)
    figures(read, PRICES)
    msgspec.json.encode(read)


@given(seed=st.integers(0, 2**32), log=st.integers(0, len(LOGS) - 1))
def test_every_line_of_a_damaged_log_can_be_reached(seed: int, log: int) -> None:
    random = Random(seed)
    data = mutant(piece(LOGS[log], random), random)
    read = session(data)
    held = {entry.place.line for entry in entries(data)}
    missing = (numbered(data) & held) - reached(read)
    assert len(missing) <= read.lines.repeated


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mutants") / "projects" / "-p" / "aaaa1111-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    return path


@given(seed=st.integers(0, 2**32), log=st.integers(0, len(LOGS) - 1))
@settings(max_examples=tries(25, 500))
def test_a_list_counts_a_damaged_log_as_the_whole_session_does(place: Path, seed: int, log: int) -> None:
    random = Random(seed)
    place.write_bytes(mutant(piece(LOGS[log], random), random))
    library = Library([place.parent.parent.parent])
    (shown,) = library.overviews()
    read = library.open(shown.id)
    assume(not read.problems)
    full = figures(read, PRICES)
    assert shown.lines == read.lines.total - read.lines.blank
    assert (shown.turns, shown.messages, shown.tool_calls) == (full.turns, full.messages, full.tool_calls)
    assert shown.usage == full.usage + full.agents_usage
    assert (shown.title, shown.kind) == (read.title, read.kind)
