"""What hides a secret from a pattern and not from a reader: escapes, entities, colours, soft breaks, pieces of code.

Each disguise gives views of the parts of a text that wear it; what finds secrets looks through those again.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

from unspool.redact.view import View, Window, around, viewed

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

    def views(self, text: str) -> Iterator[View]:
        """The parts of a text that wear it, without it."""
        if not self.hints or (not text.isascii() and any(hint in text for hint in self.hints)):
            yield from viewed(text, self._windows(text))

    def _windows(self, text: str) -> Iterator[Window]:
        """What stands around each disguised stretch; those that touch are one."""
        begin = last = -1
        for match in self.tells.finditer(text):
            if match.end() <= last - _NEAR:
                continue
            start, end = around(text, *match.span(), _BEFORE, self.after)
            if start > last:
                yield from self._window(text, begin, last)
                begin = start
            last = end
        yield from self._window(text, begin, last)

    def _window(self, text: str, start: int, end: int) -> Iterator[Window]:
        if edits := [(*match.span(), self.decoded(match)) for match in self.worn.finditer(text, max(0, start), end)]:
            yield Window(start, end, edits)


def _character(match: "re.Match[str]") -> str:
    digits = next(filter(None, match.groups()), "")
    return chr(int(digits, 16)) if digits else "/" if match[0].endswith("/") else "\x1b"


def _quoted(match: "re.Match[str]") -> str:
    return chr(int(match[1], 16)) if match[1] else ""


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
        _quoted,
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
