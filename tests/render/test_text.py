"""Text for people: readable without colours, and unable to drive a terminal with them."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.render.shapes import NODE, SHAPES
from unspool.doc import Check, Checklist, Code, Diff, Fields, Fold, Heading, Hunk, Node, Prose, Span, Table, Terminal
from unspool.render.text import render_text, wrap_line

OURS = re.compile(r"\x1b\[[0-9;]*m")
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(*document: Node, width: int = 100) -> str:
    return "".join(render_text(document, width))


def colour(*document: Node) -> str:
    return "".join(render_text(document, colour=True))


def test_what_a_row_says_whole_is_not_said_again_below_it() -> None:
    """A short command or thought stands once; where the row is cut, it stands whole below."""
    row = Fold("tool", "Run ls -la", "2 lines", children=(Code("ls -la", "bash"), Terminal((Span("a.py"),))))
    assert plain(row) == "▸ Run ls -la   2 lines\n  a.py\n\n"
    long = "ls " + "a" * 40
    assert plain(Fold("tool", f"Run {long}", children=(Code(long),)), width=30).count(long) == 1
    assert "Run lsof" in plain(Fold("tool", "Run lsof", children=(Code("of"),)))
    assert plain(Fold("tool", "Run lsof", children=(Code("of"),))).count("of") == 2


def test_every_shape_is_tried() -> None:
    """The properties below hold for every node there is."""
    assert set(get_args(Node)) == SHAPES


@given(st.lists(NODE, max_size=3))
def test_no_log_can_drive_a_terminal(document: list[Node]) -> None:
    """Plain text has no control character; coloured text has only the codes for styles, each of them ours."""
    assert not ACTIVE.search(plain(*document))
    assert not ACTIVE.search(OURS.sub("", colour(*document)))


@given(st.lists(NODE, max_size=3))
def test_colours_change_no_line(document: list[Node]) -> None:
    """With styles and the marks of emphasis taken away, coloured text is plain text."""
    marks = str.maketrans("", "", "*`")
    assert OURS.sub("", colour(*document)).translate(marks) == plain(*document).translate(marks)


def test_untrusted_styles_are_never_copied() -> None:
    """An escape sequence inside a title is gone, whatever it is."""
    assert colour(Heading("session", 1, "a\x1b[31mred\x1b[2J")).startswith("\x1b[1mared\x1b[0m\n")


def test_folds_show_outcome_and_indented_children() -> None:
    """Children stand below their row, nested ones deeper."""
    inner = Fold("tool", "inner", "1 line", children=(Code("x = 1\n"),))
    assert plain(Fold("tool", "outer", "done", children=(Prose("words"), inner))) == (
        "▸ outer   done\n  words\n\n  ▸ inner   1 line\n    x = 1\n\n"
    )


def test_checklists_have_boxes() -> None:
    """Open, active, done and dropped are told apart without colours."""
    items = (Check("a", "open"), Check("b", "active", "now"), Check("c", "done"), Check("d", "dropped"))
    assert plain(Checklist(items, "Todos")) == "Todos:\n☐ a\n◐ b   now\n☑ c\n☒ d\n\n"


def test_diffs_have_signs_and_colours() -> None:
    """Added lines are green, removed ones red, in both modes with their sign."""
    diff = Diff("a.py", (Hunk(3, 3, (" same", "-old", "+new")),), 1, 1)
    assert plain(diff) == "a.py · +1 -1\n@@ -3 +3 @@\n same\n-old\n+new\n\n"
    assert "\x1b[32m+new\x1b[0m" in colour(diff)
    assert "\x1b[31m-old\x1b[0m" in colour(diff)


def test_terminals_show_command_output_and_failure() -> None:
    """Styles of the output are kept in colour; a failed command says its code."""
    node = Terminal((Span("one "), Span("two\nthree\n", fg="red", bold=True)), "make all", 2)
    assert plain(node) == "$ make all\none two\nthree\nexit code 2\n\n"
    assert "\x1b[1;31mtwo\x1b[0m\n\x1b[1;31mthree\x1b[0m" in colour(node)


def test_code_can_have_line_numbers() -> None:
    """Numbers start where the code does."""
    assert plain(Code("a\nb\n", start=9)) == " 9  a\n10  b\n\n"


def test_tables_are_aligned_or_become_records() -> None:
    """A table that is too wide is told row by row, and loses nothing."""
    table = Table(("name", "size"), (("a", "1"), ("long name", "22")))
    assert plain(table) == "name       size\na          1\nlong name  22\n\n"
    wide = plain(Table(("name", "text"), (("a", "word " * 40),)), width=40)
    assert wide.startswith("name  a\ntext  word word")
    assert wide.count("word") == 40


def test_fields_are_aligned_and_long_ones_below() -> None:
    """A value of several lines stands under its name."""
    assert plain(Fields((("a", "1"), ("bcd", "2"), ("e", "x\ny")))) == "a    1\nbcd  2\ne\n  x\n  y\n\n"


def test_markdown_is_readable_in_colour() -> None:
    """Headings and bold are bold, code has a colour, a fence is not wrapped."""
    text = colour(Prose("# Title\n\nsome **bold** and `code`\n\n```\nx = 1\n```"))
    assert "\x1b[1m# Title\x1b[0m" in text
    assert "some \x1b[1mbold\x1b[0m and \x1b[36mcode\x1b[0m" in text
    assert "\x1b[36mx = 1\x1b[0m" in text


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("one two three four", ["one two", "three four"]),
        ("- one two three", ["- one two", "  three"]),
        ("> one two three", ["> one two", "> three"]),
        ("x http://an.address/that/is/long y", ["x", "http://an.address/that/is/long", "y"]),
        ("漢字漢字漢字漢字", ["漢字漢字漢", "字漢字"]),
        ("short", ["short"]),
        ("", [""]),
    ],
)
def test_lines_are_wrapped_under_their_mark(line: str, pieces: list[str]) -> None:
    """Lists and quotes stay recognisable, words stay whole, scripts without spaces break anywhere."""
    assert list(wrap_line(line, 10)) == pieces


@given(st.text("ab c漢-> ", max_size=80), st.integers(8, 40))
def test_wrapping_loses_no_word(line: str, width: int) -> None:
    """Apart from spaces and repeated marks, the pieces are the line."""
    pieces = list(wrap_line(line, width))
    strip = str.maketrans("", "", " >-")
    assert "".join(pieces).translate(strip) == line.translate(strip)


def test_the_first_line_comes_before_the_last_node_is_made() -> None:
    """A pager can start at once."""
    made: list[str] = []

    def slow() -> object:
        for text in ("one", "two"):
            made.append(text)
            yield Prose(text)

    pieces = render_text(slow())  # type: ignore[arg-type]
    assert next(pieces) == "one\n\n"
    assert made == ["one"]
