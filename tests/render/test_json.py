"""JSON is the whole session, by its schema, and reads back as the same session."""

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.render.build import call, everything, place, session, turn
from unspool.errors import Unreadable
from unspool.model import Notice, Problem, Session, SideLine, Text, Unknown, Usage
from unspool.render.json import SCHEMA, JsonWriter, load, session_document, session_schema
from unspool.render.view import View

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def written(one: Session, **options: Any) -> bytes:
    return b"".join(JsonWriter(**options).chunks(one, View()))


def test_what_is_written_fits_the_published_schema() -> None:
    """The schema is valid, and the session that has everything is valid by it."""
    jsonschema.Draft202012Validator.check_schema(session_schema())
    jsonschema.validate(msgspec.json.decode(written(everything())), session_schema(), jsonschema.Draft202012Validator)


def test_the_schema_refuses_what_is_something_else() -> None:
    """A validator that accepts anything would prove nothing."""
    other = msgspec.json.decode(written(everything()))
    other["session"]["turns"][1]["blocks"][0]["type"] = "hologram"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(other, session_schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("indent", [0, 2])
def test_the_session_that_has_everything_reads_back(indent: int) -> None:
    """Every block, branch, subagent, problem and side line survives."""
    assert load(written(everything(), indent=indent)) == everything()


@given(JSON, JSON.filter(lambda value: value is not None), st.text(max_size=20), st.binary(max_size=20))
def test_any_data_reads_back(data: Any, given_data: Any, text: str, raw: bytes) -> None:
    """Whatever JSON a log held, whatever bytes could not be read, the session read back is equal."""
    one = session(
        turn(
            1, text, Unknown(place(), text, data), call("T", given_data, text), Notice(place(), "x", text, {"f": data})
        ),
        turn(3, None, Text(place(), text)),
        side=(SideLine(place(), text, {"d": data}),),
        problems=(Problem(place(), text, raw),),
    )
    assert load(written(one)) == one


def test_figures_stand_beside_the_session() -> None:
    """Counts and tokens need no arithmetic of the reader."""
    found = msgspec.json.decode(written(everything()))
    assert found["schema"] == SCHEMA == "unspool.session/1"
    assert found["title"] == everything().title
    counted = session_document(everything()).figures
    assert (counted.turns, counted.abandoned_turns) == (8, 2)
    assert counted.agents == 3
    assert counted.usage + counted.agents_usage == Usage(50, 4_500, 9_500_000, 20_000)
    assert found["figures"]["tool_errors"] == counted.tool_errors > 0


def test_the_view_hides_nothing_from_data() -> None:
    """Data is for computing with: it is whole whatever a reader wants to see."""
    hidden = View(thinking=False, tools=False, turns=((1, 1),))
    assert b"".join(JsonWriter().chunks(everything(), hidden)) == written(everything())


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema":"other/9"}', b"\xff", b"[" * 5_000])
def test_what_is_no_session_is_unreadable(data: bytes) -> None:
    """The error says what was expected."""
    with pytest.raises(Unreadable, match=SCHEMA):
        load(data)


def test_data_nested_too_deeply_is_a_failed_export_with_a_sentence() -> None:
    """JSON that no JSON writer can write is said to be so, with the session's name."""
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(Unreadable, match="s1"):
        written(session(turn(1, "go", Unknown(place(), "x", deep))))
