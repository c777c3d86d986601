"""Code, data, terminal output, tables and diffs as HTML boxes, in time linear in their length."""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby, pairwise, repeat, zip_longest
from operator import itemgetter
from string import ascii_letters, digits

from unspool.doc import Check, Checklist, Code, Diff, Fields, Hunk, Raw, Span, Table, Terminal
from unspool.render.html.elements import HtmlOptions, content, file_link
from unspool.render.html.prose import LONG_CELL
from unspool.tools.summary import language

LINES = 14
CHARACTERS = 1_200
_NUMBERS = tuple(map(str, range(10_000)))
_NOT_IN_LANGUAGE = re.compile(r"[^\w+#.-]", re.ASCII)
_WIDE = 400
"""Characters of a line that nobody would scroll along to its end."""


def _wide(text: str) -> str:
    """The class of a text that has a wide line, which is broken."""
    at, last = 0, len(text) - _WIDE
    while at <= last:
        at = text.rfind("\n", at, at + _WIDE) + 1
        if not at:
            return " wide"
    return ""


def _text_panel(inside: str, text: str, kind: str, caption: str = "", header: str = "") -> str:
    """A box around the markup of a text; `kind` are classes of its own, each of which begins with a space."""
    head = f"<header><span>{content(caption)}</span></header>" if caption else header
    if _is_long(text):
        return f'<div class="panel{kind}">{head}<div class="clip">{inside}</div></div>'
    return f'<div class="panel{kind}">{head}{inside}</div>'


def _is_long(text: str) -> bool:
    return len(text) > CHARACTERS or text.count("\n") >= LINES


def source_lines(text: str, language: str, start: int) -> str:
    """Lines of code; their numbers, unless they start at 0, stand in a column of their own."""
    # A line break right after <pre> would be swallowed.
    written = f"<pre><code{_language(language)}>{content(text)}</code></pre>"
    if not start:
        return written
    column = "\n".join(_numbers(start, start + text.count("\n") + 1))
    return f'<div class="numbered"><pre aria-hidden="true">{column}</pre>{written}</div>'


def _numbers(start: int, end: int) -> Iterable[str]:
    return _NUMBERS[start:end] if start > 0 and end <= len(_NUMBERS) else map(str, range(start, end))


def code_panel(node: Code) -> str:
    text = node.text.removesuffix("\n")
    kind = _wide(text) if not node.start or "\n" not in text else ""  # numbers stand beside lines that are not broken
    start = 0 if kind else node.start
    return _text_panel(source_lines(text, node.language, start), text, kind, node.caption)


def raw_panel(node: Raw) -> str:
    """Data as it stands in the log."""
    text = node.text
    return _text_panel(f"<pre><code>{content(text)}</code></pre>", text, f" raw{_wide(text)}", node.caption)


@lru_cache(maxsize=256)
def _language(language: str) -> str:
    name = _NOT_IN_LANGUAGE.sub("", language[:40])
    return f' class="language-{name}"' if name else ""


_STATES = {"open": "", "active": ' class="now"', "done": ' class="done"', "dropped": ' class="dropped"'}


def data_table(node: Table) -> str:
    """Rows under headings; a row may be longer or shorter than they are."""
    caption = f"<caption>{content(node.caption)}</caption>" if node.caption else ""
    width = max((len(row) for row in (node.headings, *node.rows)), default=0)
    head = _row("th", node.headings, width) if any(node.headings) else ""
    rows = "".join([_row("td", row, width) for row in node.rows])
    head = f"<thead>{head}</thead>" if head else ""
    return f'<div class="table"><table>{caption}{head}<tbody>{rows}</tbody></table></div>'


_LONG = ' class="long"'


def _row(tag: str, cells: tuple[str, ...], width: int) -> str:
    padded = (cell for cell, _ in zip_longest(cells, range(width), fillvalue=""))
    shown = [f"<{tag}{_LONG if len(cell) > LONG_CELL else ''}>{content(cell)}</{tag}>" for cell in padded]
    return f"<tr>{''.join(shown)}</tr>"


