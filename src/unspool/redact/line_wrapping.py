"""Keys that a line break runs through: wrapped by a terminal, a mail, a diff, a shell's backslash."""

import re
from collections.abc import Iterable, Iterator

from unspool.redact.views import ViewWindow, widen

_TOKEN = r"A-Za-z0-9_+/="  # noqa: S105  a class of characters
GAP = (
    r"(?:\\?\r?\n|\\r\\n|\\n)[ \t]{0,40}(?:[+>|#*-]{1,2}[ \t]{1,8}|[+>|](?=[A-Za-z0-9_-])|-(?=[A-Za-z0-9]))?[ \t]{0,40}"
)
"""What stands between two halves."""
_GAP = re.compile(GAP)
_BREAK = re.compile(rf"(?<=[A-Za-z0-9_+/-]){GAP}(?=([{_TOKEN}.-]{{1,400}}))")
_NEXT = re.compile(rf"{GAP}([{_TOKEN}.-]{{3,400}})(?=[\"'`\s,;)\\\0]|$)")
_MARKS = r"[ \t]{0,40}(?:[+>|#*-]{1,2}[ \t]{0,8})?[A-Za-z0-9_-]{10}"
_INNER = r"[A-Za-z0-9_+/=.:@%~$-]"
_HEAD = re.compile(rf"\n(?:(?<=[A-Za-z0-9\\_\r-]\n){_MARKS}|(?={_INNER})(?<={_INNER}\n)(?<=[^\n\0]{{20}}\n))")
"""A line that may go on with a key: it begins with what is no word, or both sides of the break are tight."""
_MIXED = re.compile(r"\d|[a-z][A-Z][A-Z]|[A-Z][a-z][A-Z]|[A-Z][A-Z][a-z]")
"""Stands in the beginning of a line that is no word, nor several with marks between."""
_TELLS = re.compile(r"\d[A-Za-z]|[A-Za-z]\d|@|-----")
"""Stands in or near to all that is worth to be joined."""
_TIGHT = re.compile(rf"{_INNER}\n{_INNER}")
_TOKENS = re.compile(r"[A-Za-z0-9_+/=.-]{1,400}")
_ESCAPED_HEAD = re.compile(rf"\\n(?<=[A-Za-z0-9\\_\r-]\\n){_MARKS}")
_PLAIN_WORD = re.compile(
    r"[A-Z]?[a-z]+[.]?|[A-Z]+[.]?|[A-Za-z_]\w*=[^=\s].*|[A-Za-z_]+=|[.=/+-]+|[\d.:/-]+|[A-Za-z_]+\.[a-z_]\S*|/.*|.*\.[a-z]{1,4}"
)
_NAMED = re.compile(r":\s|\(|[ \t]{1,8}[:=]")
"""Follows the name of something, which is no rest of a key."""
_MOST = re.compile(r"(?=.*\d)[A-Za-z0-9_+/-]{20}")
_SPOKEN = re.compile(r"[aeiouy][a-z]{2}|[a-z][aeiouy][a-z]|[a-z]{2}[aeiouy]|[./]|^(?:[Oo][Kk]|[Nn]o)$")
_BEFORE, _AFTER = 200, 400
"""Characters on either side of a break, or of several that are no farther apart, that are looked through with it."""
_NARROW, _WIDE = 20, 260
"""Characters of a line that a program may have broken because it was as long as it could be."""
_WIDTHS = frozenset({64, 70, 72, 76, 78, 79, 80, 100, 120, 132, 160, 200})
_ITEM = re.compile(r"[ \t]{0,40}- \S")
_LINE_END = re.compile("\n")


