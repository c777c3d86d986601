"""A change of a file as lines of markup, in time linear in its length.

A line is a `<span>`, `<del>` or `<ins>` with its number and sign in front. Where lines that were taken out are
followed by lines that were put in, they are paired by how they begin, else in order, and the words that differ
are marked. A file that is new altogether is shown as code.
"""

from collections.abc import Iterable
from itertools import groupby, pairwise, repeat

from unspool.doc import Diff, Hunk
from unspool.export.html.escape import content
from unspool.export.html.links import file_link
from unspool.export.html.paint import Paint
from unspool.export.html.panel import LINES, clipped, panel, source
from unspool.export.html.words import mark
from unspool.tools.paths import language

_GAP = '<span class="gap">⋯</span>'
_TAGS = {"-": "del", "+": "ins", " ": "span"}


def diff(node: Diff, paint: Paint) -> str:
    """The file, how much changed, and the lines."""
    counts = f'<span class="num">{"new file · " if node.created else ""}+{node.added} −{node.removed}</span>'
    header = f"<header>{file_link(node.path, paint)}{counts}</header>"
    if node.created and len(node.hunks) == 1 and all(line[:1] == "+" for line in node.hunks[0].lines):
        text = "\n".join([line[1:] for line in node.hunks[0].lines])
        return panel(header + clipped(source(text, language(node.path), 1), text), "diff created")
    lines = f"<pre>{_GAP.join(map(_hunk, node.hunks))}</pre>"
    long = sum(len(hunk.lines) for hunk in node.hunks) > LINES
    return panel(header + (f'<div class="clip">{lines}</div>' if long else lines), "diff")


def _hunk(hunk: Hunk) -> str:
    runs = [(sign, _unsigned(sign, lines)) for sign, lines in groupby(_escaped(hunk.lines), _sign)]
    for (before, taken), (after, put) in pairwise(runs):
        if before == "-" and after == "+":
            mark(taken, put)
    old, new = hunk.old_start, hunk.new_start
    placed = bool(old or new)
    parts: list[str] = []
    for sign, found in runs:
        start = old if sign == "-" else new
        parts += _written(sign, found, range(start, start + len(found)) if placed else repeat(""))
        old += len(found) if sign != "+" else 0
        new += len(found) if sign != "-" else 0
    return "".join(parts)


def _written(sign: str, lines: list[str], numbers: Iterable[int | str]) -> list[str]:
    tag = _TAGS[sign]
    return [f"<{tag}><i>{number} {sign}</i>{line}\n</{tag}>" for number, line in zip(numbers, lines, strict=False)]


def _escaped(lines: tuple[str, ...]) -> list[str]:
    """The lines made safe, all at once; what would end a line inside one is shown."""
    found = content("\n".join(lines).replace("\r", "␍")).split("\n")
    if len(found) == len(lines):
        return found
    return [content(line.replace("\r", "␍").replace("\n", "␊")) for line in lines]


def _sign(line: str) -> str:
    return line[0] if line[:1] in ("+", "-") else " "


def _unsigned(sign: str, lines: Iterable[str]) -> list[str]:
    return [line.removeprefix(sign) for line in lines]
