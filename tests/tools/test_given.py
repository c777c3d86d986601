"""Fields taken one by one."""

from typing import Any

import pytest

from unspool.doc import Fields
from unspool.tools.fields import ToolFields


def test_what_nobody_took_is_left() -> None:
    given = ToolFields({"a": "x", "b": 2, "c": None})
    assert given.text("a") == "x"
    assert given.rest() == (Fields((("b", "2"), ("c", "null"))),)


def test_null_is_the_same_as_absent() -> None:
    given = ToolFields({"a": None})
    assert (given.text("a"), given.number("a"), given.flag("a"), given.items("a")) == ("", None, False, [])
    assert "a" not in given


@pytest.mark.parametrize("value", ["x", True, [], float("nan"), float("inf"), 10**400, -(2**63)])
def test_what_cannot_be_reckoned_with_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError):
        ToolFields({"a": value}).number("a")


@pytest.mark.parametrize("taken", [ToolFields.text, ToolFields.flag, ToolFields.items, ToolFields.within])
def test_a_value_of_another_type_is_refused(taken: Any) -> None:
    with pytest.raises(TypeError):
        taken(ToolFields({"a": 5}), "a")


def test_a_needed_text_must_be_there() -> None:
    with pytest.raises(KeyError):
        ToolFields({}).need("a")


def test_only_objects_have_fields() -> None:
    with pytest.raises(TypeError):
        ToolFields(["a"])
    assert not ToolFields.maybe("text")
