"""Untrusted text made safe for markup: nothing in it is taken for a tag, and nothing in it acts unseen.

Control characters are shown as their pictures; characters that reorder text, end lines for scripts only, or
may not stand in a page at all are spelled out, as in `⟨U+202E⟩`. Carriage returns end lines.
"""

import re
from functools import lru_cache

_PLAIN = bytes((9, 10, *range(32, 127)))
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\U0001fffe\U0001ffff\U0010fffe\U0010ffff]"
)
_SPELLED = (*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_MARKS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x0D: "\n",
    0x7F: "\u2421",
    **{code: f"⟨U+{code:04X}⟩" for code in _SPELLED},
    **dict.fromkeys((*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0)), "\ufffd"),
    **{plane << 16 | last: "\ufffd" for plane in range(17) for last in (0xFFFE, 0xFFFF)},
}
_NOT_IN_ID = re.compile(r"[^\w.:-]+")
_NOT_IN_CLASS = re.compile(r"[^a-z0-9]+")


def escape(text: str) -> str:
    """The text for any place in a page: between tags or inside a quoted attribute."""
    text = content(text)
    if '"' in text:
        text = text.replace('"', "&quot;")
    if "'" in text:
        text = text.replace("'", "&#39;")
    return text


def content(text: str) -> str:
    """The text for between tags only, where quotes mean nothing and may stay as they are."""
    text = visible(text)
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    return text


def visible(text: str) -> str:
    """The text with marks in place of what cannot be seen; the marks hold nothing that would need escaping."""
    if text.isprintable():
        return text
    # Bytes are looked through faster than characters, and most text is ASCII.
    odd = text.encode().translate(None, _PLAIN) if text.isascii() else _ODD.search(text)
    return text.replace("\r\n", "\n").translate(_MARKS) if odd else text


@lru_cache(maxsize=4096)
def ident(anchor: str) -> str:
    """The id of an element for an anchor: the anchor itself where it has only letters, digits and `_.:-`."""
    return escape(_NOT_IN_ID.sub("-", anchor))


@lru_cache(maxsize=1024)
def css_class(word: str) -> str:
    """A class name made of any word."""
    return _NOT_IN_CLASS.sub("-", word.lower()[:60]).strip("-")
