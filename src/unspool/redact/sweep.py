"""Many texts looked through at once: a line of a log has dozens, most of them short, and many seen before."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from unspool.redact.finder import Finder
from unspool.redact.match import Match


class Path(msgspec.Struct, frozen=True, gc=False):
    """Where a text stands: in what, and under which key or number."""

    parent: "Path | None" = None
    piece: str | int = ""

    def __str__(self) -> str:
        """message.content[0].text"""
        before = str(self.parent) if self.parent is not None else ""
        if isinstance(self.piece, int):
            return f"{before}[{self.piece}]"
        return f"{before}.{self.piece}" if before else self.piece


def place(path: Path, finder: Finder) -> str:
    """Where a text stands, without keys that hold what must go themselves."""
    pieces: list[str] = []
    while path.parent is not None:
        piece = path.piece
        if isinstance(piece, int):
            pieces.append(f"[{piece}]")
        else:
            secret = finder.known[piece] if piece in finder.known else finder.find(piece)
            pieces.append(f".{'…' if secret else piece}")
        path = path.parent
    return "".join(reversed(pieces)).removeprefix(".")


class Text(msgspec.Struct, frozen=True, gc=False):
    """A text of a value: where it stands, the key that tells what it is, and what it says."""

    path: Path
    key: str
    text: str

    @property
    def whole(self) -> str:
        """The text as an assignment to its key."""
        return f'{self.key}="{self.text}"' if self.key else self.text


def swept(finder: Finder, texts: Sequence[Text]) -> list[list[Match]]:
    """What must go of each text."""
    wholes = [text.whole if text.key else text.text for text in texts]
    found = {whole: finder.known[whole] for whole in wholes if whole in finder.known}
    fresh = [whole for whole in dict.fromkeys(wholes) if whole not in found]
    if fresh:
        new = _fresh(finder, fresh)
        found.update(new)
        finder.known.remember(new)
    return [_within(found[whole], text, whole) for text, whole in zip(texts, wholes, strict=True)]


def _fresh(finder: Finder, wholes: list[str]) -> dict[str, list[Match]]:
    """Plain texts are looked through together, and others: one character of another kind makes all of them slow."""
    found: defaultdict[str, list[Match]] = defaultdict(list)
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for whole in wholes:
        if "\0" in whole:
            found[whole] = finder.find(whole)
        else:
            kinds[whole.isascii()].append(whole)
    for some in kinds.values():
        for whole, match in _together(finder, some):
            found[whole].append(match)
    nothing: list[Match] = []
    return {whole: found.get(whole, nothing) for whole in wholes}


def _together(finder: Finder, wholes: list[str]) -> Iterator[tuple[str, Match]]:
    """No match runs over a zero, so texts with zeros between are looked through as one."""
    if not wholes:
        return
    starts, length = [], 0
    for whole in wholes:
        starts.append(length)
        length += len(whole) + 1
    for match in finder.find("\0".join(wholes)):
        number = bisect_right(starts, match.start) - 1
        at, whole = starts[number], wholes[number]
        yield whole, match._replace(start=match.start - at, end=min(match.end - at, len(whole)))


def _within(found: list[Match], text: Text, whole: str) -> list[Match]:
    """The findings that are of the text itself, not of its key."""
    if not found or len(whole) == len(text.text):
        return found
    at, end = len(text.key) + 2, len(whole) - 1
    inside = [match._replace(start=max(at, match.start) - at, end=min(end, match.end) - at) for match in found]
    return [match for match in inside if match.end > match.start]
