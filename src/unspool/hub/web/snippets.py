"""A piece of found text, cut where it is marked."""

from typing import NamedTuple

from unspool.index.results import Snippet


class Piece(NamedTuple):
    """Some text, lit or not."""

    text: str
    lit: bool


def pieces(snippet: Snippet) -> list[Piece]:
    """The text of a snippet, in order."""
    made, at = [Piece("…", False)] if snippet.before else [], 0
    for start, end in snippet.marks:
        made += [Piece(snippet.text[at:start], False), Piece(snippet.text[start:end], True)]
        at = end
    made.append(Piece(snippet.text[at:], False))
    return [*(piece for piece in made if piece.text), *([Piece("…", False)] if snippet.after else [])]
