"""The boxes that verbatim text stands in: a head, the text, and a mark where it is long enough to be clipped.

The mark does nothing by itself: a page's script may fold what carries it, a reader without scripts sees all.
"""

import re
from functools import lru_cache

from unspool.doc import Code, Raw
from unspool.export.html.escape import content

LINES = 14
CHARACTERS = 1_200
_READY = 9_999
_COLUMN = "\n".join(map(str, range(1, _READY + 1)))
_TENS = (0, 1, 10, 100, 1_000)
_FIRST = (0, 0, *(_COLUMN.index(f"\n{ten}\n") + 1 for ten in _TENS[2:]))
"""Where the first number of so many digits begins in the column."""
_NOT_IN_LANGUAGE = re.compile(r"[^\w+#.-]", re.ASCII)


def panel(inside: str, kind: str = "") -> str:
    """A box."""
    return f'<div class="panel {kind}">{inside}</div>' if kind else f'<div class="panel">{inside}</div>'


def head(caption: str) -> str:
    """The head of a box; nothing where there is no caption."""
    return f"<header><span>{content(caption)}</span></header>" if caption else ""


def clipped(inside: str, text: str) -> str:
    """Markup of a text, marked where the text is long."""
    long = len(text) > CHARACTERS or text.count("\n") >= LINES
    return f'<div class="clip">{inside}</div>' if long else inside


def source(text: str, language: str, start: int) -> str:
    """Lines of code; their numbers, unless they start at 0, stand in a column of their own."""
    # A line break right after <pre> would be swallowed.
    written = f"<pre><code{_language(language)}>{content(text)}</code></pre>"
    if not start:
        return written
    numbers = _numbers(start, start + text.count("\n") + 1)
    return f'<div class="numbered"><pre aria-hidden="true">{numbers}</pre>{written}</div>'


def code(node: Code) -> str:
    """Source text."""
    text = node.text.removesuffix("\n")
    return panel(head(node.caption) + clipped(source(text, node.language, node.start), text))


def raw(node: Raw) -> str:
    """Data as it stands in the log."""
    return panel(head(node.caption) + clipped(f"<pre><code>{content(node.text)}</code></pre>", node.text), "raw")


def _numbers(start: int, end: int) -> str:
    """The numbers from start up to end, one a line: usually cut from a column that is ready."""
    if start > 0 and end <= _READY:
        return _COLUMN[_place(start) : _place(end) - 1]
    return "\n".join(map(str, range(start, end)))


def _place(number: int) -> int:
    """Where a number begins in the column."""
    digits = len(str(number))
    return _FIRST[digits] + (number - _TENS[digits]) * (digits + 1)


@lru_cache(maxsize=256)
def _language(language: str) -> str:
    name = _NOT_IN_LANGUAGE.sub("", language[:40])
    return f' class="language-{name}"' if name else ""
