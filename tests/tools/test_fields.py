"""JSON as text and text as JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.tools import fields

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"]))),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)),
    max_leaves=8,
)


@given(st.one_of(st.lists(JSON), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON)))
def test_laying_out_changes_nothing_but_spaces(value: Any) -> None:
    layout = fields.indent_json(json.dumps(value))
    assert layout is not None
    assert json.loads(layout) == value


@pytest.mark.parametrize("text", ["", "5", '"a"', "{", "[1,]", "plain", "[" * 100_000, "[\ud800]"])
def test_other_text_is_not_laid_out(text: str) -> None:
    assert fields.indent_json(text) is None


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_text_that_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fields.parse_json(text)


def test_values_that_json_cannot_say_have_a_text() -> None:
    assert fields.json_text(10**5000) == "(too deep or too large to show)"
    assert fields.json_text({"a": object}) == '{\n  "a": "<class \'object\'>"\n}'
    assert fields.json_text("as it is") == "as it is"
