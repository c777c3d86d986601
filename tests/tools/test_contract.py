"""What every renderer promises, whatever it is given."""

import re
import unicodedata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stack import small_stack
from tests.thorough import tries
from tests.tools.calls import called, image, text_of
from tests.tools.examples import EXAMPLES, keys_of, mutated
from unspool import tools
from unspool.doc import Diff, Fold
from unspool.model import Option, Plan, Question, Questionnaire, Todo, Todos, ToolCall
from unspool.tools import ansi, other
from unspool.tools.nodes import ToolRenderer

NAMES = [name.replace("*", "server__tool") for tool in tools.TOOLS for name in tool.NAMES]
SOURCE = Path(tools.__file__).parent
STATES = ["ok", "error", "rejected", "denied", "interrupted", "cancelled", "running", "unanswered", "orphan"]

WORDS = st.one_of(
    st.text(max_size=20), st.sampled_from(["completed", "text", "a\nb\n", "\x1b[31mred", "https://a.b/c"])
)
KEYS = sorted({key for given, _, detail in EXAMPLES.values() for key in keys_of((given, detail))})
"""The fields that renderers look for, as the examples name them."""
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=12,
)
MEANINGS = st.sampled_from(
    [
        None,
        Plan("Title", "# Title", "approved"),
        Todos((Todo("a", "completed"), Todo("b", "odd"))),
        Questionnaire((Question("Why?", options=(Option("so"),)),), "away"),
    ]
)


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    """Calls with anything at all in every place that a log can fill."""
    return called(
        "Unheard",
        draw(JSON),
        draw(st.one_of(st.none(), WORDS)),
        detail=draw(JSON),
        error=draw(st.booleans()),
        parts=tuple(draw(st.lists(JSON, max_size=2))),
        state=draw(st.sampled_from(STATES)),
        meaning=draw(MEANINGS),
    )


def is_one_plain_line(text: str) -> bool:
    strange = any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)
    return len(text) <= 120 and text == text.strip() and not strange


@pytest.mark.parametrize("tool", [*tools.TOOLS, other], ids=lambda tool: tool.__name__.rpartition(".")[2])
@settings(max_examples=tries(25, 250))
@given(call=calls())
def test_any_call_becomes_a_fold_with_a_plain_summary(tool: ToolRenderer, call: ToolCall) -> None:
    for name in (*tool.NAMES, "Unheard"):
        fold = tools.describe(msgspec.structs.replace(call, name=name))
        assert isinstance(fold, Fold)
        assert fold.summary
        assert is_one_plain_line(fold.summary)
        assert is_one_plain_line(fold.outcome)
        assert fold.anchor == ""


@given(call=calls())
def test_changes_are_diffs_of_calls_that_went_well(call: ToolCall) -> None:
    for name in NAMES:
        found = tools.changes(msgspec.structs.replace(call, name=name))
        assert all(isinstance(change, Diff) for change in found)
        assert not found or call.state == "ok"


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_value_of_another_type_anywhere_never_raises(name: str) -> None:
    asked, answer, detail = EXAMPLES[name]
    for changed in mutated((asked, detail)):
        given, twin = changed
        assert is_one_plain_line(tools.describe(called(name, given, answer, detail=twin)).summary)
        tools.changes(called(name, given, answer, detail=twin))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_well_formed_call_is_shown_by_its_own_renderer(name: str) -> None:
    asked, answer, detail = EXAMPLES[name]
    call = called(name, asked, answer, detail=detail)
    assert tools.renderer(call).describe(call) != other.describe(call)


def test_a_call_nested_beyond_all_bounds_is_shown() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for name in (*NAMES, "Unheard"):
        call = called(name, {"query": "q", "deep": deep}, "", detail={"results": [deep]}, parts=(deep,))
        with small_stack():
            fold = tools.describe(call)
        assert fold.summary


@given(call=calls())
def test_every_word_of_an_unknown_tools_answer_is_shown(call: ToolCall) -> None:
    shown = re.sub(r"\s", "", text_of(tools.describe(call)))
    if call.result is not None and call.result.text.strip():
        assert re.sub(r"\s", "", ansi.strip_ansi(call.result.text)) in shown


@given(JSON)
def test_every_field_given_to_an_unknown_tool_is_shown(value: Any) -> None:
    shown = text_of(tools.describe(called("Unheard", value, None)))
    for key, part in value.items() if isinstance(value, dict) else ():
        assert key in shown
        assert not isinstance(part, str) or part in shown


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_nobody_has_met_is_shown_with_the_others(name: str) -> None:
    given = {key: value for asked, _, _ in EXAMPLES.values() for key, value in asked.items()}
    own, _, _ = EXAMPLES.get(name, ({}, "", None))
    given |= {**own, "brand_new": "seldom seen"}
    call = called(name, given, "done")
    assert tools.renderer(call).describe(call) is not None
    assert "seldom seen" in text_of(tools.describe(call))


@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_unknown_pieces_of_an_answer_are_shown(name: str) -> None:
    shown = text_of(
        tools.describe(called(name, {}, "", images=(image("cGlj"),), parts=({"type": "odd", "is": "here"},)))
    )
    assert "cGlj" in shown
    assert "here" in shown


@pytest.mark.parametrize("name", NAMES)
def test_an_error_is_bad_and_its_text_is_shown(name: str) -> None:
    fold = tools.describe(called(name, {}, "<tool_use_error>No such thing</tool_use_error>", error=True))
    assert (fold.tone, fold.outcome) == ("bad", "error")
    assert "No such thing" in text_of(fold)


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.__name__)
def test_a_renderer_names_its_tools_and_no_other_file_does(tool: ToolRenderer) -> None:
    others = [path.read_text() for path in SOURCE.glob("*.py") if path != Path(str(getattr(tool, "__file__", "")))]
    assert tool.NAMES
    for name in tool.NAMES:
        assert not any(f'"{name}"' in text for text in others)


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.__name__)
def test_a_renderer_has_an_example(tool: ToolRenderer) -> None:
    """Which brings the names of its fields to all tests here."""
    assert any(tools.renderer(called(name, {}, "")) is tool for name in EXAMPLES)


def test_no_two_renderers_name_the_same_tool() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_every_renderer_file_is_listed() -> None:
    listed = {Path(str(getattr(tool, "__file__", ""))) for tool in (*tools.TOOLS, other)}
    assert listed == {path for path in SOURCE.glob("*.py") if "\nNAMES: " in path.read_text()}
