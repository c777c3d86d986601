"""What hides a secret from a pattern and not from a reader: escapes, entities, soft breaks, characters of no width.

Each disguise gives views of the parts of a text that wear it; what finds secrets looks through those again.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

from unspool.redact.view import View, replaced

_BEFORE, _AFTER = 256, 4096
"""Characters on either side of a disguised one that are looked through with it: enough for a name and for a key."""


class Disguise(NamedTuple):
    """A disguise: what tells that it may be there, each disguised stretch, and what that stands for."""

    first: str
    """A character that stands in it; empty: one that is not of ASCII."""
    hints: tuple[str, ...]
    """One of these stands in it too."""
    worn: "re.Pattern[str]"
    decoded: Callable[["re.Match[str]"], str]

    def views(self, text: str) -> Iterator[View]:
        """The parts of a text that wear it, without it."""
        if text.isascii() if not self.first else self.first not in text:
            return
        if self.hints and not any(hint in text for hint in self.hints):
            return
        for start, end in self._windows(text):
            part = text[start:end]
            yield replaced(part, self.worn.finditer(part), self.decoded, start)

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        """What stands around each disguised stretch; those that touch are one."""
        begin = last = -1
        for match in self.worn.finditer(text):
            start = max(0, match.start() - _BEFORE)
            if begin >= 0 and start > last:
                yield begin, last
                begin = -1
            begin = start if begin < 0 else begin
            last = min(len(text), match.end() + _AFTER)
        if begin >= 0:
            yield begin, last


def _hex(match: "re.Match[str]") -> str:
    return next((chr(int(digits, 16)) for digits in match.groups() if digits), "/")


def _quoted(match: "re.Match[str]") -> str:
    return chr(int(match[1], 16)) if match[1] else ""


_ASCII = "(?:[2-7][0-9A-Fa-f]|0[9aAdD])"

DISGUISES = (
    Disguise(
        "\\",
        ("\\u00", "\\x", "\\u{", "\\/"),
        re.compile(rf"\\+(?:u00({_ASCII})|x({_ASCII})|u\{{0*({_ASCII})\}}|/)"),
        _hex,
    ),
    Disguise("%", (), re.compile(rf"%(?:25)*(?:({_ASCII})|u00({_ASCII}))"), _hex),
    Disguise(
        "&",
        (),
        re.compile(r"&(?:amp;)*(?:#\d{2,4}|#[xX][0-9a-fA-F]{2,4}|[a-z]{2,8});"),
        lambda match: unescape(re.sub(r"&(?:amp;)+(?=#|[a-z])", "&", match[0])),
    ),
    Disguise("=", ("=\n", "=\r", "=3D", "=\\"), re.compile(r"=(?:\r?\n|\\r\\n|\\n|([2-7][0-9A-F]))"), _quoted),
    Disguise(
        "",
        ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u200f", "\u180e", "\u2063"),
        re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u180e\u2061-\u2064]+"),
        lambda _: "",
    ),
)
"""All that a view without pieces can be made of; wrapping and encodings have modules of their own."""
