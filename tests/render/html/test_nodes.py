"""Nodes as markup, each shape once."""

import os
import re
from pathlib import Path

import pytest

from tests.render.build import DOT, everything
from tests.render.html.page import Page
from tests.render.seen import said_by_all
from unspool import doc
from unspool.render.html.elements import HtmlOptions
from unspool.render.html.nodes import grouped_html, nodes_html
from unspool.render.html.panels import source_lines
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View
from unspool.tools.ansi import strip_ansi

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPDATE = "UNSPOOL_UPDATE_SNAPSHOTS"
PAINT = HtmlOptions("https://github.com/ann/shop", "4c1f2ab", session_href=lambda session: f"../{session}/index.html")


def made(node: doc.Node, paint: HtmlOptions = PAINT) -> str:
    return nodes_html([node], paint)


# --- verbatim text ----------------------------------------------------------------------------------


def test_code_names_its_language() -> None:
    """So that a script can colour it."""
    assert made(doc.Code("x = '<'\n", "python")) == (
        '<div class="panel"><pre><code class="language-python">x = \'&lt;\'</code></pre></div>'
    )


def test_numbers_stand_beside_code() -> None:
    """In a column of their own, so that code is copied without them."""
    shown = made(doc.Code("a\nb\nc", caption="part", start=9))
    assert '<header><span>part</span></header><div class="numbered"><pre aria-hidden="true">9\n10\n11</pre>' in shown


@pytest.mark.parametrize("start", [1, 8, 9, 10, 95, 99, 100, 998, 1_000, 9_990, 9_998, 10_000, 123_456, 10**30])
@pytest.mark.parametrize("count", [1, 2, 3, 12, 1_200])
def test_numbers_count_on_from_any_line(start: int, count: int) -> None:
    """However many there are."""
    shown = source_lines("x\n" * (count - 1), "", start)
    numbers = "\n".join(map(str, range(start, start + count)))
    assert f">{numbers}</pre>" in shown


@pytest.mark.parametrize(("lines", "clip"), [(14, False), (15, True)])
def test_long_text_is_marked_for_clipping(lines: int, clip: bool) -> None:
    """Whatever kind of text it is; nothing of it is left out."""
    text = "x\n" * (lines - 1) + "end"
    hunk = doc.Hunk(1, 1, tuple(f" {line}" for line in text.split("\n")))
    shapes = (
        *(doc.Code(text), doc.Raw(text), doc.Terminal((doc.Span(text),)), doc.Fields((("x", text),))),
        *(doc.Diff("a", (hunk,), 0, 0), doc.Diff("a", (doc.Hunk(0, 1, ("+x",) * lines),), lines, 0, created=True)),
    )
    assert [('class="clip"' in made(shape)) for shape in shapes] == [clip] * len(shapes)
    assert 'class="clip"' in made(doc.Code("x" * 1_201))


def test_a_terminal_shows_command_colours_and_failure() -> None:
    """Colours are classes, for a page has no inline style."""
    spans = (doc.Span("ok "), doc.Span("bad", "red", "#fefefe", bold=True, underline=True))
    assert made(doc.Terminal(spans, "ls", 2)) == (
        '<div class="panel error"><header><span>exit 2</span></header>'
        '<pre class="term"><b>$ ls</b>\nok <span class="f1 b15 bold u">bad</span></pre></div>'
    )


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        *(("black", "f0"), ("bright_white", "f15"), ("#ff0000", "f9"), ("#5f87ff", "f12"), ("#808080", "f8")),
        *(("nonsense", ""), ("#12", ""), ("#gggggg", ""), ("#ff", "")),
    ],
)
def test_every_colour_is_one_of_sixteen(colour: str, name: str) -> None:
    """The nearest; none where it is no colour."""
    shown = made(doc.Terminal((doc.Span("x", colour),)))
    assert (f'<span class="{name}">x</span>' in shown) is bool(name)
    assert ("<span" in shown) is bool(name)


