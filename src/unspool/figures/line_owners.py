"""Who put each line of a file there: by the calls that changed it, through formatters, moves and renames.

Nothing is guessed: a line that no call is known to have put there says so. What something else did to a file between
two calls keeps its owner where only its layout changed, or where the line stands somewhere else now.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Generic, Literal, NamedTuple, TypeVar

from unspool.figures.file_states import FileAroundCall

_LAYOUT = re.compile(r"[\s,;'\"`()]+")
"""What a formatter adds, takes away and replaces."""
_TOKEN = re.compile(r"\w+|[^\w\s,;'\"`()]")
_TELLING = 12
"""Characters, without layout, from which on a line is known again elsewhere."""
_REFLOWED = 4_000
"""Tokens of a piece of a file that are compared to see whether it was only laid out anew."""


class LineOwner(NamedTuple):
    """Who put a line of a file there, as far as calls tell."""

    how: Literal["change", "outside", "unknown", "before"]
    """`change`: the call itself; `outside`: no call, some time before it; `unknown`: a call before it of which not
    enough is told, or no call; `before`: it was there before the first of all calls."""
    step: int
    """Which call that is, by its place among those given."""
    moved: bool = False
    """Whether something else has laid it out anew since, or put it elsewhere."""


class OwnedLines(NamedTuple):
    """The lines of a file as it last stood as far as is known, each with its owner; None where no state is known."""

    lines: tuple[str, ...] | None
    owners: tuple[LineOwner, ...]
    later: int
    """How many calls changed it after that, nobody knows to what."""


def line_owners(steps: Iterable[FileAroundCall], now: str | None = None) -> OwnedLines:
    """Who put each line of a file there, after all of its calls in order: `blame`, by prompts instead of commits.

    `now` is what the file is, where that is known otherwise.
    """
    text: str | None = None
    owners: list[LineOwner] = []
    blind = number = 0
    """Changes since the text was known, and which call is looked at."""
    for number, step in enumerate(steps):
        if step.before is not None:
            owners = _carried(owners, text, step.before, _outsider(text, blind, number))
            text, blind = step.before, 0
        if step.after is not None:
            owners = _carried(owners, text, step.after, LineOwner("change", number))
            text, blind = step.after, 0
        else:
            blind += step.call.role != "read"
    if now is not None:
        owners = _carried(owners, text, now, _outsider(text, blind, number + 1))
        text, blind = now, 0
    return OwnedLines(None if text is None else tuple(file_lines(text)), tuple(owners), blind)


def _outsider(text: str | None, blind: int, number: int) -> LineOwner:
    return LineOwner("unknown" if blind else "before" if text is None else "outside", number)


def file_lines(text: str) -> list[str]:
    """The lines of a file, without the empty one after its last line break."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


_T = TypeVar("_T")


class _Replaced(NamedTuple, Generic[_T]):
    """Lines that went, with what was known of each, and where those that came in their place stand."""

    gone: list[tuple[str, _T]]
    first: int
    came: list[str]


def carry_lines(known: Sequence[_T], before: str, after: str, new: _T) -> list[_T]:
    """What is known of each line of a text after it became another: lines that stayed keep it."""
    return _followed(list(known), before, after, new)[0]


def _followed(known: list[_T], before: str, after: str, new: _T) -> tuple[list[_T], list[_Replaced[_T]]]:
    from unspool.tools.diff import diff_of_texts

    if before == after:
        return known, []
    found: list[_T] = []
    replaced: list[_Replaced[_T]] = []
    at, old = 0, file_lines(before)
    for hunk in diff_of_texts("", before, after).hunks:
        start = hunk.old_start - any(line[0] != "+" for line in hunk.lines)
        found += known[at:start]
        at = start
        piece: _Replaced[_T] = _Replaced([], len(found), [])
        for line in hunk.lines:
            if line[0] == " ":
                replaced.append(piece)
                found += known[at : at + 1]
                at += 1
                piece = _Replaced([], len(found), [])
            elif line[0] == "+":
                piece.came.append(line[1:])
                found.append(new)
            else:
                piece.gone.extend(zip(old[at : at + 1], known[at : at + 1], strict=False))
                at += 1
        replaced.append(piece)
    return found + known[at:], replaced


def _carried(owners: list[LineOwner], before: str | None, after: str, new: LineOwner) -> list[LineOwner]:
    """The owners of a text's lines after it became another: lines that stayed keep theirs, and so do those that
    something else only laid out anew or moved."""
    found, replaced = _followed(owners, before or "", after, new)
    if new.how != "change":
        _keep_laid_out(found, replaced)
        _keep_moved(found, replaced, new)
    return found


def _keep_laid_out(owners: list[LineOwner], replaced: Sequence[_Replaced[LineOwner]]) -> None:
    """Give lines back to their owners where all that they say was said in their place before, laid out otherwise."""
    for gone, first, came in replaced:
        if not gone or not came:
            continue
        said = [(token, owner) for text, owner in gone for token in _TOKEN.findall(text)]
        says = [(token, number) for number, text in enumerate(came) for token in _TOKEN.findall(text)]
        if len(said) + len(says) > _REFLOWED:
            continue
        matcher = SequenceMatcher(None, [token for token, _ in said], [token for token, _ in says], autojunk=False)
        kept: dict[int, list[LineOwner]] = {}
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                kept.setdefault(says[block.b + offset][1], []).append(said[block.a + offset][1])
        whole = Counter(number for _, number in says)
        for number, found in kept.items():
            if len(found) == whole[number]:
                owner = Counter(found).most_common(1)[0][0]
                owners[first + number] = owner._replace(moved=True)


def _keep_moved(owners: list[LineOwner], replaced: Sequence[_Replaced[LineOwner]], new: LineOwner) -> None:
    """Give lines back to their owners that went in one place and came in another."""
    gone: dict[str, list[LineOwner]] = {}
    for piece in replaced:
        for text, owner in piece.gone:
            gone.setdefault(plain_line(text), []).append(owner)
    for piece in replaced:
        for number, text in enumerate(piece.came, piece.first):
            known = gone.get(plain_line(text), [])
            if owners[number] == new and is_telling(text) and len(set(known)) == 1:
                owners[number] = known[0]._replace(moved=True)


def plain_line(text: str) -> str:
    """What a line says, without its layout."""
    return _LAYOUT.sub("", text)


def is_telling(text: str) -> bool:
    """Whether a line says enough to be known again."""
    return len(plain_line(text)) >= _TELLING
