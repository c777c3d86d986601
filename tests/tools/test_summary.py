"""One-line words: folded, cut, counted."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import human
from unspool.tools import summary
from unspool.tools.ansi import strip_ansi


@given(st.text())
def test_a_line_is_one_short_line_without_control_characters(text: str) -> None:
    line = summary.short_line(text)
    assert len(line) <= summary.LIMIT
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in line)


@given(st.text(alphabet="ab ", max_size=100))
def test_a_short_line_keeps_every_word(text: str) -> None:
    assert summary.short_line(text).split() == text.split()


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert summary.short_line("x" * 500) == "x" * 119 + "…"
    assert summary.short_line("a\n\tb   c") == "a b c"


def test_a_text_whose_end_was_never_looked_at_says_so() -> None:
    assert summary.short_line("a" + " " * 5000 + "b") == "a…"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (0.85, "850 ms"),
        (4.2, "4.2 s"),
        (59.96, "1 m"),
        (200, "3 m 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 m"),
    ],
)
def test_a_duration_is_said_in_the_units_that_fit(seconds: float, said: str) -> None:
    assert human.duration(seconds) == said


@pytest.mark.parametrize(("number", "said"), [(0, "0 lines"), (1, "1 line"), (1204, "1,204 lines")])
def test_a_count_agrees_with_its_noun(number: int, said: str) -> None:
    assert human.count(number, "line") == said


@pytest.mark.parametrize(("number", "said"), [(512, "512 B"), (96_800, "97 kB"), (1_250_000, "1.2 MB")])
def test_a_size_is_said_in_the_unit_that_fits(number: int, said: str) -> None:
    assert human.size(number) == said


@pytest.mark.parametrize(("text", "number"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1)])
def test_lines_are_counted_with_or_without_a_last_newline(text: str, number: int) -> None:
    assert summary.count_lines(text) == number


def test_changes_are_said_with_a_true_minus() -> None:
    assert summary.changed_lines(12, 3) == "+12 −3"


@given(st.text(), st.integers(2, 50))
def test_a_first_line_is_one_short_line(text: str, limit: int) -> None:
    """However long the text, its first line fits and holds no line break."""
    line = summary.first_line(text, limit)
    assert len(line) <= limit
    assert line.splitlines() in ([], [line])
    assert bool(line) == bool(strip_ansi(text[:4_000]).strip())
