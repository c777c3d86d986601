"""Markdown that cannot act: checked by a reader of Markdown that has raw HTML switched on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.hostile import MARKDOWN as HOSTILE
from tests.thorough import tries
from tests.waiting import ending
from unspool.render.gfm import code_block, escape_in_html, escape_markdown, is_web_address, link_address, safe_markdown
from unspool.render.sanitize import one_line

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# The reader's own guard would hide a lack of ours.
READER.validateLink = lambda url: True  # type: ignore[method-assign]

PIECES = (
    *("\n", "\n\n", "  ", "   ", "    ", "     ", "\t", "- ", "1. ", "10) ", "> ", "* ", "# "),
    *("| a | b |\n|---|---|\n", "word", "\\", "|", "&lt;", "[a]", "(x)", "](", "]: ", "[r]: "),
    *("```", "````", "~~~", "`", "``", "```py", "~~~ x", "![", "[", "]", "(", ")", "<", "http://x.org"),
    *("<b>", "</details>", "<script>", "<!--", "<?php", "<img src=x onerror=y>", "<!DOCTYPE x>", "<https://x.org>"),
    *("javascript:alert(1)", "JAVA&#115;cript:x", "data:text/html,x", "\x1b[0m", "\r", "\x07"),
)
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


def tokens(markdown: str) -> list[Token]:
    found = READER.parse(markdown)
    return [*found, *(child for token in found for child in token.children or ())]


def kinds(markdown: str) -> set[str]:
    return {token.type for token in tokens(markdown)}


# --- what must never happen -------------------------------------------------------------------------


@given(MARKDOWN)
def test_no_raw_html_and_no_picture_survives(markdown: str) -> None:
    """Whatever the Markdown, a reader finds neither live HTML nor a picture to fetch in what is written."""
    assert kinds(safe_markdown(markdown)).isdisjoint({"html_block", "html_inline", "image"})


@given(MARKDOWN)
def test_links_lead_to_the_web_or_nowhere(markdown: str) -> None:
    """No link has a scheme that runs something."""
    links = [str(token.attrs["href"]) for token in tokens(safe_markdown(markdown)) if token.type == "link_open"]
    assert [link for link in links if re.match(r"(?!https?:|mailto:)[a-z][a-z0-9+.-]*:", link, re.IGNORECASE)] == []


@given(MARKDOWN)
def test_what_follows_is_outside(markdown: str) -> None:
    """A heading after the Markdown is a heading of the document: no fence, list or quote swallows it."""
    found = READER.parse(f"{safe_markdown(markdown)}\n\n# The end\n\n</details>\n")
    assert [token.level for token in found if token.type == "inline" and token.content == "The end"] == [1]
    assert found[-1].type == "html_block"


@given(MARKDOWN)
def test_no_control_character_survives(markdown: str) -> None:
    """Terminal escapes are gone from the Markdown too."""
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", safe_markdown(markdown))


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        # An address that is only written out may take the backtick with it, and so may the target of a link.
        ("http://x.org`<b>`", "http://x.org\\`&lt;b>\\`"),
        ("www.x.org/`<b>`", "www.x.org/\\`&lt;b>\\`"),
        ("[a](`)<b>`", "[a\\](`)<b>`"),
        # A bar ends a cell of a table, and the code in it.
        ("| `a | <b>` |", "| \\`a | &lt;b>\\` |"),
        # A list or quote that ends closes its fence; an indented fence in a paragraph is none.
        ("- ```\n<b>\n", "\n-\n```\n<b>\n```"),
        ("> ```\n<b>\n", "\n>\n```\n```\n&lt;b>"),
        ("text\n    ```\n<b>", "text\n```\n<b>\n```"),
        # A code span may begin a line above.
        ("`\n`<b>`", "\\`\n`<b>`"),
        ("`\n<b>`", "\\`\n&lt;b>\\`"),
    ],
)
def test_what_readers_see_in_two_ways_is_rewritten(markdown: str, written: str) -> None:
    """Where readers differ on what is code, there is one way left to see it."""
    assert safe_markdown(markdown) == written


# --- what must stay ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markdown",
    [
        "# Title\n\n1. one\n2. **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "Use `Vec<T>` and ``a ` b`` where 1 < 2.",
        "```html\n<b>bold</b>\n```",
        "1. step\n   ```sh\n   echo <x>\n   ```\n2. next",
        'See [docs](https://x.org/a_(b) "the docs") or <https://x.org/?q=1>.',
        "arr[0]: value",
        "",
    ],
)
def test_honest_markdown_is_left_alone(markdown: str) -> None:
    """Code, lists, tables and links are written as they were."""
    assert safe_markdown(markdown) == markdown


def test_html_is_shown_as_text() -> None:
    """A tag outside code reads as itself."""
    assert safe_markdown("a <b>bold</b> move") == "a &lt;b>bold&lt;/b> move"


def test_an_open_fence_is_closed() -> None:
    """A text cut in the middle of its code does not turn the rest of the document into code."""
    assert safe_markdown("```py\nx = 1") == "```py\nx = 1\n```"


def test_a_fence_that_hangs_in_a_list_moves_to_the_margin() -> None:
    """Where its end is not certain, a fence stands where it is."""
    assert safe_markdown("- ```js\n  run()\n  ```\nafter") == "\n-\n```js\nrun()\n```\nafter"


def test_pictures_from_elsewhere_become_links() -> None:
    """Reading a document fetches nothing."""
    assert safe_markdown("![dot](http://x.org/dot.png)") == "\\![dot](http://x.org/dot.png)"


# --- plain text -------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("ab1 <>&*_`[]()#+-=.!|~\\\n\x1b\x07:/"), max_size=40))
def test_literal_text_is_shown_exactly(text: str) -> None:
    """Plain text in a Markdown document reads as itself."""
    found = tokens(escape_markdown(text))
    assert {token.type for token in found} <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}
    assert "".join(token.content for token in found if token.type in ("text", "text_special")) == one_line(text)


@given(st.text(st.sampled_from("a`~\n "), max_size=60))
def test_a_fence_holds_any_text(text: str) -> None:
    """Whatever backticks a text has, its block ends after it."""
    found = READER.parse(code_block(text, "py"))
    assert [(token.type, token.info) for token in found] == [("fence", "py")]
    assert found[0].content.rstrip("\n") == text.rstrip("\n")


def test_a_language_cannot_break_out_of_its_fence() -> None:
    """Only what names a language is kept of it."""
    assert code_block("x", "c++`\n<b> #1").splitlines()[0] == "```c++b#1"


def test_text_inside_html_is_escaped() -> None:
    """Summaries are HTML, so their text is escaped and on one line."""
    assert escape_in_html('<b>\n\n"x" & y\x1b[2J') == "&lt;b&gt; &quot;x&quot; &amp; y"


@pytest.mark.parametrize(
    "target", ["javascript:x", "JaVaScRiPt:x", "java&#115;cript:x", "vbscript:x", "data:text/html,x", "file:x"]
)
def test_schemes_that_act_are_no_web_addresses(target: str) -> None:
    """However it is spelled, such an address is none."""
    assert not is_web_address(target)


def test_an_address_ends_where_it_should() -> None:
    """What could end a link early is percent-encoded."""
    assert link_address("https://x.org/a b)<c>`") == "https://x.org/a%20b%29%3Cc%3E%60"


@pytest.mark.parametrize("piece", HOSTILE)
def test_long_nonsense_takes_no_longer_than_it_should(piece: str) -> None:
    """Text made to confuse is done in moments: the work grows with the text, not with its square."""
    with ending():
        safe_markdown(piece * (tries(200_000, 1_000_000) // len(piece)))
