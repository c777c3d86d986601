"""A session as a Word document."""

import base64
import binascii
import io
import struct
import zipfile
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

from unspool.errors import UsageProblem
from unspool.model import Session
from unspool.render.document import document_html
from unspool.render.html.elements import visible
from unspool.render.view import View

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph


def write_docx(session: Session, view: View) -> bytes:
    """The document; its pictures are inside."""
    try:
        import docx
    except ImportError as error:
        raise UsageProblem(f"{MISSING} pip install 'unspool[docx]'") from error
    document = docx.Document()
    _dress(document)
    document.core_properties.title = visible(session.title)[:255]
    document.core_properties.author = document.core_properties.comments = ""
    reader = _DocumentReader(document)
    reader.feed(document_html(session, view))
    reader.close()
    made = io.BytesIO()
    document.save(made)
    return _without_clock(made)


MISSING = "Word documents are written by python-docx, which is not installed:"
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_INDENT, _WIDEST = 0.25, 6.0
"""Inches."""


def _without_clock(made: io.BytesIO) -> bytes:
    """The packed document with no time of packing in it: the same session is the same file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(made) as parts, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in parts.namelist():
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, parts.read(name))
    return packed.getvalue()


def _dress(document: "Document") -> None:
    """Styles: running text, code on a grey ground, and rows for what the agent did, small and grey."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Inches, Pt, RGBColor

    for section in document.sections:
        section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Inches(0.9)
    document.styles["Normal"].font.name, document.styles["Normal"].font.size = "Calibri", Pt(10.5)
    code = document.styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
    code.base_style, code.font.name, code.font.size = document.styles["Normal"], "Consolas", Pt(8.5)
    code.paragraph_format.space_after = Pt(6)
    ground = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", "F4F4F2")):
        ground.set(qn(f"w:{name}"), value)
    code.element.get_or_add_pPr().append(ground)
    for name in ("Row", "Line"):
        row = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        row.base_style, row.font.size, row.font.color.rgb = document.styles["Normal"], Pt(9), RGBColor(90, 88, 82)
        row.paragraph_format.space_after, row.paragraph_format.keep_with_next = Pt(3), name == "Row"


class _Run(NamedTuple):
    """A piece of text in one style; `marks` are the tags around it."""

    text: str
    marks: frozenset[str]
    href: str = ""
    picture: str = ""


_MARKS = {"strong": "bold", "th": "bold", "em": "italic", "del": "strike", "code": "code", "ins": "ins"}
_COLOURS = {"ins": (0x1A, 0x6B, 0x3C), "strike": (0xB3, 0x26, 0x1E)}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


