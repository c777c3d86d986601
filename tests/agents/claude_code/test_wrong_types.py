"""No value of any type in any field makes reading raise or lose a line."""

import copy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.log_builder import demo_sessions
from tests.reading.reading import FORMAT, jsonl, session, stream
from unspool.agents import Detail
from unspool.agents.claude_code.parse import ClaudeParser
from unspool.agents.lines import line_entries
from unspool.figures import figures
from unspool.model import LogFile, Place
from unspool.prices import PriceTable
from unspool.reading.scan import Scan

PRICES = PriceTable.load()


def _whole(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in data.splitlines():
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


LOGS = [_whole(log.to_bytes()) for log in demo_sessions()]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "id", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every field of a value, however deep."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ((*path, key), *places(value[key], (*path, key)))]


def put(value: Any, path: tuple[Any, ...], odd: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = odd


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A piece of a good log with one to four fields replaced by anything."""
    log = draw(st.sampled_from(LOGS))
    start = draw(st.integers(0, max(0, len(log) - 1)))
    lines = copy.deepcopy(log[start : start + 12])
    for _ in range(draw(st.integers(1, 4))):
        line = draw(st.sampled_from(lines))
        found = places(line)
        if found:
            put(line, draw(st.sampled_from(found)), draw(JSON))
    return jsonl(*lines)


@given(data=damaged())
def test_a_session_with_odd_fields_is_read_and_counted_and_no_line_is_lost(data: bytes) -> None:
    read = session(data)
    assert read.lines.total == data.count(b"\n")
    figures(read, PRICES)
    msgspec.json.encode(read)


@given(data=damaged())
def test_an_overview_of_odd_fields_is_made(data: bytes) -> None:
    events = FORMAT.events(stream(data), detail=Detail.FIGURES)
    scan = Scan(FORMAT.dialect(None, events.facts))
    for event in events:
        scan.add(event)
    shown = scan.overview("s", events.facts, LogFile("x", len(data)))
    assert shown.lines == data.count(b"\n")
    msgspec.json.encode(shown)


@given(data=damaged())
def test_a_line_means_the_same_whether_it_is_decoded_at_once_or_from_plain_data(data: bytes) -> None:
    usual, plain = ClaudeParser(), ClaudeParser()
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        place = Place(number, 0, len(raw))
        (entry,) = line_entries(raw, number)
        known = plain.event(entry)
        found = usual.usual(raw, place) or usual.event(entry)
        assert found == known
    assert usual.facts == plain.facts
