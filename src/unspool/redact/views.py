"""Texts without what disguises a secret (escapes, dumps, base64), mapped to the original positions."""

import binascii
import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import accumulate
from typing import NamedTuple

_WORD = 2000
_CUT = re.compile(r"[^\s\0\"'`<>]++")

Span = Callable[[int, int], tuple[int, int]]
Edit = tuple[int, int, str]
"""A stretch of a text and what it reads as."""


class UndisguisedText(NamedTuple):
    """A text as it reads without its disguise."""

    text: str
    span: Span
    """A stretch of it to the stretch as given."""


class ViewWindow(NamedTuple):
    """A part of a text, and what reads differently in it, in order."""

    start: int
    end: int
    edits: Iterable[Edit]


class _Pieces(NamedTuple):
    views: list[int]
    """Where each piece begins in the view; every second one, from the second on, is decoded."""
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self._start(start), self._end(end)

    def _start(self, at: int) -> int:
        piece = bisect_right(self.views, at) - 1
        return self.starts[piece] + (at - self.views[piece] if piece % 2 == 0 else 0)

    def _end(self, at: int) -> int:
        piece = bisect_right(self.views, at - 1) - 1
        return self.starts[piece] + at - self.views[piece] if piece % 2 == 0 else self.ends[piece]


def join_windows(text: str, windows: Iterable[ViewWindow]) -> Iterator[UndisguisedText]:
    """The windows of a text as one view, with zeros between, which nothing that is found runs over."""
    pieces = _Pieces([], [], [])
    parts: list[str] = []
    last = length = 0
    for start, end, reads in _edits(windows):
        for piece, begin, stop in ((text[last:start], last, start), (reads, start, end)):
            pieces.views.append(length)
            pieces.starts.append(begin)
            pieces.ends.append(stop)
            parts.append(piece)
            length += len(piece)
        last = end
    if parts:
        yield UndisguisedText("".join(parts), pieces.span)


def _edits(windows: Iterable[ViewWindow]) -> Iterator[Edit]:
    """What is between the windows reads as a zero; so does what follows the last one."""
    last = 0
    for window in windows:
        start = max(last, window.start)
        if start < window.end:
            yield last, start, "\0"
            yield from (edit for edit in window.edits if edit[0] >= start)
            last = window.end
    if last:
        yield last, last, "\0"


def widen(text: str, start: int, end: int, before: int, after: int) -> tuple[int, int]:
    """A stretch with so many characters on either side, none of them beyond a zero, and no word cut through."""
    first, last = max(0, start - before), min(len(text), end + after)
    left = text.rfind("\0", first, start) + 1
    right = text.find("\0", end, last)
    begun = text[max(0, first - _WORD) : first][::-1]
    return left or first - _word_end(begun, 0), right if right >= 0 else _word_end(text, last)


def _word_end(text: str, at: int) -> int:
    found = _CUT.match(text, at, at + _WORD)
    return found.end() if found else at


_BEFORE, _AFTER = 256, 4096
"""Characters on either side of a disguised one that are looked through with it: enough for a name and for a key."""
_NEAR = 512
"""Characters of a window that are left behind a disguised stretch at least, where another follows."""
_AFTER_PIECE = 600
"""The same behind a disguise that every piece of a key would wear."""


