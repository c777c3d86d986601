"""Diffs of files from patches or texts, and a file before and after a call."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from unspool.doc import Diff, Hunk
from unspool.model import Json

CONTEXT = 3
_THOROUGH = 600  # lines up to which even the commonest may begin a match
_COMMON = 8  # occurrences from which a line of a larger text may only prolong one
_LARGEST = 20_000
_SIGNS = frozenset(" +-\\")
"""What a line of a patch may begin with."""
_Step = tuple[str, int, int, int, int]


def diff_of_patch(path: str, hunks: Json, created: bool = False) -> Diff | None:
    """The diff a structured patch holds; None where it is empty or no patch."""
    if not isinstance(hunks, list) or not hunks:
        return None
    try:
        found = tuple(Hunk(_start(hunk["oldStart"]), _start(hunk["newStart"]), _lines(hunk)) for hunk in hunks)
    except (KeyError, TypeError, ValueError):
        return None
    return join_hunks(path, found, created)


def diff_of_texts(path: str, before: str, after: str, *, created: bool = False) -> Diff:
    """The diff between a file and what it became."""
    if not before and after:
        lines = ("+" + after.replace("\r\n", "\n").removesuffix("\n").replace("\n", "\n+")).split("\n")
        return Diff(path, (Hunk(0, 1, tuple(lines)),), len(lines), 0, created)
    before, after = _same_ends(before, after)
    old, new = _ended(before), _ended(after)
    hunks = (
        Hunk(start, other, tuple(line.removesuffix("\n") for line in lines)) for start, other, lines in _hunks(old, new)
    )
    return join_hunks(path, tuple(hunks), created)


def diff_of_fragments(path: str, before: str, after: str) -> Diff:
    """The diff between a piece of a file and what it became. Where it stands is not known: starts are 0."""
    before, after = _same_ends(before, after)
    if not before or not after or (before.endswith("\n") and after.endswith("\n")):
        # a newline that only one of them ends with is a line more
        before, after = before.removesuffix("\n"), after.removesuffix("\n")
    old, new = (text.split("\n") if text else [] for text in (before, after))
    return join_hunks(path, tuple(Hunk(0, 0, tuple(lines)) for _, _, lines in _hunks(old, new)), created=False)


def join_hunks(path: str, hunks: tuple[Hunk, ...], created: bool) -> Diff:
    """The hunks as one diff, its lines counted."""
    signs = [line[0] for hunk in hunks for line in hunk.lines]
    return Diff(path, hunks, signs.count("+"), signs.count("-"), created)


def _start(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("a line number is missing")
    return value


def _lines(hunk: dict[str, Json]) -> tuple[str, ...]:
    lines = hunk["lines"]
    signs = {line[:1] for line in lines} if isinstance(lines, list) else {""}
    if not signs <= _SIGNS:
        raise ValueError("no lines of a patch")
    return tuple(line for line in lines if line[0] != "\\") if "\\" in signs else tuple(lines)


def _same_ends(before: str, after: str) -> tuple[str, str]:
    old, new = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    return (old, new) if old != new else (before, after)


def _ended(text: str) -> list[str]:
    """The lines of a file, each with its newline, so that a last one without is another line."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _hunks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """(first old line, first new line, signed lines) of every run of changes with its context."""
    skipped = max(_alike(old, new) - CONTEXT, 0)
    ended = max(_alike(old[skipped:][::-1], new[skipped:][::-1]) - CONTEXT, 0)
    a, b = old[skipped : len(old) - ended], new[skipped : len(new) - ended]
    for group in _groups(a, b):
        (_, i, _, k, _), (_, _, j, _, m) = group[0], group[-1]
        lines = [line for tag, *ends in group for line in _signed(tag, a[ends[0] : ends[1]], b[ends[2] : ends[3]])]
        # A side without lines is said to start at the line before, as in every unified diff.
        yield skipped + i + (j > i), skipped + k + (m > k), lines


def _groups(a: list[str], b: list[str]) -> Iterable[Sequence[_Step]]:
    if len(a) + len(b) <= _LARGEST:
        common = {line for line, times in Counter(b).items() if times > _COMMON}
        junk = common.__contains__ if len(a) + len(b) > _THOROUGH else None
        return SequenceMatcher(junk, a, b, autojunk=False).get_grouped_opcodes(CONTEXT)
    head = _alike(a, b)
    tail = _alike(a[head:][::-1], b[head:][::-1])
    old, new = len(a) - tail, len(b) - tail
    return [[("equal", 0, head, 0, head), ("replace", head, old, head, new), ("equal", old, len(a), new, len(b))]]


def _signed(tag: str, old: list[str], new: list[str]) -> Iterable[str]:
    if tag == "equal":
        return (" " + line for line in old)
    return (*("-" + line for line in old), *("+" + line for line in new))


def _alike(old: list[str], new: list[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(old), len(new)))


class FileVersions(NamedTuple):
    """All of a file before and after a call; None where that is not known. A file that was not there is empty."""

    before: str | None = None
    after: str | None = None


def apply_patch(text: str, hunks: tuple[Hunk, ...]) -> str | None:
    """The text with a patch applied; None where the patch is of another text."""
    lines = text.split("\n")
    made: list[str] = []
    at = 0
    for hunk in hunks:
        old = [line[1:] for line in hunk.lines if line[:1] in " -"]
        start = max(hunk.old_start - 1, 0) if old else hunk.old_start
        if start < at or lines[start : start + len(old)] != old:
            return None
        made += lines[at:start]
        made += [line[1:] for line in hunk.lines if line[:1] in " +"]
        at = start + len(old)
    return "\n".join(made + lines[at:])
