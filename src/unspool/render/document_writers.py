"""The writers of documents with pages; what they need is loaded when one is written."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec

from unspool.model import Session
from unspool.render.view import View


class DocxWriter(msgspec.Struct, frozen=True):
    """One Word document; its pictures are inside."""

    name: ClassVar[str] = "docx"
    suffixes: ClassVar[tuple[str, ...]] = (".docx",)
    description: ClassVar[str] = "A Word document, pictures inside"
    binary: ClassVar[bool] = True

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        from unspool.render.docx import write_docx

        del folder  # all is in the one file
        yield write_docx(session, view)


class PdfWriter(msgspec.Struct, frozen=True):
    """One PDF; its pictures are inside."""

    name: ClassVar[str] = "pdf"
    suffixes: ClassVar[tuple[str, ...]] = (".pdf",)
    description: ClassVar[str] = "A PDF, printed by Chromium or WeasyPrint"
    binary: ClassVar[bool] = True

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        from unspool.render.pdf import write_pdf

        del folder  # all is in the one file
        yield write_pdf(session, view)