class Disguise(NamedTuple):
    """A disguise: what tells that it is there, each disguised stretch, and what that stands for."""

    tells: "re.Pattern[str]"
    """Is found in every disguised stretch; begins with one certain character, which is what makes looking quick."""
    worn: "re.Pattern[str]"
    decoded: Callable[["re.Match[str]"], str]
    hints: str = ""
    """Characters of which one stands in it, where that is not of ASCII and looking for each is quicker."""
    after: int = _AFTER

    def views(self, text: str) -> Iterator[UndisguisedText]:
        """The parts of a text that wear it, without it."""
        if not self.hints or (not text.isascii() and any(hint in text for hint in self.hints)):
            yield from join_windows(text, self._windows(text))

    def _windows(self, text: str) -> Iterator[ViewWindow]:
        """What stands around each disguised stretch; those that touch are one."""
        begin = last = -1
        for match in self.tells.finditer(text):
            if match.end() <= last - _NEAR:
                continue
            start, end = widen(text, *match.span(), _BEFORE, self.after)
            if start > last:
                yield from self._window(text, begin, last)
                begin = start
            last = end
        yield from self._window(text, begin, last)

    def _window(self, text: str, start: int, end: int) -> Iterator[ViewWindow]:
        if edits := [(*match.span(), self.decoded(match)) for match in self.worn.finditer(text, max(0, start), end)]:
            yield ViewWindow(start, end, edits)


def _character(match: "re.Match[str]") -> str:
    digits = next(filter(None, match.groups()), "")
    return chr(int(digits, 16)) if digits else "/" if match[0].endswith("/") else "\x1b"


def _nothing(_: "re.Match[str]") -> str:
    return ""


def _row(match: "re.Match[str]") -> str:
    """The end of a row, but of one that was full or ends with a hyphen: there a word goes on."""
    full = not match[0].startswith("  ") or match.string[match.start() - 1 : match.start()] == "-"
    return "" if full else "\n"


_ASCII = "(?:[2-7][0-9A-Fa-f]|0[9aAdD]|1[bB])"
_ESCAPED = rf"(?:u00({_ASCII})|x({_ASCII})|u\{{0{{0,6}}({_ASCII})\}}|/|(?:033|e)(?=\[[0-9;]))"
_PERCENT = re.compile(rf"%(?:25){{0,8}}(?:({_ASCII})|u00({_ASCII}))")
_ENTITY = re.compile(r"&(?:amp;){0,8}(?:#\d{2,4}|#[xX][0-9a-fA-F]{2,4}|[a-z]{2,8});")
_NO_WIDTH = "\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e"
_FRAMES = "│┃║"
_COLOUR = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_PIECE = r"[A-Za-z0-9_+/=.:@%~$\\ -]"
_INSIDE = r"[A-Za-z0-9_+/=.:@~$-]"
_PLUS = r"(?:[ \t]{0,8}[+.&])?"


def _joined(mark: str) -> Disguise:
    """Pieces of a string in code, with or without a sign between."""
    gap = rf"(?:{_PLUS}(?:\s|\\{{1,8}}[nrt]){{1,60}}{_PLUS}|[ \t]{{0,8}}[+.&])[ \t]{{0,8}}"
    rest = rf"{gap}[bfru]?\\{{0,8}}{mark}(?={_PIECE})"
    told = rf"{rest}(?=[^{mark}\n\0]{{0,60}}[A-Z0-9])"
    tells = rf"{mark}(?=[ \t\r\n\\+.&])(?:(?<={_INSIDE}{{2}}.{mark})|(?<=\\{mark})){told}"
    worn = rf"(?<={_INSIDE}{{2}}{_PIECE})\\{{0,8}}{mark}{rest}"
    return Disguise(re.compile(tells), re.compile(worn), _nothing, after=_AFTER_PIECE)


