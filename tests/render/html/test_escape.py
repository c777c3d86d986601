"""Text made safe for markup."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.render.html.escape import content, css_class, escape, ident, visible


def test_the_five_characters_of_markup_are_escaped() -> None:
    """In any place of a page."""
    assert escape("""<a href="x">it's & more</a>""") == "&lt;a href=&quot;x&quot;&gt;it&#39;s &amp; more&lt;/a&gt;"


def test_quotes_stay_between_tags() -> None:
    """There they mean nothing, and code is full of them."""
    assert content("""print("it's") & <b>""") == """print("it's") &amp; &lt;b&gt;"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x00\x07\x1b[31m\x7f", "␀␇␛[31m␡"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("\u202eevil\u202c", "⟨U+202E⟩evil⟨U+202C⟩"),
        ("\u2066x\u2069\u2028y\x85", "⟨U+2066⟩x⟨U+2069⟩⟨U+2028⟩y⟨U+0085⟩"),
        ("\ud800\ufdd0\uffff\U0001ffff", "\ufffd" * 4),
        ("héllo 漢字 🙂\u200d\u00ad\ufeff", "héllo 漢字 🙂\u200d\u00ad\ufeff"),
    ],
)
def test_what_cannot_be_seen_is_marked(text: str, shown: str) -> None:
    """Other characters, those that join emoji included, stay."""
    assert visible(text) == shown


@given(st.text())
def test_escaped_text_says_what_is_visible_of_it(text: str) -> None:
    """Nothing is lost on the way through a parser, and a second look finds nothing to mark."""
    assert html.unescape(escape(text)) == html.unescape(content(text)) == visible(text)
    assert visible(visible(text)) == visible(text)


@given(st.text())
def test_an_id_has_no_space_or_mark(text: str) -> None:
    """Nor does a class; anchors made of plain characters stay as they are."""
    assert not set(" \t\n\"'<>&") & set(ident(text) + css_class(text))
    assert ident("msg-1736000000123-2") == "msg-1736000000123-2"
