"""Markdown that cannot act: checked by a reader of Markdown that has raw HTML switched on."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from unspool.export.gfm import literal, safe

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
READER.validateLink = lambda url: True  # type: ignore[method-assign]  # the reader's own guard would hide a lack of ours

PIECES = (
    *(
        "\n",
        "\n\n",
        "  ",
        "   ",
        "    ",
        "     ",
        "\t",
        "- ",
        "1. ",
        "10) ",
        "> ",
        "* ",
        "# ",
        "| a | b |\n|---|---|\n",
    ),
    *("```", "````", "~~~", "`", "``", "```py", "~~~ x", "\\", "|", "&lt;", "word", "[a]", "(x)", "](", "]: ", "[r]: "),
    *("<b>", "</details>", "<script>", "<!--", "<?php", "<img src=x onerror=y>", "<!DOCTYPE x>", "<https://x.org>"),
    *("javascript:alert(1)", "JAVA&#115;cript:x", "data:text/html,x", "http://x.org", "![", "[", "]", "(", ")", "<"),
)
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


def tokens(markdown: str) -> list[Token]:
    found = READER.parse(markdown)
    return [*found, *(child for token in found for child in token.children or ())]


def addresses(found: list[Token]) -> list[str]:
    return [str(token.attrs["href"]) for token in found if token.type == "link_open"]


@given(MARKDOWN)
def test_no_raw_html_and_no_picture_survives(markdown: str) -> None:
    """Whatever the Markdown, a reader finds neither live HTML nor a picture to fetch in what is written."""
    kinds = {token.type for token in tokens(safe(markdown))}
    assert kinds.isdisjoint({"html_block", "html_inline", "image"})


@given(MARKDOWN)
def test_links_lead_to_the_web_or_nowhere(markdown: str) -> None:
    """No link has a scheme that runs something."""
    for address in addresses(tokens(safe(markdown))):
        assert not re.match(r"(?!https?:|mailto:)[a-z][a-z0-9+.-]*:", address, re.IGNORECASE), address


@given(MARKDOWN)
def test_what_follows_is_outside(markdown: str) -> None:
    """A heading after the Markdown is a heading of the document: no fence, list or quote swallows it."""
    found = READER.parse(f"{safe(markdown)}\n\n# The end\n\n</details>\n")
    heading = [token for token in found if token.type == "inline" and token.content == "The end"]
    assert [token.level for token in heading] == [1]
    assert found[-1].type == "html_block"


@given(st.text(st.sampled_from("ab1 <>&*_`[]()#+-=.!|~\\\n\x1b\x07:/"), max_size=40))
def test_literal_text_is_shown_exactly(text: str) -> None:
    """Plain text in a Markdown document reads as itself."""
    shown = literal(text)
    found = tokens(shown)
    assert {token.type for token in found} <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}
    said = "".join(token.content for token in found if token.type in ("text", "text_special"))
    assert said == " ".join(re.sub(r"[\x1b\x07]", "", said and _inert(text)).split())


def _inert(text: str) -> str:
    from unspool.export.inert import inert

    return inert(text)
