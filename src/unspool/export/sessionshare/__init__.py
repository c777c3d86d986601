"""session-share's normalised document: the conversation in the ten types of entries that its viewers show.

What the view hides is left out, and so is what the document has no words for: hooks, reminders and other notices,
usage, subagents' own conversations, abandoned branches but the one asked for. For all of it there is `json`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from unspool.errors import Unreadable
from unspool.export.sessionshare.convert import document
from unspool.export.sessionshare.entries import Document
from unspool.model import Session
from unspool.transcript import View

__all__ = ["SessionShare", "schema"]


class SessionShare(msgspec.Struct, frozen=True):
    """One JSON object; `indent` 0 writes it on one line."""

    indent: int = 0

    name: ClassVar[str] = "session-share"
    suffixes: ClassVar[tuple[str, ...]] = (".session-share.json",)
    description: ClassVar[str] = "the conversation as session-share's viewers read it"

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        try:
            data = msgspec.json.encode(document(session, view))
        except RecursionError as error:
            raise Unreadable(f"Session {session.id} holds data nested too deeply to be written as JSON.") from error
        yield msgspec.json.format(data, indent=self.indent) if self.indent else data
        yield b"\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of what is written."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Document)}
