"""The files of a share with everything found in them replaced."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from unspool.clone.bundle import is_plain
from unspool.redact import pictures
from unspool.redact.finder import Finder
from unspool.redact.log import redacted_lines, scan
from unspool.redact.match import Finding, Match
from unspool.redact.names import Names
from unspool.redact.values import redacted, redacted_text
from unspool.share.beside import File
from unspool.share.choices import Choices
from unspool.share.pictures import FOLDER
from unspool.share.report import kept


class Scrub:
    """Replaces what must not leave and was not chosen to stay."""

    def __init__(self, finder: Finder, names: Names, choices: Choices) -> None:
        self._finder, self._names, self._choices = finder, names, choices

    def write(self, file: File, folder: Path) -> Path | None:
        """Write a file below a folder without what must not leave; None where its own name must not, or it cannot be.

        A picture is called by its path as the redacted log names it.
        """
        name = self._name(file)
        path = folder / name
        if not name or path.exists():
            return None
        with file.path.open("rb") as source:
            chunks = self._chunks(file, source)
            if chunks is None:
                return None
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("wb") as target:
                target.writelines(chunks)
        return path

    def _name(self, file: File) -> str:
        """What a file is called in the share; empty where it has no name there."""
        if file.kind not in ("picture", "drawing"):
            return "" if self._finder.find(file.name) else file.name
        home, images, place = file.name.partition(f"/{FOLDER}/")
        path, _ = redacted_text(f"/{place}", self._finder, self._names, self._keep)
        name = f"{FOLDER}{path}"
        return f"{home}/{name}" if images and is_plain(name) and not self._finder.find(home) else ""

    def _chunks(self, file: File, source: BinaryIO) -> Iterable[bytes] | None:
        """What a file holds; None where nothing of it can be shown."""
        match file.kind:
            case "log":
                return redacted_lines(source, self._finder, self._names, self._keep, shown=True)
            case "json":
                return [self._json(source.read())]
            case "picture":
                return self._picture(source.read())
            case _:
                return [self._text(source.read())]

    def _picture(self, data: bytes) -> list[bytes] | None:
        """A picture without what is told beside its pixels; None where the rest would be no picture any more."""
        text = b64encode(data).decode("ascii")
        made, _ = redacted(text, self._finder, self._names, self._keep)
        if made == text:
            return [data]
        return [b64decode(made)] if pictures.bare(text) is not None else None

    def _keep(self, match: Match) -> bool:
        return kept(match, self._choices)

    def _json(self, data: bytes) -> bytes:
        """A document; nothing of it where it cannot be read, and so not looked through."""
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return b""
        return msgspec.json.encode(redacted(value, self._finder, self._names, self._keep)[0])

    def _text(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "replace")
        return redacted_text(text, self._finder, self._names, self._keep)[0].encode("utf-8", "replace")


def findings(files: list[File], finder: Finder) -> Iterator[Finding]:
    """What is found in the files of a share, for a person to judge; each tells which file it is of."""
    for file in files:
        with file.path.open("rb") as lines:
            yield from scan(_as_line(lines) if file.kind == "picture" else lines, finder, file.name)


def _as_line(picture: BinaryIO) -> list[bytes]:
    """A picture as logs hold them."""
    return [b'"%s"' % b64encode(picture.read())]