def test_the_first_line_break_of_output_is_seen() -> None:
    """A page swallows the one right after `<pre>`."""
    assert '<pre class="term">\n\nx</pre>' in made(doc.Terminal((doc.Span("\nx"),)))


# --- data -------------------------------------------------------------------------------------------


def test_a_table_has_as_many_cells_in_every_row() -> None:
    """Though the log may have fewer, or more than there are headings."""
    shown = made(doc.Table(("a", "b"), (("1",), ("1", "2", "3")), "c"))
    assert shown.count("<th>") == 3
    assert shown.count("<td>") == 6
    assert "<caption>c</caption>" in shown


def test_fields_keep_the_lines_of_their_values() -> None:
    """A value of one line is plain text."""
    assert made(doc.Fields((("a", "1 < 2"), ("b", "x\ny")))) == (
        "<dl><dt>a<dd>1 &lt; 2<dt>b<dd><pre><code>x\ny</code></pre></dl>"
    )


def test_a_checklist_shows_how_far_things_are() -> None:
    """By class; what was dropped is struck out."""
    checks = (doc.Check("a", "open"), doc.Check("b", "active", "#1"), doc.Check("c", "done"), doc.Check("d", "dropped"))
    assert made(doc.Checklist(checks)) == (
        '<ul class="todo"><li>a</li><li class="now">b <span class="note">#1</span></li><li class="done">c</li>'
        '<li class="dropped"><s>d</s></li></ul>'
    )


# --- pictures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "IMAGE/GIF", "image/webp"])
def test_a_picture_of_the_log_is_in_the_page(kind: str) -> None:
    """Named for those who do not see it; line breaks in its data do not matter."""
    shown = made(doc.Picture(kind, f"{DOT[:20]}\n{DOT[20:]}", label="a dot"))
    assert f'<img src="data:{kind.lower()};base64,{DOT}" alt="a dot" loading="lazy">' in shown


@pytest.mark.parametrize(
    "picture",
    [
        doc.Picture("image/svg+xml", DOT, label="a dot"),
        doc.Picture("text/html", DOT, label="a dot"),
        doc.Picture("image/png", 'x" onerror="', label="a dot"),
        doc.Picture("image/png", "", label="a dot"),
        doc.Picture("image/png", "", "file:///x.png", label="a dot"),
    ],
)
def test_what_is_no_safe_picture_is_named(picture: doc.Picture) -> None:
    """Nothing of it is loaded or followed."""
    page = Page(made(picture))
    assert page.tags == ["p"]
    assert "a dot" in page.text
    assert picture.url in page.text


def test_a_picture_elsewhere_is_a_link() -> None:
    """It is asked for only when followed."""
    assert Page(made(doc.Picture("image/png", "", "https://x.test/i.png", "a dot"))).links == ["https://x.test/i.png"]


def test_a_document_can_be_kept() -> None:
    """Under its own name."""
    shown = made(doc.Picture("application/pdf", "JVBERi0=", label="notes/My plan.pdf"))
    assert 'href="data:application/pdf;base64,JVBERi0="' in shown
    assert 'download="My plan.pdf"' in shown


def test_pictures_can_be_left_out() -> None:
    """They are named then, documents too."""
    bare_paint = HtmlOptions(images=False)
    kinds = ("image/png", "application/pdf")
    assert [Page(made(doc.Picture(kind, DOT, label="a dot"), bare_paint)).tags for kind in kinds] == [["p"], ["p"]]


# --- folds and headings -----------------------------------------------------------------------------

CHILD = (doc.Code("x"),)


def test_a_call_is_a_row_that_opens() -> None:
    """Its name, what it was about, how it ended."""
    shown = made(doc.Fold("tool", "Run ls -la", "exit 1", "bad", anchor="msg-1", children=CHILD))
    assert shown == (
        '<details class="call" id="msg-1"><summary><b>Run</b> '
        '<span class="what">ls -la</span> <i class="bad">exit 1</i></summary>'
        '<div><div class="panel"><pre><code>x</code></pre></div></div></details>'
    )


