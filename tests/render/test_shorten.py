"""Long outputs are cut, and say by how much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.doc import Code, Diff, Fields, Fold, Hunk, Node, Prose, Raw, Span, Table, Terminal
from unspool.render.shorten import CHARACTERS, LINES, TAIL_CHARACTERS, TAIL_LINES, shorten


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


@pytest.mark.parametrize("make", [Prose, Code, Raw])
def test_a_long_text_keeps_its_beginning(make: type[Prose] | type[Code] | type[Raw]) -> None:
    """The first lines stay, and a note tells how many lines and characters are gone."""
    text = numbered(LINES + 70)
    head, note = shorten(make(text))
    assert head == make(numbered(LINES))
    left = len(text) - len(numbered(LINES))
    assert note == Prose(f"*… 70 more lines ({left:,} more characters) left out*")


@pytest.mark.parametrize(
    "node",
    [Prose(numbered(LINES)), Code("x" * CHARACTERS), Terminal((Span(numbered(LINES + TAIL_LINES)),))],
)
def test_what_fits_is_left_alone(node: Node) -> None:
    """At the limit nothing is cut."""
    assert shorten(node) == (node,)


def test_one_endless_line_is_cut_by_characters() -> None:
    """A text without line breaks is cut too."""
    head, note = shorten(Code("x" * (CHARACTERS + 5)))
    assert head == Code("x" * CHARACTERS)
    assert note == Prose("*… 5 more characters left out*")


def test_terminal_output_keeps_its_end_and_its_styles() -> None:
    """Errors stand last: the end stays, and the gap says what is missing."""
    (short,) = shorten(Terminal((Span(numbered(200), fg="red"), Span("the error\n", bold=True)), "make"))
    assert isinstance(short, Terminal)
    assert short.text.startswith("line 1\n")
    assert "… 183 more lines" in short.text
    assert short.spans[-1] == Span("the error\n", bold=True)
    assert short.spans[0].fg == "red"
    assert short.command == "make"


def test_folds_are_cut_within() -> None:
    """A fold stays and its long children are cut, however deep."""
    (short,) = shorten(Fold("tool", "a", children=(Fold("tool", "b", children=(Code(numbered(99)),)),)))
    assert isinstance(short, Fold)
    inner = short.children[0]
    assert isinstance(inner, Fold)
    assert [type(child) for child in inner.children] == [Code, Prose]


def test_diffs_tables_and_fields_are_cut() -> None:
    """Each shape that can be long has its own measure."""
    diff = Diff("f", (Hunk(1, 1, ("+x",) * 50), Hunk(90, 90, ("-y",) * 50)), 50, 50)
    assert shorten(diff)[1] == Prose("*… 76 more lines left out*")
    assert shorten(Table(("n",), (("1",),) * 60))[1] == Prose("*… 10 more rows left out*")
    (fields,) = shorten(Fields((("name", "v" * 1_500),)))
    assert isinstance(fields, Fields)
    assert fields.items[0][1].endswith("… (500 more characters left out)")


@given(st.text("ab\n", max_size=200).map(lambda text: text * 60))
def test_no_terminal_output_grows(text: str) -> None:
    """What is shown is bounded, begins as the output does and ends as it does."""
    (short,) = shorten(Terminal((Span(text),)))
    assert isinstance(short, Terminal)
    assert len(short.text) <= CHARACTERS + TAIL_CHARACTERS + 200
    assert short.text[:1] == text[:1]
    assert short.text[-1:] == text[-1:]
