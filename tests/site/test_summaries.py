"""Long words in short."""

import pytest

from unspool.site import summaries


@pytest.mark.parametrize(
    ("markdown", "told"),
    [
        ("# Tides\n\nThe **spring** tide is `high`.", "Tides The spring tide is high."),
        ("- one\n  * two\n> three", "one two three"),
        ("```python\nprint(1)\n```\nDone.", "print(1) Done."),
        ("#\n-\nrest", "rest"),
        ("a - b > c # d", "a - b > c # d"),
        ("- # not a title", "# not a title"),
        ("**bold** first, -dash, #tag, 2 * 3 __under__", "bold first, -dash, #tag, 2 * 3 under"),
    ],
)
def test_marks_of_lines_and_words_are_left_out(markdown: str, told: str) -> None:
    """What marks a line at its start and words inside it goes; the same characters elsewhere stay."""
    assert summaries.plain_excerpt(markdown, 300) == told


def test_a_long_text_is_cut_at_a_word() -> None:
    """The cut says that it is one."""
    assert summaries.plain_excerpt("word " * 100, 22) == "word word word word…"
