"""What every writer promises: one contract, tried on each writer that is listed."""

import io
import os
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import unspool.render
from tests.render.build import everything, session
from unspool.browsers import find_browser
from unspool.errors import UsageProblem
from unspool.model import Session, Titles
from unspool.render.exchange import EXCHANGE_FORMATS
from unspool.render.exchange.atif import AtifWriter
from unspool.render.json import JsonWriter
from unspool.render.markdown import MarkdownWriter
from unspool.render.sessionshare import SessionShareWriter
from unspool.render.text import TextWriter
from unspool.render.view import View
from unspool.render.writers import WRITERS, SessionWriter, find_writer, write

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPDATE = "UNSPOOL_UPDATE_SNAPSHOTS"
VIEWS = {"brief": View(), "full": View(full=True, agents=True)}

_NEEDS = {
    "docx": (find_spec("docx") is None, "no python-docx: the extra docx"),
    "pdf": (not find_browser() and find_spec("weasyprint") is None, "neither Chromium nor WeasyPrint, the extra pdf"),
}
each = pytest.mark.parametrize(
    "writer",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.skipif(lacks, reason=why))
        for one in WRITERS
        for lacks, why in [_NEEDS.get(one.name, (False, ""))]
    ],
)


def written(writer: SessionWriter, one: Session, view: View) -> bytes:
    stream = io.BytesIO()
    write(writer, one, stream, view)
    return stream.getvalue()


@each
def test_a_writer_says_what_it_is(writer: SessionWriter) -> None:
    """A name, suffixes that no other writer has, and a description of one line."""
    others = [suffix for other in WRITERS if other is not writer for suffix in other.suffixes]
    assert writer.name.replace("-", "_").isidentifier()
    assert all(suffix.startswith(".") and suffix not in others for suffix in writer.suffixes)
    assert writer.description
    assert "\n" not in writer.description


@each
def test_a_writer_is_found_by_name_and_by_file(writer: SessionWriter) -> None:
    """The command line needs only one of them."""
    assert find_writer(writer.name) is writer
    assert find_writer(f"notes/My{writer.suffixes[0].upper()}") is writer


def test_a_format_that_nobody_writes_is_a_usage_problem() -> None:
    """The message names the formats there are."""
    with pytest.raises(UsageProblem, match="text, markdown, json"):
        find_writer("report.odt")


def test_every_module_with_a_writer_is_listed() -> None:
    """A writer that nobody can reach would be a mistake."""
    modules = [
        pkgutil.resolve_name(f"unspool.render.{info.name}") for info in pkgutil.iter_modules(unspool.render.__path__)
    ]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    writers = {found for found in classes if hasattr(found, "chunks") and hasattr(found, "suffixes")}
    assert writers == {type(writer) for writer in WRITERS}


@pytest.mark.parametrize(
    ("writer", "view"),
    [
        (TextWriter(), "brief"),
        (TextWriter(), "full"),
        (MarkdownWriter(), "full"),
        (JsonWriter(2), "full"),
        (SessionShareWriter(2), "full"),
        (AtifWriter(2), "full"),
        *((one.writer, "full") for one in EXCHANGE_FORMATS if one.ending.endswith(".jsonl")),
    ],
)
def test_what_a_writer_writes_is_as_it_was(writer: SessionWriter, view: str) -> None:
    """Compared with a file one can open; run with UNSPOOL_UPDATE_SNAPSHOTS=1 to accept a change."""
    path = SNAPSHOTS / f"{view}{writer.suffixes[0]}"
    found = written(writer, everything(), VIEWS[view])
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.decode() == path.read_text("utf-8")


def test_every_writer_has_a_snapshot() -> None:
    """A new format is looked at by a person at least once; one that is no text is read back in test_document."""
    assert {"".join(path.suffixes) for path in SNAPSHOTS.iterdir()} == {w.suffixes[0] for w in WRITERS if not w.binary}


@each
def test_a_path_and_a_stream_get_the_same(writer: SessionWriter, tmp_path: Path) -> None:
    """Without pictures there is nothing that only a folder can hold."""
    plain = session(titles=Titles(custom="No pictures"))
    path = tmp_path / f"s{writer.suffixes[0]}"
    write(writer, plain, path)
    assert path.read_bytes() == written(writer, plain, View())
    assert path.stat().st_mode & 0o077 == 0 or os.name != "posix"


@each
def test_a_writer_writes_the_same_twice(writer: SessionWriter) -> None:
    """No clock and no chance is in it."""
    assert written(writer, everything(), VIEWS["full"]) == written(writer, everything(), VIEWS["full"])


@each
def test_an_empty_session_can_be_written(writer: SessionWriter) -> None:
    """Nothing said is still a session, and text ends with a newline."""
    found = written(writer, session(), View())
    assert found.startswith((b"PK", b"%PDF")) if writer.binary else found.endswith(b"\n")


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_text_that_utf8_cannot_say_does_no_harm(name: str) -> None:
    """A lone surrogate, should one ever get into a model, stops nothing that is for reading."""
    odd = session(titles=Titles(custom="half \ud83d a pair"))
    assert b"half " in written(find_writer(name), odd, View())


@each
def test_no_escape_sequence_is_written(writer: SessionWriter) -> None:
    """The control characters of a log never reach a file for reading; JSON spells them out."""
    if writer.binary:
        pytest.skip("no text: it is read back in test_document")
    found = written(writer, everything(), VIEWS["full"])
    assert b"\x1b" not in found
    assert b"\x07" not in found