class _DocumentReader(HTMLParser):
    """Writes what it reads into a document: text gathers in runs, and each block makes a paragraph of them."""

    def __init__(self, document: "Document") -> None:
        super().__init__(convert_charrefs=True)
        self._document = document
        self._end_mark = document.element.body.sectPr
        self._styles: dict[str, Any] = {}
        self._runs: list[_Run] = []
        self._marks: list[str] = []
        self._href = ""
        self._style = ""
        self._depth = 0
        self._lists: list[int] = []
        """Of each list one is in: the number of the next item; 0 where it has no numbers."""
        self._bullet = ""
        """What the next paragraph begins with."""
        self._rows: list[list[list[_Run]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _MARKS and not (tag == "code" and self._style == "Code"):
            self._marks.append(_MARKS[tag])
        match tag:
            case "a":
                self._href = given.get("href", "")
            case "br":
                self._add("\n")
            case "img":
                self._runs.append(_Run(given.get("alt", ""), frozenset(), picture=given.get("src", "")))
            case "tr":
                self._rows.append([])
            case _:
                self._begin(tag, given)

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        """A block begins, and what stands before it is one."""
        if tag not in {*_HEADINGS, "p", "pre", "div", "ul", "ol", "li", "blockquote", "table"}:
            return
        self._end()
        if tag in _HEADINGS:
            self._style = f"Heading {_HEADINGS[tag]}"
        elif tag == "pre":
            self._style = "Code"
        elif tag == "p" and "class" in given:
            self._style = "Row" if given["class"] == "row" else "Line"
        elif tag in ("div", "blockquote"):
            self._depth += 1
        elif tag in ("ul", "ol"):
            self._lists.append(int(given.get("start", "1")[:9]) if tag == "ol" else 0)
        elif tag == "li" and self._lists:
            number = self._lists[-1]
            self._lists[-1] += 1 if number else 0
            self._bullet = f"{number}. " if number else "• "

    def handle_endtag(self, tag: str) -> None:
        if tag in _MARKS and self._marks and not (tag == "code" and self._style == "Code"):
            self._marks.pop()
        match tag:
            case "a":
                self._href = ""
            case "td" | "th" if self._rows:
                self._rows[-1].append(self._runs)
                self._runs = []
            case "table":
                self._table()
            case "p" | "pre" | "li" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._end()
            case "div" | "blockquote":
                self._end()
                self._depth = max(0, self._depth - 1)
            case "ul" | "ol":
                self._end()
                self._lists = self._lists[:-1]

    def handle_data(self, data: str) -> None:
        if self._style == "Code" or "code" in self._marks:
            self._add(data)
        elif text := data.replace("\n", " ") if data.strip() else " " if self._runs else "":
            self._add(text)

    def close(self) -> None:
        super().close()
        self._end()

    def _add(self, text: str) -> None:
        self._runs.append(_Run(text, frozenset(self._marks), self._href))

    def _end(self) -> None:
        """Make a paragraph of what was gathered, where that is anything."""
        runs, style = self._runs, self._style
        self._runs, self._style = [], ""
        if not any(run.text.strip() or run.picture for run in runs):
            return
        last = runs[-1].text.removesuffix("\n") if style == "Code" else runs[-1].text.rstrip()
        runs[-1] = runs[-1]._replace(text=last)
        if mark := "▸ " if style in ("Row", "Line") else self._bullet:
            runs.insert(0, _Run(mark, frozenset()))
            self._bullet = ""
        from docx.shared import Inches

        paragraph = self._paragraph(style)
        deep = self._depth - (style == "Row") + len(self._lists)
        if deep > 0:
            paragraph.paragraph_format.left_indent = Inches(_INDENT * min(deep, 8))
        _write(paragraph, runs)

    def _paragraph(self, style: str) -> "Paragraph":
        """A new one at the end, which the library itself would look for among all that are there."""
        from docx.oxml import OxmlElement
        from docx.text.paragraph import Paragraph

        made = OxmlElement("w:p")
        self._end_mark.addprevious(made)
        paragraph = Paragraph(made, self._document._body)
        if style:
            paragraph.style = self._styles.get(style) or self._styles.setdefault(style, self._document.styles[style])
        return paragraph

    def _table(self) -> None:
        rows, self._rows = self._rows, []
        columns = max(map(len, rows), default=0)
        if not columns:
            return
        from docx.text.paragraph import Paragraph

        table = self._document.add_table(len(rows), columns, style="Table Grid")
        # cell by cell the library would look through the whole table each time
        for cells, line in zip(rows, table._tbl.tr_lst, strict=True):
            for runs, cell in zip(cells, line.tc_lst, strict=False):
                _write(Paragraph(cell.p_lst[0], table), runs)
        self._paragraph("")


def _write(paragraph: "Paragraph", runs: list[_Run]) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    code = paragraph.style is not None and paragraph.style.name == "Code"
    for run in runs:
        if run.picture and _draw(paragraph, run.picture):
            continue
        made = paragraph.add_run(visible(run.text) or "picture")
        made.bold, made.italic = "bold" in run.marks or None, "italic" in run.marks or None
        made.font.strike = ("strike" in run.marks and not code) or None
        if "code" in run.marks:
            made.font.name = "Consolas"
        for mark in (run.marks & _COLOURS.keys()) if code else ():
            made.font.color.rgb = RGBColor(*_COLOURS[mark])
        if run.href:
            made.font.color.rgb, made.underline = RGBColor(0x1F, 0x59, 0xB5), True
            link = OxmlElement("w:hyperlink")
            link.set(qn("r:id"), paragraph.part.relate_to(run.href, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
            made._r.addprevious(link)
            link.append(made._r)


def _draw(paragraph: "Paragraph", source: str) -> bool:
    """Put the picture in, no wider than the page; False where it is of a kind that Word does not show, or broken."""
    from docx.image.exceptions import InvalidImageStreamError, UnexpectedEndOfFileError, UnrecognizedImageError
    from docx.shared import Inches

    made = paragraph.add_run()
    try:
        shape = made.add_picture(io.BytesIO(base64.b64decode(source.partition(",")[2])))
        if shape.width > Inches(_WIDEST):
            shape.height, shape.width = round(shape.height * Inches(_WIDEST) / shape.width), Inches(_WIDEST)
    except (InvalidImageStreamError, UnexpectedEndOfFileError, UnrecognizedImageError, binascii.Error):
        return False
    except (ValueError, KeyError, ArithmeticError, struct.error):  # what the library raises where a header is damaged
        return False
    return True
