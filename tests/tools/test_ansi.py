"""Terminal output: styles read, everything else made inert."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.hostile import ESCAPES as HOSTILE
from tests.thorough import tries
from tests.waiting import ending
from unspool.doc import Span
from unspool.tools.ansi import strip_ansi, styled_spans

ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PIECES = ["\x1b", "\x1b[", "\x9b", "\x1b]", "\x9d", "\x1bP", "\x90", "\x1b\\", "\x9c", "\x07", "\r", "\n", "\b"]
WORDS = ["m", ";", ":", "0", "31", "38;5;", "38:2:", "A", "\u202e"]
ESCAPES = st.lists(st.one_of(st.text(max_size=8), st.sampled_from([*PIECES, *WORDS]))).map("".join)


@given(ESCAPES)
def test_no_active_character_is_left(text: str) -> None:
    assert not ACTIVE.search(strip_ansi(text))


@given(ESCAPES)
def test_the_plain_text_is_the_text_of_the_spans(text: str) -> None:
    assert strip_ansi(text) == "".join(span.text for span in styled_spans(text))


@given(ESCAPES)
def test_neighbouring_spans_differ_in_style_and_none_is_empty(text: str) -> None:
    found = styled_spans(text)
    styles = [(s.fg, s.bg, s.bold, s.dim, s.italic, s.underline, s.strike) for s in found]
    assert all(span.text for span in found)
    assert all(a != b for a, b in pairwise(styles))


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs"])))
def test_text_without_escapes_is_one_span_as_it_is(text: str) -> None:
    assert styled_spans(text) == ((Span(text),) if text else ())


@pytest.mark.parametrize(
    ("codes", "span"),
    [
        ("31", Span("x", fg="red")),
        ("44", Span("x", bg="blue")),
        ("91", Span("x", fg="bright_red")),
        ("107", Span("x", bg="bright_white")),
        ("1;3;4;9", Span("x", bold=True, italic=True, underline=True, strike=True)),
        ("2", Span("x", dim=True)),
        ("38;5;1", Span("x", fg="red")),
        ("38;5;9", Span("x", fg="bright_red")),
        ("38;5;196", Span("x", fg="#ff0000")),
        ("48;5;244", Span("x", bg="#808080")),
        ("38;2;1;2;255", Span("x", fg="#0102ff")),
        ("38:2:1:2:255", Span("x", fg="#0102ff")),
        ("38:2::1:2:255", Span("x", fg="#0102ff")),
        ("48:5:21", Span("x", bg="#0000ff")),
        ("4:3", Span("x", underline=True)),
        ("4:0", Span("x")),
        ("58;5;1;31", Span("x", fg="red")),
        ("58;2;1;2;3", Span("x")),
        ("7;31;42", Span("x", fg="green", bg="red")),
        ("8", Span("x")),
        ("38;5;999", Span("x")),
        ("38;2;1", Span("x")),
        ("38", Span("x")),
        ("99;110;38;3;1", Span("x", bold=True)),
        ("99999999999999999999;1", Span("x", bold=True)),
    ],
)
def test_codes_become_styles(codes: str, span: Span) -> None:
    assert styled_spans(f"\x1b[{codes}mx") == (span,)


@pytest.mark.parametrize("codes", ["", "0", "22;39", "22;49;39"])
def test_styles_end_where_they_are_reset(codes: str) -> None:
    assert styled_spans(f"\x1b[1;31ma\x1b[{codes}mb") == (Span("a", fg="red", bold=True), Span("b"))


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("a\x1b[2Jb\x1b[Kc\x1b[?25ld", "abcd"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\", "here"),
        ("\x1bP1;2|data\x1b\\after", "after"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1b(Bx\x1b7y\x1bc", "xy"),
        ("\x1b]never ended", "never ended"),
        ("torn \x1b[38;5", "torn "),
        ("bell\x07 nul\x00 del\x7f", "bell␇ nul␀ del␡"),
        ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
        ("\ud800", "\ufffd"),
        ("tab\tkept\nline", "tab\tkept\nline"),
        ("\x1b\x1b[K[2Jx", "[2Jx"),
    ],
)
def test_other_escapes_and_controls_are_inert(raw: str, seen: str) -> None:
    assert strip_ansi(raw) == seen


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("100%\r", "100%"),
        ("100%\r\r\nnext", "100%\nnext"),
        ("abc\b\bX", "aX"),
        ("\b\bstart", "start"),
        ("a\n\bb", "a\nb"),
        ("N\bNA\bA", "NA"),
    ],
)
def test_carriage_returns_overwrite_and_backspaces_take_back(raw: str, seen: str) -> None:
    assert strip_ansi(raw) == seen


def test_a_style_set_in_overwritten_text_still_holds() -> None:
    assert styled_spans("\x1b[31m10%\r\x1b[1m20%\r\x1b[0m\nx") == (Span("20%", fg="red", bold=True), Span("\nx"))


@pytest.mark.parametrize("hostile", HOSTILE, ids=repr)
def test_many_hostile_escapes_are_read_to_the_end(hostile: str) -> None:
    with ending():
        styled_spans(hostile * (tries(250_000, 1_000_000) // len(hostile)))


def test_many_begun_sequences_are_read_to_the_end() -> None:
    with ending():
        assert styled_spans("\x1b[" * tries(500_000, 2_500_000)) == ()


def test_one_endless_sequence_is_read_once() -> None:
    with ending():
        assert styled_spans("\x1b[" + "1;" * 200_000 + "3mx") == (Span("x", bold=True, italic=True),)
        assert strip_ansi("\x1b[" + "0" * tries(1_000_000, 5_000_000)) == ""
