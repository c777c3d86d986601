"""Whatever a log holds, in whatever place, a page neither runs it nor asks for it, and shows it as it is."""

import html
import re
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.render.html.page import Page, squashed
from tests.render.html.payloads import PAYLOADS
from tests.render.html.places import SHOWN, USED
from tests.render.shapes import NODE, TEXT
from tests.thorough import tries
from unspool.doc import Node
from unspool.render.html.elements import HtmlOptions, commit_card, escape, visible
from unspool.render.html.nodes import grouped_html, nodes_html
from unspool.render.html.prose import prose_html

PAINTS = (
    HtmlOptions(),
    HtmlOptions("https://github.com/ann/shop", "4c1f2ab", session_href=lambda session: f"other/{len(session)}.html"),
    HtmlOptions("javascript:alert(1)//github.com", '"><script>', images=False, session_href=lambda session: session),
)


def test_there_are_several_hundred_payloads() -> None:
    """The promise is worth little with a handful."""
    assert len(PAYLOADS) > 500


@pytest.mark.parametrize("place", SHOWN)
def test_every_payload_is_seen_as_it_is(place: str) -> None:
    """It is the text of the page, control characters as marks, and nothing but its text."""
    for payload in PAYLOADS:
        text = Page(nodes_html([SHOWN[place](payload)], PAINTS[1])).text
        assert _said(visible(payload)) in _said(text), payload


def _said(text: str) -> str:
    """The text without spaces, marks for line ends, and the colons that rows put their parts after."""
    return re.sub(r"[\s␍␊_:]", "", text)


@pytest.mark.parametrize("place", USED)
def test_no_payload_acts_where_it_is_more_than_text(place: str) -> None:
    """Only known elements and attributes, only safe addresses, however links are painted."""
    for payload in PAYLOADS:
        for paint in PAINTS:
            Page(nodes_html([USED[place](payload)], paint))


def test_the_words_of_hostile_markdown_are_told() -> None:
    """Markdown may swallow marks, never words: those of refused links and of raw HTML included."""
    for payload in PAYLOADS:
        told = squashed(unquote(Page(prose_html(payload)).told))
        words = re.findall(r"[A-Za-z]{3,}", unquote(html.unescape(payload)))
        assert [word for word in words if word not in told] == [], payload


def test_no_payload_acts_on_a_commit_card() -> None:
    """Hash, message and branch come from what a command printed."""
    for payload in PAYLOADS:
        for paint in PAINTS:
            text = Page(commit_card(payload, f"m{payload}", f"b{payload}", paint)).text
            assert squashed(visible(payload)) in squashed(text)


def test_no_payload_leaves_an_attribute() -> None:
    """Escaped text can stand between quotes of either kind, and says the same."""
    for payload in PAYLOADS:
        found = escape(payload)
        assert not set("<>\"'") & set(found)
        assert html.unescape(found) == visible(payload)


@settings(max_examples=tries(25, 1500), deadline=None)
@given(st.lists(NODE, max_size=4))
def test_any_nodes_become_safe_markup(nodes: list[Node]) -> None:
    """Random nodes of random text, alone and grouped, with and without links."""
    for paint in PAINTS:
        Page(nodes_html(nodes, paint))
        Page(grouped_html(nodes, paint))


PIECES = st.sampled_from(
    (
        *(
            "<",
            ">",
            '"',
            "'",
            "&",
            "`",
            "```\n",
            "\n",
            "\n\n",
            "    ",
            "> ",
            "- ",
            "1. ",
            "# ",
            "|",
            "|-|\n",
            "[",
            "]",
            "(",
            ")",
            "![",
        ),
        *(
            "](",
            "]:",
            "<!--",
            "-->",
            "<a ",
            "<b>",
            "</",
            "javascript:",
            "data:image/png;base64,",
            "https://x.test/",
            "www.a.b",
        ),
        *(
            "a@b.cc",
            "*",
            "**",
            "~~",
            "_",
            "\\",
            "&lt;",
            "&#x",
            "\x00",
            "\u202e",
            "\ufdd0",
            "\ufdd1",
            "%EF%B7%90",
            "[ ] ",
            "script",
            " ",
        ),
    )
)


@settings(max_examples=tries(25, 3000), deadline=None)
@given(st.lists(PIECES, max_size=24).map("".join) | TEXT)
def test_any_markdown_becomes_safe_markup(markdown: str) -> None:
    """Pieces of Markdown, HTML and addresses in any order."""
    Page(prose_html(markdown))
    Page(prose_html(markdown, images=False))