def field_list(node: Fields) -> str:
    """Names with values; a value of several lines keeps them."""
    items = [  # HTML ends each by itself
        f"<dt>{name if name.isidentifier() else content(name)}<dd>{_value(value)}" for name, value in node.items
    ]
    return f"<dl>{''.join(items)}</dl>" if items else ""


def _value(value: str) -> str:
    if "\n" not in value:
        return content(value)
    made = f"<pre><code>{content(value)}</code></pre>"
    return f'<div class="clip">{made}</div>' if _is_long(value) else made


def checklist_items(node: Checklist) -> str:
    """Things to do, each in its state."""
    caption = f'<p class="caption">{content(node.caption)}</p>' if node.caption else ""
    return f'{caption}<ul class="todo">{"".join(map(_check, node.items))}</ul>'


def _check(check: Check) -> str:
    note = f' <span class="note">{content(check.note)}</span>' if check.note else ""
    text = f"<s>{content(check.text)}</s>" if check.state == "dropped" else content(check.text)
    return f"<li{_STATES[check.state]}>{text}{note}</li>"


_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_COLOUR_NUMBERS = {name: at for at, name in enumerate((*_COLOURS, *(f"bright_{name}" for name in _COLOURS)))}
_SIXTEEN = (
    *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)),
    *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
    *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
)


def terminal_panel(node: Terminal) -> str:
    """The command, what it printed and how it ended."""
    command = f"<b>$ {content(node.command)}</b>\n" if node.command else ""
    spans = node.spans
    text = spans[0].text if len(spans) == 1 else node.text
    # The first line break after <pre> is not shown.
    swallowed = "\n" if not command and text[:1] in ("\n", "\r") else ""
    printed = f'<pre class="term">{swallowed}{command}{"".join(map(_span, spans))}</pre>'
    ended = f"exit {node.exit_code}" if node.exit_code is not None else ""
    return _text_panel(printed, text, f"{' error' if node.exit_code else ''}{_wide(text)}", ended)


def _span(span: Span) -> str:
    text = content(span.text)
    classes = _classes(span.fg, span.bg, (span.bold, span.dim, span.italic, span.underline, span.strike))
    return f'<span class="{classes}">{text}</span>' if classes and text else text


@lru_cache(maxsize=4096)
def _classes(fg: str, bg: str, flags: tuple[bool, ...]) -> str:
    colours = (f"{letter}{_number(colour)}" for letter, colour in (("f", fg), ("b", bg)) if _number(colour) is not None)
    named = (name for name, on in zip(("bold", "dim", "i", "u", "s"), flags, strict=True) if on)
    return " ".join((*colours, *named))


def _number(colour: str) -> int | None:
    """Which of the sixteen a colour is, or is nearest to; None for no colour."""
    if colour in _COLOUR_NUMBERS:
        return _COLOUR_NUMBERS[colour]
    if len(colour) != 7 or colour[0] != "#":
        return None
    try:
        wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    except ValueError:
        return None
    return min(range(16), key=lambda number: math.dist(_SIXTEEN[number], wanted))


_WORD = f"{ascii_letters}{digits}_&;"  # the last two so that no character written as `&lt;` is cut
_HEAD = 12  # characters by which a line is known again where it has moved
_IN_WORD = frozenset(_WORD)


def mark_changed_words(taken: list[str], put: list[str]) -> None:
    """Mark, in place, the words that differ between lines taken out and the lines put in for them."""
    free = dict(enumerate(put))
    begins = {line.lstrip()[:_HEAD]: number for number, line in reversed(free.items())}
    for number, line in enumerate(taken):
        other = begins.get(line.lstrip()[:_HEAD], number)
        other = other if other in free else number
        if other in free:
            taken[number], put[other] = mark_word_pair(line, free.pop(other))


