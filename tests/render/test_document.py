"""Documents with pages say what the Markdown says: Word and PDF, read back."""

import base64
import io
import re
import unicodedata
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import comrak
import pytest

from tests.render.build import everything, session
from unspool.browsers import find_browser
from unspool.demo import write_demo
from unspool.doc import Picture, Prose
from unspool.errors import UnspoolError, UsageProblem
from unspool.model import Session, Titles
from unspool.render import document as documents
from unspool.render import pdf
from unspool.render.document import document_html
from unspool.render.document_writers import DocxWriter, PdfWriter
from unspool.render.markdown import MarkdownWriter
from unspool.render.pdf import print_by_weasyprint
from unspool.render.view import View
from unspool.render.writers import find_writer, write
from unspool.store.library import Library

FULL = View(full=True, agents=True)
_MARK = re.compile(r"[▸•☐☑]|\d+\.")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class _Words(HTMLParser):
    """The text of a page, blocks apart."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"em", "strong", "del", "code", "a"}:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def said(text: str) -> list[str]:
    """The words of a text without what only lays it out: bullets, numbers of items and pages, marks of rows."""
    return [word for word in unicodedata.normalize("NFKC", text).split() if not _MARK.fullmatch(word)]


def written(writer: Any, one: Session, view: View = FULL) -> bytes:
    stream = io.BytesIO()
    write(writer, one, stream, view)
    return stream.getvalue()


def markdown_words(one: Session, view: View = FULL) -> list[str]:
    dialect, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    dialect.table = dialect.strikethrough = dialect.tasklist = dialect.autolink = True
    rendering.unsafe_ = True
    reader = _Words()
    text = written(MarkdownWriter(images="inline"), one, view).decode()
    reader.feed(comrak.render_markdown(text, dialect, comrak.ParseOptions(), rendering))
    return said("".join(reader.parts))


def docx_words(data: bytes) -> list[str]:
    docx = pytest.importorskip("docx", reason="no python-docx: the extra docx")

    def texts() -> Iterator[str]:
        for block in docx.Document(io.BytesIO(data)).iter_inner_content():
            if hasattr(block, "rows"):
                yield from (cell.text for row in block.rows for cell in row.cells)
            else:
                yield block.text

    return said("\n".join(texts()))


def pdf_text(data: bytes) -> str:
    """All that a PDF says, without spaces: where a line is broken is the printer's matter."""
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: it reads PDFs back")
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    texts = (page.extract_text().replace(f"{number} / {len(pages)}", "\n") for number, page in enumerate(pages, 1))
    return "".join("".join(said(text)) for text in texts)


def need_weasyprint() -> None:
    try:
        __import__("weasyprint")
    except (ImportError, OSError):
        pytest.skip("no WeasyPrint, or not its libraries: the extra pdf")


@pytest.fixture
def sessions(tmp_path: Path) -> list[Session]:
    """One that holds everything, and those of the demo."""
    library = Library([write_demo(tmp_path)])
    return [everything(), *map(library.open, sorted(library.logs(), key=lambda log: -log.size))]


@pytest.fixture
def printed() -> Callable[[Session], bytes]:
    if not find_browser():
        pytest.skip("no Chromium that prints")
    return lambda one: written(PdfWriter(), one)


def test_a_word_document_says_what_the_markdown_says(sessions: list[Session]) -> None:
    pytest.importorskip("docx", reason="no python-docx: the extra docx")
    for one in sessions:
        assert docx_words(written(DocxWriter(), one)) == markdown_words(one)


def test_what_is_left_out_of_markdown_is_left_out_of_a_word_document(sessions: list[Session]) -> None:
    pytest.importorskip("docx", reason="no python-docx: the extra docx")
    one, view = sessions[1], View(turns=((1, 1),))
    words = docx_words(written(DocxWriter(), one, view))
    assert words == markdown_words(one, view)
    assert len(words) < len(markdown_words(one))


def test_a_pdf_says_what_the_markdown_says(sessions: list[Session], printed: Callable[[Session], bytes]) -> None:
    for one in sessions[:3]:
        assert pdf_text(printed(one)) == "".join(markdown_words(one))


