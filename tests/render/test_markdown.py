"""Markdown documents: pictures beside or inside, folds that hold, nothing that acts."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.render.build import DOT, everything, image, session, turn
from tests.render.shapes import NODE
from unspool.doc import Check, Checklist, Code, Fields, Fold, Heading, Link, Node, Picture, Prose, Table, Terminal
from unspool.render.markdown import MarkdownImages, MarkdownWriter, render_markdown
from unspool.render.view import View
from unspool.render.writers import write

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = re.compile(r'</?details(?: open)?(?: id="[^"<>]*")?>|</?summary>|</?em>|<a id="[^"<>]*">|</a>')


def markdown(*document: Node, **options: Any) -> str:
    return "".join(render_markdown(document, MarkdownImages(options.get("images", "beside"), options.get("folder"))))


def live_html(text: str) -> list[str]:
    found = READER.parse(text)
    every = [*found, *(child for token in found for child in token.children or ())]
    return [token.content for token in every if token.type in ("html_block", "html_inline")]


@given(st.lists(NODE, max_size=3))
def test_only_our_own_html_is_live(document: list[Node]) -> None:
    """Whatever nodes hold, the HTML a reader finds is folds, summaries and anchors, with escaped text in them."""
    for html in live_html(markdown(*document)):
        assert "<" not in OURS.sub("", html), html


@given(NODE)
def test_no_node_swallows_the_next(node: Node) -> None:
    """What follows a node is outside it."""
    found = READER.parse(markdown(node, Heading("end", 1, "The end")))
    assert [token.level for token in found if token.type == "inline" and token.content == "The end"] == [1]


def test_pictures_lie_beside_the_document_once_each(tmp_path: Path) -> None:
    """Equal pictures share one file, named by their content."""
    write(MarkdownWriter(), session(turn(1, "go", image("one"), image("two"))), tmp_path / "s.md")
    (file,) = (tmp_path / "images").iterdir()
    text = (tmp_path / "s.md").read_text("utf-8")
    assert file.read_bytes().startswith(b"\x89PNG")
    assert f"![one](images/{file.name})" in text
    assert f"![two](images/{file.name})" in text


def test_pictures_can_be_inside() -> None:
    """Inline, a picture is its data; nothing else is written."""
    assert (
        markdown(Picture("image/png", DOT, label="dot"), images="inline") == f"![dot](data:image/png;base64,{DOT})\n\n"
    )


@pytest.mark.parametrize(
    ("picture", "text"),
    [
        (Picture("image/png", DOT), "*Picture: image/png · image/png · 70 B*"),  # a stream has nothing beside it
        (Picture("image/png", "!", label="x"), "*Picture: x · not in the log*"),
        (Picture("image/png", "abc", label="x"), "*x · its data cannot be read*"),
        (Picture("image/png", url="https://x.org/a b.png"), "[image/png](https://x.org/a%20b.png)"),
        (Picture("image/png", url="javascript:x", label="l"), "*Picture: l · javascript:x · not in the log*"),
    ],
)
def test_pictures_that_cannot_be_shown_say_what_they_are(picture: Picture, text: str) -> None:
    """A picture without a place to go is told in words; one from elsewhere is a link, never fetched."""
    assert markdown(picture) == f"{text}\n\n"


def test_documents_in_a_log_are_files_to_open_not_pictures(tmp_path: Path) -> None:
    """A PDF, or data of a kind nobody knows, is a link; its name is ours, not the log's."""
    text = markdown(Picture("application/pdf", "aGk="), Picture("../../x", "aGk="), folder=tmp_path)
    names = sorted(path.suffix for path in (tmp_path / "images").iterdir())
    assert names == [".bin", ".pdf"]
    assert "![" not in text


def test_folds_are_details() -> None:
    """A fold opens on the page; without children it is a line."""
    fold = Fold("tool", "Read <b>", "3 lines", children=(Code("<b>", "html"),), anchor="x")
    assert markdown(fold) == (
        '<details id="x"><summary>Read &lt;b&gt; <em>3 lines</em></summary>\n\n```html\n<b>\n```\n\n</details>\n\n'
    )
    assert markdown(Fold("thinking", "Thinking", "not kept")) == "▸ Thinking *not kept*\n\n"


def test_small_shapes() -> None:
    """Lists, tables, checks, links and terminals as GitHub writes them."""
    assert markdown(Fields((("a", "*1*"), ("b", "x\ny")))) == "- **a:** \\*1\\*\n\n**b:**\n\n```\nx\ny\n```\n\n"
    assert markdown(Table(("h",), (("a|b", "c"),))) == "| h |  |\n| --- | --- |\n| a\\|b | c |\n\n"
    checks = (Check("a", "open"), Check("b", "done", "n"), Check("c", "active"), Check("d", "dropped"))
    assert markdown(Checklist(checks)) == "- [ ] a\n- [x] b (n)\n- [ ] ◐ c\n- [x] ~~d~~\n\n"
    assert markdown(Link("https://x.org", "X"), Link("session:s0", "S")) == "[X](https://x.org)\n\n→ S · session:s0\n\n"
    assert markdown(Terminal((), "ls -l", 1)) == "```console\n$ ls -l\n```\n\n**exit code 1**\n\n"


def test_an_empty_table_is_no_error() -> None:
    """A table without columns is nothing to see."""
    assert markdown(Table((), ((),))).strip() == ""


def test_the_whole_session_is_inert() -> None:
    """The session that has everything brings no HTML of its own."""
    text = b"".join(MarkdownWriter().chunks(everything(), View(full=True, agents=True))).decode()
    assert [html for html in live_html(text) if "<" in OURS.sub("", html)] == []
    assert markdown(Prose("<i>")) == "&lt;i>\n\n"