def test_a_fold_can_be_open() -> None:
    """And one without children has nothing to open."""
    assert made(doc.Fold("tool", "Run", open=True, children=CHILD)).startswith('<details class="call" open>')
    assert made(doc.Fold("tool", "Run", open=True)).startswith('<div class="call">')


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        (
            "thinking",
            '<details class="call think" data-kind="thinking"><summary><b>A</b> '
            '<span class="what">b</span></summary><div>',
        ),
        ("plan", '<div class="card" data-kind="plan"><header><span>A: b</span></header><div>'),
        ("todos", '<div class="card" data-kind="todos"><header>'),
        ("question", '<div class="card" data-kind="question"><header>'),
        (
            "agent",
            '<details class="call" data-kind="agent"><summary><b>A</b> <span class="what">b</span>',
        ),
        ("problem", '<details class="call" data-kind="problem"><summary><b>A</b>'),
        ("notice:hook", '<details class="notice"><summary><span>A: b</span></summary>'),
        ("never seen", '<details class="notice">'),
    ],
)
def test_a_fold_has_the_shape_of_its_kind(kind: str, start: str) -> None:
    """A kind that nobody knows is a notice."""
    assert made(doc.Fold(kind, "A: b", children=CHILD)).startswith(start)


def test_a_conversation_inside_a_fold_is_set_apart() -> None:
    """Its rows are boxed as in any conversation."""
    turn = (doc.Heading("turn", 3, "Turn 1"), doc.Fold("tool", "Run"), doc.Fold("tool", "Run"))
    shown = made(doc.Fold("agent", "Subagent: x", children=turn))
    assert '<div><div class="agent"><h3 class="turn">Turn 1</h3><div class="calls"><div' in shown


def test_neighbouring_rows_are_boxed_together() -> None:
    """Cards, words and notices stand between boxes."""
    row, words, card = doc.Fold("tool", "Run"), doc.Prose("x"), doc.Fold("plan", "P")
    shown = grouped_html([row, row, words, row, card], PAINT)
    assert shown.count('<div class="calls">') == 2
    assert shown.replace('<div class="calls">', "").count("</div>") == 2 + nodes_html(
        [row, row, words, row, card], PAINT
    ).count("</div>")


def test_a_heading_ranks_below_the_page() -> None:
    """Whatever level it asks for; its facts stand beside it."""
    assert made(doc.Heading("turn", 1, "Turn 1", "turn-1", ("09:12", "", "Opus"))) == (
        '<h2 class="turn" id="turn-1">Turn 1 <span class="notes">09:12 · Opus</span></h2>'
    )
    assert made(doc.Heading("", 99, "x")) == "<h6>x</h6>"


# --- whole sessions ---------------------------------------------------------------------------------

FRAME = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">'
    "<title>All there is</title><main><h1>All there is</h1>\n{}\n</main></html>\n"
)


def test_all_that_was_said_is_in_the_page() -> None:
    """Prompts, answers, thoughts and results, those of subagents too."""
    session = everything()
    page = Page(nodes_html(transcript_nodes(session, View(full=True, agents=True)), PAINT))
    words = {word for said in said_by_all(session) for word in re.findall(r"[A-Za-z]{2,}", strip_ansi(said))}
    assert len(words) > 50
    assert [word for word in words if word not in page.told] == []


def test_a_page_is_as_it_was() -> None:
    """Compared with a file one can open; run with UNSPOOL_UPDATE_SNAPSHOTS=1 to accept a change."""
    path = SNAPSHOTS / "everything.html"
    found = FRAME.format(
        "\n".join(nodes_html([node], PAINT) for node in transcript_nodes(everything(), View(full=True, agents=True)))
    )
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, "utf-8", newline="\n")
    assert found == path.read_text("utf-8")
