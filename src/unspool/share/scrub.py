"""The files of a share with everything found in them replaced."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unspool.redact.finder import Finder
from unspool.redact.log import redacted_lines, scan
from unspool.redact.match import Finding, Match
from unspool.redact.names import Names
from unspool.redact.values import redacted, redacted_text
from unspool.share.beside import File
from unspool.share.choices import Choices
from unspool.share.report import kept


class Scrub:
    """Replaces what must not leave and was not chosen to stay."""

    def __init__(self, finder: Finder, names: Names, choices: Choices) -> None:
        self._finder, self._names, self._choices = finder, names, choices

    def write(self, file: File, folder: Path) -> Path | None:
        """Write a file below a folder without what must not leave; None where its own name must not."""
        if self._finder.find(file.name):
            return None
        path = folder / file.name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file.path.open("rb") as source, path.open("wb") as target:
            if file.kind == "log":
                target.writelines(redacted_lines(source, self._finder, self._names, self._keep, shown=True))
            else:
                target.write(self._json(source.read()) if file.kind == "json" else self._text(source.read()))
        return path

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
    """What is found in the files of a share, for a person to judge."""
    for file in files:
        with file.path.open("rb") as lines:
            yield from scan(lines, finder)
