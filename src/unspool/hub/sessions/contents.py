"""Files of a session from the store to a folder, and pages from a folder to the store."""

from pathlib import Path

from unspool.hub.sessions.making import Page, page_file
from unspool.hub.store.blobs import Blobs
from unspool.remote.manifest import Piece

_CHUNK = 1024 * 1024


def assembled(blobs: Blobs, parts: tuple[Piece, ...], path: Path) -> None:
    """A file of its pieces, each proved."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for piece in parts:
            file.writelines(blobs.read(piece.digest))


def keep_pages(blobs: Blobs, made: tuple[Page, ...], folder: Path) -> None:
    """Keep the pages that were made in a folder."""
    for number, page in enumerate(made):
        with page_file(folder, number).open("rb") as file:
            blobs.keep_packed(page.digest, page.size, "gzip", iter(lambda: file.read(_CHUNK), b""))
