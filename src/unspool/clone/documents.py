"""Logs that are one document, such as an export of the web, as lines."""

from pathlib import Path

import msgspec

from unspool.formats import documents
from unspool.library.inputs import is_url, opened

_HEAD = 4096


def as_lines(path: str, folder: Path) -> Path | None:
    """The entries of a document as a log in a folder; None where it has lines already, or can be read only once."""
    if path == "-" or is_url(path):
        return None
    with opened(path) as stream:
        head = stream.read(_HEAD)
        found = documents.entries(head + stream.read()) if documents.starts_document(head) else None
    if found is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "document.jsonl"
    made.write_bytes(b"".join(msgspec.json.encode(one.data) + b"\n" for one in found if one.data is not None))
    return made
