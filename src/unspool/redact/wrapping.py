"""Keys that a line break runs through: wrapped by a terminal, a mail, a diff, a shell's backslash."""

import re
from collections.abc import Iterable, Iterator

from unspool.redact.view import View, replaced

_TOKEN = r"A-Za-z0-9_+/="  # noqa: S105  a class of characters
GAP = (
    r"(?:\\?\r?\n|\\r\\n|\\n)[ \t]{0,40}(?:[+>|#*-]{1,2}[ \t]{1,8}|[+>|](?=[A-Za-z0-9_-])|-(?=[A-Za-z0-9]))?[ \t]{0,40}"
)
"""What stands between two halves."""
_GAP = re.compile(GAP)
_BREAK = re.compile(rf"(?<=[A-Za-z0-9_+/-]){GAP}(?=([{_TOKEN}.-]{{1,400}}))")
_NEXT = re.compile(rf"{GAP}([{_TOKEN}.-]{{3,400}})(?=[\"'`\s,;)\\\0]|$)")
_MARKS = r"[ \t]{0,40}(?:[+>|#*-]{1,2}[ \t]{0,8})?[A-Za-z0-9_-]{10}"
_HEADS = (("\n", re.compile(rf"\n{_MARKS}")), ("\\n", re.compile(rf"\\n{_MARKS}")))
_PLAIN_WORD = re.compile(
    r"[A-Z]?[a-z]+[.]?|[A-Z]+[.]?|[A-Z0-9_]+=.*|[.=/+-]+|[A-Za-z_]+=\S*|[A-Za-z_]+\.[a-z_]\S*|/.*|.*\.[a-z]{1,4}"
)
_MOST = re.compile(r"(?=.*\d)[A-Za-z0-9_+/-]{20}")
_SPOKEN = re.compile(r"[aeiouy][a-z]{2}|[a-z][aeiouy][a-z]|[a-z]{2}[aeiouy]|[./]|^(?:[Oo][Kk]|[Nn]o)$")
_BEFORE, _AFTER = 200, 1200


def views(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[View]:
    """The lines around each break that may run through a key, joined."""
    last = -1
    for place in sorted([*_heads(text), *(end for _, end in runs if text[end : end + 1] in {"\n", "\\", "\r"})]):
        if place < last:
            continue
        start, end = max(0, place - _BEFORE), min(len(text), place + _AFTER)
        part = text[start:end]
        found = [match for match in _BREAK.finditer(part) if goes_on(match[1]) or _ends(part, match)]
        last = end - _BEFORE
        if found:
            yield replaced(part, found, lambda _: "", start)


def _heads(text: str) -> Iterator[int]:
    for mark, pattern in _HEADS:
        if mark in text:
            yield from (match.start() for match in pattern.finditer(text) if _may_break(text, match))


def _may_break(text: str, match: "re.Match[str]") -> bool:
    """Whether both sides of a break could be of one key."""
    before = text[match.start() - 1 : match.start()]
    head = match[0][-10:]
    random = not head.isalpha() or sum(map(str.isupper, head)) > 1
    return random and (before.isalnum() or before in {"\\", "_", "-", "\r"})


def goes_on(beginning: str) -> bool:
    """Whether the beginning of a line can be the rest of a key: it is no word of a sentence, assignment or path."""
    return not _PLAIN_WORD.fullmatch(beginning)


def _ends(text: str, match: "re.Match[str]") -> bool:
    """Whether what follows a break is alone on its line, no word, and after what may be most of a key."""
    before, last = text[max(0, match.start() - 20) : match.start()], match.end(1)
    alone = text[last : last + 1] in {"", "\n", "\r", '"', "'", "\\", "`", "\0"}
    return alone and _MOST.fullmatch(before) is not None and _SPOKEN.search(match[1]) is None


def unwrapped(text: str) -> str:
    """What was wrapped, in one piece."""
    return _GAP.sub("", text)


def extended(text: str, end: int) -> int:
    """Where a key that ends with its line truly ends, if it goes on in the next ones."""
    while (found := _NEXT.match(text, end)) and goes_on(found[1]) and any(map(str.isdigit, found[1])):
        end = found.end(1)
    return end
