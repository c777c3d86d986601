"""The session itself as JSON: every block, side line, problem and figure, by a published schema.

The whole session is written whatever the view hides: this is data to compute with, and to read back.
Bytes are in base64, times in ISO 8601; a field that has its default is left out.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec

from unspool.errors import Unreadable
from unspool.figures import Figures, figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.render.view import View

SCHEMA: Final = "unspool.session/1"
"""Changes when a reader of the JSON would have to change; a new field that may be ignored is no such change."""


class Document(msgspec.Struct, frozen=True):
    """A session and its figures, by a version of the schema."""

    schema: Literal["unspool.session/1"]
    title: str
    figures: Figures
    session: Session


class JsonWriter(msgspec.Struct, frozen=True):
    """One JSON object; `indent` 0 writes it on one line."""

    indent: int = 0
    prices: PriceTable | None = None
    """The prices that costs are told in; the built-in ones where none are given."""

    name: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    description: ClassVar[str] = "the whole session as data, by a published JSON Schema"
    binary: ClassVar[bool] = False

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        return encode_json(session.id, lambda: session_document(session, self.prices), self.indent)


def encode_json(session: str, make: Callable[[], object], indent: int) -> Iterator[bytes]:
    """The document of a session in one piece; Unreadable where its data cannot be written."""
    try:
        data = msgspec.json.encode(make())
    except RecursionError as error:
        raise Unreadable(f"Session {session} holds data nested too deeply to be written as JSON.") from error
    yield msgspec.json.format(data, indent=indent) if indent else data
    yield b"\n"


def session_document(session: Session, prices: PriceTable | None = None) -> Document:
    """The session with its figures."""
    return Document(SCHEMA, session.title, figures(session, prices or PriceTable.load()), session)


def load(data: bytes) -> Session:
    """The session that was written as JSON; Unreadable where the data is something else."""
    try:
        return msgspec.json.decode(data, type=Document).session
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"This is not a session as JSON ({SCHEMA}): {error}") from error


def session_schema() -> dict[str, Any]:
    """The JSON Schema of what is written."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Document)}