def test_weasyprint_prints_the_same_where_there_is_no_browser(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    need_weasyprint()
    monkeypatch.setattr(pdf, "find_browser", lambda: "")
    one = sessions[1]
    assert pdf_text(written(PdfWriter(), one)) == "".join(markdown_words(one))


def test_a_word_document_has_the_shapes_of_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    docx = pytest.importorskip("docx", reason="no python-docx: the extra docx")
    text = (
        "# A heading\n\nSome **bold**, *slanted*, `code` and a [link](https://example.org/a?b=1&c=2).\n\n"
        "- one\n  - two\n\n"
        "| a | b |\n|---|---|\n| 1 | **2** |\n\n```python\nif x:\n    y\n```\n\n> quoted"
    )
    dot, none = (Picture("image/png", base64.b64encode(data).decode(), label="no") for data in (PIXEL, b"x"))
    monkeypatch.setattr(documents, "transcript_nodes", lambda *_: [Prose(text), dot, none])
    made = docx.Document(io.BytesIO(written(DocxWriter(), session())))
    by_text = {paragraph.text: paragraph for paragraph in made.paragraphs}
    assert by_text["A heading"].style.name == "Heading 4", "below those of the document"
    runs = {run.text: run for run in by_text["Some bold, slanted, code and a link."].runs}
    assert runs["bold"].bold
    assert runs["slanted"].italic
    assert runs["code"].font.name == "Consolas"
    assert [link.address for link in by_text["Some bold, slanted, code and a link."].hyperlinks] == [
        "https://example.org/a?b=1&c=2"
    ]
    assert by_text["• two"].paragraph_format.left_indent > by_text["• one"].paragraph_format.left_indent
    assert [[cell.text for cell in row.cells] for row in made.tables[0].rows] == [["a", "b"], ["1", "2"]]
    assert by_text["if x:\n    y"].style.name == "Code"
    assert len(made.inline_shapes) == 1
    assert "no" in by_text, "a picture that is none is named"


def test_nothing_of_a_log_acts_in_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should anything ever pass the writer of Markdown, it stays text, or goes."""
    hostile = (
        '<script>alert(1)</script>\n\n<img src="file:///etc/passwd" onerror="x">\n\n'
        '<meta http-equiv="refresh" content="0">'
        '\n\n<a href="javascript:x" onclick="y">z</a>\n\n<style>p { color: red }</style>\n\n'
        '<iframe src="https://e.example">'
    )
    monkeypatch.setattr(documents, "render_markdown", lambda *_: iter([hostile]))
    made = document_html(session(), FULL)
    assert re.findall(r"<(?!/?(?:p|a)>|img alt=\"\">)[^>]*>", made) == []
    assert not re.search(r"on(?:error|click)=|src=|href=", made)


def test_characters_that_xml_cannot_say_do_no_harm() -> None:
    pytest.importorskip("docx", reason="no python-docx: the extra docx")
    odd = session(titles=Titles(custom="half \ud83d a pair \x00 and \x1b[2J \ufffe more"))
    assert {"half", "pair", "more"} <= set(docx_words(written(DocxWriter(), odd)))


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a program that prints, and without the library, one sentence says what to install."""
    monkeypatch.setattr(pdf, "find_browser", lambda: "")
    for name, needed in (("weasyprint", r"Chromium.*unspool\[pdf\]"), ("docx", r"unspool\[docx\]")):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(UsageProblem, match=needed):
            written(find_writer("pdf" if name == "weasyprint" else "docx"), session())


def test_a_browser_that_fails_is_an_error_of_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(pdf, "find_browser", lambda: str(broken))
    with pytest.raises(UnspoolError, match="could not print the session: broken"):
        written(PdfWriter(), session())


def test_weasyprint_fetches_nothing() -> None:
    need_weasyprint()
    fetched = "<p>before<img src='file:///etc/hostname' alt='held back'>after</p>"
    assert "before" in pdf_text(print_by_weasyprint(fetched))