def wrapped_windows(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[ViewWindow]:
    """The lines around each break that may run through a key, joined."""
    group: list[re.Match[str]] = []
    for match in _breaks(text, runs):
        if group and (
            match.start() - _BEFORE > group[-1].end() + _AFTER or "\0" in text[group[-1].end() : match.start()]
        ):
            yield _window(text, group)
            group = []
        group.append(match)
    if group:
        yield _window(text, group)


def _window(text: str, breaks: list["re.Match[str]"]) -> ViewWindow:
    """The text around some breaks without them, and without those beside them that alone would not tell."""
    start, end = widen(text, breaks[0].start(), breaks[-1].end(), _BEFORE, _AFTER)
    found = {match.start(): match.end() for match in _BREAK.finditer(text, start, end) if _goes_on(text, match)}
    full = {match.start(): match.end() for match in breaks if match.re is _LINE_END}
    return ViewWindow(start, end, [(first, last, "") for first, last in sorted((found | full).items())])


def _breaks(text: str, runs: Iterable[tuple[int, int]]) -> Iterator["re.Match[str]"]:
    """The breaks that may run through a key, in order."""
    ends = [end for _, end in runs if text[end : end + 1] in {"\n", "\\", "\r"}]
    last = -1
    for place in sorted({*ends, *_heads(text)}):
        at = place
        while at >= last and (match := _broken(text, at)):
            yield match
            last = match.end()
            token = _TOKENS.match(text, last)
            at = token.end() if token else last


def _broken(text: str, at: int) -> "re.Match[str] | None":
    if _TIGHT.match(text, at - 1) and _is_full(text, at):
        return _LINE_END.match(text, at)
    match = _BREAK.match(text, at)
    return match if match is not None and _goes_on(text, match) else None


def _goes_on(text: str, match: "re.Match[str]") -> bool:
    if _NAMED.match(text, match.end(1)) or _begins_anew(text, match):
        return False
    return continues_key(match[1]) or _ends(text, match)


def _begins_anew(text: str, match: "re.Match[str]") -> bool:
    """Whether the line behind a break is the next item of a list, or what a diff puts in place of the line before."""
    mark = text[match.start() : match.start(1)].lstrip("\\rn\r\n")
    start = _line_start(text, match.start())
    item = mark.lstrip(" \t") == "- " and _ITEM.match(text, start) is not None
    return item or (mark == "+" and text[start] == "-")


def _heads(text: str) -> Iterator[int]:
    for pattern, mark in ((_HEAD, "\n"), (_ESCAPED_HEAD, "\\n")):
        if mark in text:
            for match in pattern.finditer(text):
                start, end = match.span()
                if _MIXED.search(text, end - 10, end) if end - start > 1 else _is_full(text, start):
                    yield _beginning(text, start)


def _beginning(text: str, at: int) -> int:
    """Where a break begins: a shell's backslash and a carriage return are part of it."""
    at -= text[at - 1 : at] == "\r"
    return at - (text[at - 1 : at] == "\\" and text[at : at + 1] in {"\n", "\r"})


def _is_full(text: str, at: int) -> bool:
    """Whether a tight line ends because it was full: it is of a usual width, or as long as one beside it."""
    start = _line_start(text, at)
    length, first = at - start, text[at + 1 : at + 2]
    if not _NARROW <= length <= _WIDE or (first in {"+", "-"} and text[start] == first):
        return False  # the signs of a diff are no part of what they stand before
    full = length in _WIDTHS or _line_end(text, at, length) or _line_before(text, start, length)
    if not full:
        return False
    begin, last = max(0, at - 60), at + 140
    begin, end = text.rfind("\0", begin, at) + 1 or begin, text.find("\0", at, last)
    return _TELLS.search(text, begin, last if end < 0 else end) is not None


def _line_end(text: str, at: int, length: int) -> bool:
    """Whether the line behind a break is so long; most are told by one look."""
    end = at + length + 1
    return text.startswith("\n", end) and text.find("\n", at + 1, end) < 0


def _line_before(text: str, start: int, length: int) -> bool:
    """Whether the line before one that begins there is so long."""
    first = start - 1 - length
    return (first == 0 or text[first - 1 : first] in {"\n", "\0"}) and _line_start(text, start - 1) == first


def _line_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    first = max(0, at - _WIDE - 2)
    start = text.rfind("\n", first, at) + 1 or first
    return text.rfind("\0", start, at) + 1 or start


def continues_key(beginning: str) -> bool:
    """Whether the beginning of a line can be the rest of a key: it is no word of a sentence, assignment or path."""
    return not _PLAIN_WORD.fullmatch(beginning)


def _ends(text: str, match: "re.Match[str]") -> bool:
    """Whether what follows a break is alone on its line, no word, and after what may be most of a key."""
    before, last = text[max(0, match.start() - 20) : match.start()], match.end(1)
    alone = text[last : last + 1] in {"", "\n", "\r", '"', "'", "\\", "`", "\0"}
    word = _SPOKEN.search(match[1]) or "=" in match[1].rstrip("=")
    return alone and not word and _MOST.fullmatch(before) is not None


def unwrap(text: str) -> str:
    """What was wrapped, in one piece."""
    return _GAP.sub("", text)


def extend_over_break(text: str, end: int) -> int:
    """Where a key that ends with its line truly ends, if it goes on in the next ones."""
    while (
        (found := _NEXT.match(text, end))
        and continues_key(found[1])
        and any(map(str.isdigit, found[1]))
        and not _begins_anew(text, found)
    ):
        end = found.end(1)
    return end
