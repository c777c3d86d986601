"""Changes of files as markup."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.render.html.page import Page
from tests.waiting import ending
from unspool.doc import Code, Diff, Hunk, Span, Terminal
from unspool.render.html.elements import HtmlOptions, content
from unspool.render.html.nodes import nodes_html
from unspool.render.html.panels import code_panel, mark_word_pair, terminal_panel

LINES = st.lists(st.text(max_size=30), min_size=1, max_size=6)


def change(*lines: str, old: int = 38, new: int = 38, **more: bool) -> str:
    signs = "".join(line[:1] for line in lines)
    return nodes_html(
        [Diff("src/a.py", (Hunk(old, new, lines),), signs.count("+"), signs.count("-"), **more)], HtmlOptions()
    )


def test_lines_have_their_numbers_and_signs() -> None:
    """The old number where a line was taken out, the new one elsewhere."""
    made = change(" def f():", "-  old", "-  gone", "+  new", "   end")
    runs = re.findall(r"<(span|del|ins)>(<i>.*?)</\1>", made, re.DOTALL)
    assert [(tag, re.findall("<i>(.*?)</i>", run)) for tag, run in runs] == [
        *(("span", ["38  "]), ("del", ["39 -", "40 -"]), ("ins", ["39 +"]), ("span", ["40  "])),
    ]
    assert "+1 −2" in Page(made).text


def test_a_change_without_a_place_has_no_numbers() -> None:
    """Only signs."""
    assert "<del><i> -</i>a\n</del><ins><i> +</i>b\n</ins>" in change("-a", "+b", old=0, new=0)


def test_hunks_are_apart() -> None:
    """A gap says that lines are left out between them."""
    node = Diff("a", (Hunk(1, 1, ("+x",)), Hunk(9, 10, ("-y",))), 1, 1)
    assert '</ins><span class="gap">⋯</span><del>' in nodes_html([node], HtmlOptions())


def test_words_that_differ_are_marked() -> None:
    """Between the common beginning and end of paired lines, in whole words."""
    made = change("-    ack(method.delivery_tag)", "-alone", "+    ack(method.other_tag)")
    assert "ack(method.<mark>delivery_tag</mark>)" in made
    assert "ack(method.<mark>other_tag</mark>)" in made
    assert "alone\n" in made
    assert made.count("<mark>") == 2


def test_a_line_that_moved_is_known_again() -> None:
    """By how it begins: new lines before it change nothing."""
    made = change(
        "-    ack(tag, multiple=False)", "-    done()", "+    order = parse(body)", "+    ack(tag, multiple=True)"
    )
    assert "ack(tag, multiple=<mark>False</mark>)" in made
    assert "ack(tag, multiple=<mark>True</mark>)" in made
    assert made.count("<mark>") == 2


def test_lines_with_little_in_common_are_not_marked() -> None:
    """A mark over a whole line would say nothing."""
    assert "<mark>" not in change("-    return first", "+    yield second")


def test_a_mark_never_cuts_a_character_in_two() -> None:
    """`<` and `>` are written alike."""
    assert mark_word_pair("a long line: x &lt; y", "a long line: x &gt; y") == (
        "a long line: x <mark>&lt;</mark> y",
        "a long line: x <mark>&gt;</mark> y",
    )


@given(st.text(), st.text(), st.text(max_size=5), st.text(max_size=5))
def test_marks_change_no_text(before: str, after: str, old: str, new: str) -> None:
    """Without its marks a line is as it was; with them it is whole markup."""
    lines = content(before + old + after), content(before + new + after)
    for line, found in zip(lines, mark_word_pair(*lines), strict=True):
        assert re.sub("</?mark>", "", found) == line
        parts = [html.unescape(part) for part in re.split("</?mark>", found)]
        assert "".join(parts) == html.unescape(line)


@given(LINES, LINES, LINES)
def test_every_line_is_seen(context: list[str], old: list[str], new: list[str]) -> None:
    """Whatever is in it, one line stays one line."""
    lines = (*(f" {line}" for line in context), *(f"-{line}" for line in old), *(f"+{line}" for line in new))
    made = change(*lines)
    assert Page(made).tags.count("i") == len(lines)
    assert len(re.findall(r"\n(?:<i>|</(?:span|del|ins)>)", made)) == made.count("\n") == len(lines)


def test_a_new_file_is_code() -> None:
    """In its language, numbered from 1, without a sign on every line."""
    made = change("+import os", "+x = 1 < 2", old=0, new=1, created=True)
    assert '<code class="language-python">import os\nx = 1 &lt; 2</code>' in made
    assert '<pre aria-hidden="true">1\n2</pre>' in made
    assert "new file · +2 −0" in made


def test_the_file_is_linked_into_its_repository() -> None:
    """At the commit that is painted."""
    node = Diff("src/a.py", (), 0, 0)
    assert Page(nodes_html([node], HtmlOptions("https://github.com/ann/shop", "4c1f2ab"))).links == [
        "https://github.com/ann/shop/blob/4c1f2ab/src/a.py"
    ]


def test_long_lines_are_compared_to_the_end() -> None:
    """A minified file is one line of megabytes."""
    with ending():
        made = change("-" + "ab;" * 500_000 + " x", "+" + "ab;" * 500_000 + " y")
    assert "<mark>x</mark>" in made


def test_a_line_that_nobody_would_scroll_along_is_broken_and_others_are_not() -> None:
    long, short = '{"a": ' + "1" * 500 + "}", "x\n" * 300
    assert 'class="panel wide"' in code_panel(Code(long, "text"))
    assert "numbered" not in code_panel(Code(long, "text", start=1))
    assert 'class="panel"' in code_panel(Code(f"{long}\n{long}", "text", start=1))
    assert 'class="panel"' in code_panel(Code(short, "text"))
    assert 'class="panel error wide"' in terminal_panel(Terminal((Span(long),), exit_code=1))
