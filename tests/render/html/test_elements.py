"""Links and where they lead."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.render.html.page import Page
from unspool.doc import Link
from unspool.render.html.elements import (
    HtmlOptions,
    commit_card,
    commit_link,
    content,
    css_class,
    escape,
    file_link,
    ident,
    visible,
)
from unspool.render.html.nodes import nodes_html

HASH = "4c1f2ab9d0"


@pytest.mark.parametrize(
    ("repository", "commit", "file"),
    [
        ("https://github.com/ann/shop", "/commit/", "/blob/"),
        ("https://gitlab.com/ann/shop", "/-/commit/", "/-/blob/"),
        ("https://gitlab.example.test/group/ann/shop", "/-/commit/", "/-/blob/"),
        ("https://bitbucket.org/ann/shop", "/commits/", "/src/"),
        ("https://codeberg.org/ann/shop", "/commit/", "/src/commit/"),
        ("https://git.example.test/ann/shop", "/commit/", "/blob/"),
    ],
)
def test_each_forge_is_linked_its_own_way(repository: str, commit: str, file: str) -> None:
    """Commits and files; a trailing slash or `.git` of a remote is not part of the address."""
    for written in (repository, f"{repository}/", f"{repository}.git"):
        paint = HtmlOptions(written, HASH)
        assert Page(commit_link(HASH, paint)).links == [f"{repository}{commit}{HASH}"]
        assert Page(file_link("src/a b#c.py", paint)).links == [f"{repository}{file}{HASH}/src/a%20b%23c.py"]


def test_without_a_commit_a_file_is_the_newest() -> None:
    """What else could be meant."""
    assert Page(file_link("a.py", HtmlOptions("https://github.com/ann/shop"))).links == [
        "https://github.com/ann/shop/blob/HEAD/a.py"
    ]


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "C:\\x.py", "\\\\host\\x", "~/x", "../x", "a/../../x", "a\\..\\b", ".."]
)
def test_a_file_outside_the_project_is_not_linked(path: str) -> None:
    """The repository has no such file."""
    page = Page(file_link(path, HtmlOptions("https://github.com/ann/shop")))
    assert page.links == []
    assert page.text == path


@pytest.mark.parametrize(
    "repository", ["", "javascript:alert(1)", "git@github.com:ann/shop", "//github.com/ann", "https://"]
)
def test_only_a_web_address_is_a_repository(repository: str) -> None:
    """Anything else makes no links."""
    assert Page(commit_card(HASH, "Fix it", "main", HtmlOptions(repository))).links == []


def test_only_a_hash_is_linked_as_a_commit() -> None:
    """A word a command printed in its place is shown."""
    assert Page(commit_link("not/a/hash", HtmlOptions("https://github.com/ann/shop"))).links == []


def test_a_commit_card_says_what_was_committed_where() -> None:
    """Short hash, message and branch."""
    card = commit_card(HASH * 4, "Fix <it>", "main", HtmlOptions("https://github.com/ann/shop"))
    assert Page(card).text == f"⎇{HASH}Fix <it>main"
    assert 'class="commit"' in card


def test_a_session_is_linked_where_it_has_a_page() -> None:
    """Else its name is text."""
    known = HtmlOptions(session_href=lambda session: "../s1/index.html" if session == "s1" else "")
    assert (
        nodes_html([Link("session:s1", "Planning")], known)
        == '<p class="link"><a href="../s1/index.html">Planning</a></p>'
    )
    assert nodes_html([Link("session:s2", "Planning")], known) == '<p class="link">Planning</p>'


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "//evil.test/x", "https://evil.test", "\\\\evil", "a b", 'x"y']
)
def test_a_session_is_never_elsewhere(address: str) -> None:
    """Only a relative address leads to a page of the site."""
    assert Page(nodes_html([Link("session:s1", "x")], HtmlOptions(session_href=lambda _: address))).links == []


def test_a_link_that_may_not_be_followed_is_told() -> None:
    """Its text, and where it would have led."""
    assert Page(nodes_html([Link("javascript:alert(1)", "here")], HtmlOptions())).text == "here (javascript:alert(1))"
    assert Page(nodes_html([Link("https://x.test/a", "here")], HtmlOptions())).links == ["https://x.test/a"]


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
