"""What a word is: folded alike on both sides, whatever the script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.site.search_words import fold_text, split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the Café", {"fix", "the", "cafe"}),
        ("test_queue-worker src/a1/main.py", {"test", "queue", "worker", "src", "a1", "main", "py"}),
        ("ﬁle № \uff57\uff49\uff44\uff45", {"file", "no", "wide"}),
        ("Ὀδυσσεύς", {"οδυσσευσ"}),
        ("ΠΡΟΣ Ёлка", {"προσ", "елка"}),
        ("— “quoted” → ✓ done", {"quoted", "done"}),
        ("漢字仮", {"漢字", "字仮", "仮"}),
        ("abc漢字", {"abc", "漢字", "字"}),
        ("𠀀𠀁", {"𠀀𠀁", "𠀁"}),
        ("", set()),
    ],
    ids=["accents", "names", "compatibility", "sigma", "scripts", "signs", "unspaced", "mixed", "astral", "empty"],
)
def test_words_are_folded_runs_of_letters_and_digits(text: str, expected: set[str]) -> None:
    assert split_words(text) == expected


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_each(one: str, other: str) -> None:
    assert split_words(f"{one} {other}") == split_words(one) | split_words(other)


@given(st.text(st.characters(codec="ascii")))
def test_the_quick_way_for_ascii_finds_what_the_slow_way_finds(text: str) -> None:
    assert split_words(f"{text} я") == split_words(text) | {"я"}