def mark_word_pair(old: str, new: str) -> tuple[str, str]:
    """Two lines of escaped text with their differing words marked; as they are where little is common."""
    least = min(len(old), len(new)) // 3
    before = _alike(old, new)
    after = _alike(old[before:][::-1], new[before:][::-1]) if old[-1:] == new[-1:] else 0
    if before + after <= least:
        return old, new
    before, after = _whole_words(old, new, before, after)
    if len(old[:before].strip()) + after <= least:
        return old, new
    return _mark(old, before, after), _mark(new, before, after)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with, found by halving, so that most of the work is comparing slices."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _whole_words(old: str, new: str, before: int, after: int) -> tuple[int, int]:
    """The ends moved outwards so that they cut no word."""
    if old[before : before + 1] in _IN_WORD or new[before : before + 1] in _IN_WORD:
        before = len(old[:before].rstrip(_WORD))
    end, other = len(old) - after, len(new) - after
    if old[max(end - 1, 0) : end] in _IN_WORD or new[max(other - 1, 0) : other] in _IN_WORD:
        after = len(old[end:].lstrip(_WORD))
    return before, after


def _mark(line: str, before: int, after: int) -> str:
    end = len(line) - after
    return f"{line[:before]}<mark>{line[before:end]}</mark>{line[end:]}" if end > before else line


_GAP = '<span class="gap">⋯</span>'
_TAGS = {"-": "del", "+": "ins", " ": "span"}
_SIGNS, _FIRST = frozenset(_TAGS), itemgetter(0)


def diff_panel(node: Diff, options: HtmlOptions) -> str:
    """The file, how much changed, and the lines."""
    counts = f'<span class="num">{"new file · " if node.created else ""}+{node.added} −{node.removed}</span>'
    header = f"<header>{file_link(node.path, options)}{counts}</header>"
    if node.created and len(node.hunks) == 1 and all(line[:1] == "+" for line in node.hunks[0].lines):
        text = "\n".join([line[1:] for line in node.hunks[0].lines])
        return _text_panel(source_lines(text, language(node.path), 1), text, " diff created", header=header)
    lines = _GAP.join(map(_hunk, node.hunks))
    if sum(len(hunk.lines) for hunk in node.hunks) > LINES:
        return f'<div class="panel diff">{header}<div class="clip"><pre>{lines}</pre></div></div>'
    return f'<div class="panel diff">{header}<pre>{lines}</pre></div>'


def _hunk(hunk: Hunk) -> str:
    lines = _escaped(hunk.lines)
    if "" in lines or not _SIGNS.issuperset(map(_FIRST, lines)):
        lines = [line if line[:1] in _SIGNS else f" {line}" for line in lines]
    runs = [(sign, [line[1:] for line in run]) for sign, run in groupby(lines, _FIRST)]
    for (before, taken), (after, put) in pairwise(runs):
        if before == "-" and after == "+":
            mark_changed_words(taken, put)
    old, new = hunk.old_start, hunk.new_start
    placed = bool(old or new)
    parts: list[str] = []
    for sign, found in runs:
        start, tag = (old if sign == "-" else new), _TAGS[sign]
        numbers = _numbers(start, start + len(found)) if placed else repeat("")
        lines = [f"<i>{number} {sign}</i>{line}\n" for number, line in zip(numbers, found, strict=False)]
        parts.append(f"<{tag}>{''.join(lines)}</{tag}>")
        old += len(found) if sign != "+" else 0
        new += len(found) if sign != "-" else 0
    return "".join(parts)


def _escaped(lines: tuple[str, ...]) -> list[str]:
    """The lines made safe, all at once; what would end a line inside one is shown."""
    found = content("\n".join(lines).replace("\r", "␍")).split("\n")
    if len(found) == len(lines):
        return found
    return [content(line.replace("\r", "␍").replace("\n", "␊")) for line in lines]
