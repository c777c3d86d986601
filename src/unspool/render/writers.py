"""Every form that a session can be written in. To add one: a file with a writer, and its name in `WRITERS`; a contract
suite tests it from then on.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar, Protocol

from unspool.errors import UsageProblem
from unspool.files import write_atomically
from unspool.model import Session
from unspool.render.document_writers import DocxWriter, PdfWriter
from unspool.render.exchange import EXCHANGE_FORMATS
from unspool.render.json import JsonWriter
from unspool.render.markdown import MarkdownWriter
from unspool.render.sessionshare import SessionShareWriter
from unspool.render.text import TextWriter
from unspool.render.view import View


class SessionWriter(Protocol):
    """One format. Its options are its fields; what to show is the view's."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    description: ClassVar[str]
    binary: ClassVar[bool]
    """Whether its files are no text, which no terminal can show."""

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        """The bytes of the file; other files that it needs are put below `folder`, where there is one."""


WRITERS: tuple[SessionWriter, ...] = (
    TextWriter(), MarkdownWriter(), JsonWriter(), SessionShareWriter(), DocxWriter(), PdfWriter(),
    *(one.writer for one in EXCHANGE_FORMATS),
)  # fmt: skip


def find_writer(name: str) -> SessionWriter:
    """The writer of that name, or of a file so called, by its longest suffix; UsageProblem where there is none."""
    lower = name.lower()
    fits = [(len(end), writer) for writer in WRITERS for end in writer.suffixes if lower.endswith(end)]
    fits += [(len(name) + 1, writer) for writer in WRITERS if name == writer.name]
    if fits:
        return max(fits, key=lambda fit: fit[0])[1]
    known = ", ".join(writer.name for writer in WRITERS)
    raise UsageProblem(f"Nothing writes {name!r}; the formats are {known}.")


def write(writer: SessionWriter, session: Session, target: Path | BinaryIO, view: View | None = None) -> None:
    """Write the session to a path, whole or not at all and private to the user, or to an open stream."""
    view = view or View()
    if isinstance(target, Path):
        write_atomically(target, writer.chunks(session, view, target.parent))
        return
    for chunk in writer.chunks(session, view):
        target.write(chunk)