DISGUISES = (
    Disguise(re.compile(rf"\\{_ESCAPED}"), re.compile(rf"(?<!\\)\\++{_ESCAPED}"), _character),
    Disguise(_PERCENT, _PERCENT, _character),
    Disguise(_ENTITY, _ENTITY, lambda match: unescape(re.sub(r"&(?:amp;)+(?=#|[a-z])", "&", match[0]))),
    Disguise(
        re.compile(r"=(?:\r?\n|\\r\\n|\\n|3D)"),
        re.compile(r"=(?:\r?\n|\\r\\n|\\n|([2-7][0-9A-F]))"),
        lambda match: chr(int(match[1], 16)) if match[1] else "",
        after=_AFTER_PIECE,
    ),
    Disguise(re.compile(f"[{_NO_WIDTH}]"), re.compile(f"[{_NO_WIDTH}]+"), _nothing, _NO_WIDTH),
    Disguise(
        re.compile(f"\n(?<=[{_FRAMES}]\n)|\n(?<=[{_FRAMES}]\r\n)"),
        re.compile(rf"(?<=[^ \n]) {{0,240}}[{_FRAMES}]\r?\n[ \t]{{0,80}}[{_FRAMES}] ?"),
        _row,
        _FRAMES,
        _AFTER_PIECE,
    ),
    Disguise(_COLOUR, re.compile(f"(?:{_COLOUR.pattern})+"), _nothing),
    _joined('"'),
    _joined("'"),
)
"""All that a view without pieces can be made of; wrapping and encodings have modules of their own."""


_SECOND = "000010"
"""The offset of the second row, or what it ends with."""
_ROW = re.compile(
    r"(?:^|(?<=[\n\0]))[ \t>|+]{0,12}[0-9a-f]{6,8}:?[ \t]{1,4}((?:[0-9a-f]{2}[ \t]{0,2}){2,32})[^\n\0]{0,80}"
)
_PAIR = re.compile(r"[0-9a-f]{2}")
_MOST = 16
"""Bytes of a row; the characters beside them may read as more."""


class _Row(NamedTuple):
    first: int
    """Where in the bytes it begins."""
    start: int
    end: int


def dump_views(text: str) -> Iterator[UndisguisedText]:
    """What the rows of each dump say together; what is found in a row takes the row with it, characters included."""
    if _SECOND not in text:
        return
    rows: list[_Row] = []
    parts: list[bytes] = []
    for match in _ROW.finditer(text):
        if rows and match.start() > rows[-1].end + 1:
            yield _view(parts, rows)
            rows, parts = [], []
        first = rows[-1].first + len(parts[-1]) if rows else 0
        rows.append(_Row(first, match.start(1), match.end()))
        parts.append(bytes.fromhex("".join(_PAIR.findall(match[1])[:_MOST])))
    if rows:
        yield _view(parts, rows)


def _view(parts: list[bytes], rows: list[_Row]) -> UndisguisedText:
    firsts = [row.first for row in rows]

    def span(start: int, end: int) -> tuple[int, int]:
        return rows[bisect_right(firsts, start) - 1].start, rows[bisect_right(firsts, end - 1) - 1].end

    return UndisguisedText(b"".join(parts).decode("latin-1"), span)


_LEAST = 24
"""Characters of base64 that could hold a key."""
_BINARY = 160
"""Characters of base64 that could be a file with words in it."""


