"""Markdown in a terminal, lightly: its marks stay readable, headings, code and emphasis get a style."""

import re
from collections.abc import Iterator

from unspool.export.inert import lines
from unspool.export.pen import Pen
from unspool.export.wrap import wrapped

_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,4}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_INLINE = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


def prose_lines(markdown: str, pen: Pen, width: int) -> Iterator[str]:
    """The lines of a Markdown text: prose wrapped, code and tables as they are."""
    fence = ""
    for line in lines(markdown):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and line.endswith(mark[1]):
                fence = ""
            yield pen(line, "cyan" if fence else "dim")
        elif mark:
            fence = mark[1]
            yield pen(line, "dim")
        elif line.lstrip().startswith("|"):
            yield pen(line)
        else:
            style = "bold" if _HEADING.match(line) else ""
            yield from (_inline(piece, pen, style) for piece in wrapped(line, width))


def _inline(text: str, pen: Pen, style: str) -> str:
    if style or not pen.colour or ("`" not in text and "**" not in text):
        return pen(text, style)
    parts: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts += (pen(text[at : found.start()]), pen(found[1], "bold") if found[1] else pen(found[2], "cyan"))
        at = found.end()
    return "".join((*parts, pen(text[at:])))
