"""Links and where they lead."""

import pytest

from tests.render.html.page import Page
from unspool.doc import Link
from unspool.render.html.elements import HtmlOptions, commit_card, commit_link, file_link
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