def _of(mask: int, bits: int = 0) -> str:
    """The characters of base64, for addresses too, in which some bits are these."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    these = [letter for number, letter in enumerate(letters) if number & mask == bits]
    return "[" + "".join(these) + ("_" if "/" in these else "") + (r"\-" if "+" in these else "") + "]"


_ASCII = f"{_of(32)}{_of(8)}{_of(2)}[A-Za-z0-9+/_-]"
_WIDE = f"{_of(60, 56)}{_of(12, 8)}{_of(3, 2)}[A-Za-z0-9+/_-]"
"""Three bytes in base64: of ASCII, or of one character such as those that boxes are drawn with."""
_READS = re.compile(rf"(?:{_ASCII}|{_WIDE}){{2}}[A-Za-z0-9+/_-]{{{_LEAST - 8}}}")
"""How the base64 of text begins."""
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){20,}")
_HEX_READS = re.compile(r"[2-7][0-9a-fA-F]{39}|[eE][0-9a-fA-F][89abAB][0-9a-fA-F][89abAB][0-9a-fA-F]{35}")
_MAY = re.compile(rf"{_READS.pattern}|{_HEX_READS.pattern}")
"""The same, or its hexadecimal."""
_GAP = re.compile(r"(?:\r?\n|\\r\\n|\\n)[ \t>+]{0,12}")
_WORDS = re.compile(r"[\x20-\x7e\r\n\t]{20,}")
_LINE = 48
"""Characters that a line of wrapped base64 has at least."""
_URL = str.maketrans("-_", "+/")
_PRINTED = bytes(range(0x20, 0x7F)) + b"\r\n\t\x1b\x00"
_BEYOND = bytes(range(0x80, 0x100))
_WORDS_ONLY = bytes(byte if byte in _PRINTED else 0 for byte in range(256))

Runs = list[tuple[int, int]]


def encoding_views(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[UndisguisedText]:
    """What the runs of a text hold, where that is text or holds some."""
    lines: Runs = []
    for start, end in runs:
        if lines and not _follows(text, lines[-1][1], start):
            yield from _base64(text, lines)
            lines = []
        if lines or (end - start >= _LINE and (end - start) % 4 == 0 and text[end : end + 1] in {"\n", "\r", "\\"}):
            lines.append((start, end))
        elif end - start >= _BINARY or _MAY.match(text, start, end):
            yield from _one(text, start, end)
    if lines:
        yield from _base64(text, lines)


def _follows(text: str, end: int, start: int) -> bool:
    return start - end <= 16 and _GAP.fullmatch(text, end, start) is not None


def _one(text: str, start: int, end: int) -> Iterator[UndisguisedText]:
    run = text[start:end]
    if _HEX_READS.match(run) and _HEX.fullmatch(run):
        if words := _read(bytes.fromhex(run)):
            yield UndisguisedText(words, lambda first, last: (start + 2 * first, start + 2 * last))
    elif len(run) >= _BINARY or _READS.match(run):
        yield from _base64(text, [(start, end)])


def _base64(text: str, pieces: Runs) -> Iterator[UndisguisedText]:
    run = "".join([text[start:end] for start, end in pieces]).translate(_URL)
    run = run[: len(run) - (len(run) % 4 == 1)]
    data = binascii.a2b_base64(run + "=" * (-len(run) % 4))
    if found := _text(data):
        yield UndisguisedText(found[0], _way(text, pieces, found[1]))


def _text(data: bytes) -> tuple[str, int] | None:
    """The text in some bytes, zeros for what is none, and how many bytes a character has; None where there is none."""
    if len(data) > 16 and not any(data[1:32:2]) and all(data[:32:2]):
        return data[: len(data) // 2 * 2].decode("utf-16-le", "replace"), 2
    if words := _read(data):
        return words, 1
    if len(data) > 48 and _WORDS.search(words := data.translate(_WORDS_ONLY).decode("ascii")):
        return words, 1
    return None


def _read(data: bytes) -> str:
    """Bytes that are text, a character for each, zeros beyond ASCII but for the lines of a box; empty where none."""
    if data.isascii():
        return "" if data.translate(None, _PRINTED) else data.decode("ascii")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if data.translate(None, _PRINTED + _BEYOND):
        return ""
    return data.replace("│".encode(), b" | ").translate(_WORDS_ONLY).decode("ascii")


def _way(text: str, pieces: Runs, width: int) -> Callable[[int, int], tuple[int, int]]:
    """The characters of base64 that a stretch of its bytes is written with; the padding at its end goes too."""
    firsts = [0, *accumulate(end - start for start, end in pieces)]
    length = firsts.pop()

    def place(at: int) -> int:
        piece = bisect_right(firsts, at) - 1
        return pieces[piece][0] + at - firsts[piece]

    def span(start: int, end: int) -> tuple[int, int]:
        begin, stop = start * width // 3 * 4, min(length, -(-end * width // 3) * 4)
        last = place(stop - 1) + 1
        while stop == length and text[last : last + 1] == "=":
            last += 1
        return place(begin), last

    return span
