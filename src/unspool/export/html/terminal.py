"""Terminal output in sixteen colours by class name, so that a page needs no style of its own and themes apply."""

from functools import lru_cache

from unspool.doc import Span, Terminal
from unspool.export.html.escape import content
from unspool.export.html.panel import clipped, panel

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_NUMBERS = {name: number for number, name in enumerate((*_NAMES, *(f"bright_{name}" for name in _NAMES)))}
_SIXTEEN = (
    *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)),
    *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
    *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
)


def terminal(node: Terminal) -> str:
    """The command, what it printed and how it ended."""
    command = f"<b>$ {content(node.command)}</b>\n" if node.command else ""
    text = node.text
    swallowed = (
        "\n" if not command and text[:1] in ("\n", "\r") else ""
    )  # the first line break after <pre> is not shown
    printed = f'<pre class="term">{swallowed}{command}{"".join(map(_span, node.spans))}</pre>'
    ended = f"<header><span>exit {node.exit_code}</span></header>" if node.exit_code is not None else ""
    return panel(ended + clipped(printed, text), "error" if node.exit_code else "")


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
    if colour in _NUMBERS:
        return _NUMBERS[colour]
    if len(colour) != 7 or colour[0] != "#":
        return None
    try:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    except ValueError:
        return None
    return min(range(16), key=lambda number: _distance(_SIXTEEN[number], (red, green, blue)))


def _distance(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
