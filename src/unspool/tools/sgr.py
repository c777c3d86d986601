"""The styles a terminal's SGR codes ask for: colours by name, by number and by value, and the attributes.

Both spellings are read: `38;2;r;g;b` and `38:2::r:g:b`. Text asked to be invisible stays visible.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from unspool.doc import Span

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_LEVELS = (0, 95, 135, 175, 215, 255)
_SWITCHES: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"inverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"inverse": False},
    29: {"strike": False},
}
_EXTENDED = {38, 48, 58}


class Style(NamedTuple):
    """How text looks from here on."""

    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    inverse: bool = False

    def span(self, text: str) -> Span:
        fg, bg = (self.bg or "black", self.fg or "white") if self.inverse else (self.fg, self.bg)
        return Span(text, fg, bg, self.bold, self.dim, self.italic, self.underline, self.strike)


PLAIN = Style()


def after(style: Style, parameters: str) -> Style:
    """The style once the parameters of one SGR sequence have been obeyed."""
    if parameters in {"", "0"}:
        return PLAIN
    codes = iter(parameters.split(";"))
    for code in codes:
        style = _joined(style, code) if ":" in code else _obeyed(style, _number(code), codes)
    return style


def _obeyed(style: Style, code: int, rest: Iterator[str]) -> Style:
    if code == 0:
        return PLAIN
    if code in _SWITCHES:
        return style._replace(**_SWITCHES[code])
    if code in _EXTENDED:
        return _coloured(style, code, _extended(rest))
    return _simple(style, code)


def _simple(style: Style, code: int) -> Style:
    """The sixteen named colours, and the default ones."""
    ten, unit = divmod(code, 10)
    if ten not in {3, 4, 9, 10} or unit > 9 or (unit > 7 and code not in {39, 49}):
        return style
    name = "" if unit == 9 else ("bright_" if ten > 4 else "") + _NAMES[unit]
    return style._replace(fg=name) if ten in {3, 9} else style._replace(bg=name)


def _extended(rest: Iterator[str]) -> str:
    kind = _number(next(rest, ""))
    if kind == 5:
        return _indexed(_number(next(rest, "-")))
    if kind == 2:
        return _mixed([next(rest, "-") for _ in range(3)])
    return ""


def _joined(style: Style, code: str) -> Style:
    """One code with its own parameters, in the spelling with colons."""
    first, *rest = code.split(":")
    number = _number(first)
    if number == 4:
        return style._replace(underline=rest[0] != "0")
    if number not in _EXTENDED:
        return style
    kind = _number(rest[0])
    colour = _indexed(_number(rest[1])) if kind == 5 and len(rest) > 1 else ""
    if kind == 2 and len(rest) >= 4:
        # A colour space, usually empty, may stand before the three values.
        colour = _mixed(rest[2:5] if len(rest) >= 5 else rest[1:4])
    return _coloured(style, number, colour)


def _coloured(style: Style, code: int, colour: str) -> Style:
    if not colour or code == 58:
        return style
    return style._replace(fg=colour) if code == 38 else style._replace(bg=colour)


def _indexed(number: int) -> str:
    """One of the 256 colours."""
    if not 0 <= number <= 255:
        return ""
    if number < 16:
        return ("bright_" if number > 7 else "") + _NAMES[number % 8]
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    red, green, blue = (_LEVELS[(number - 16) // step % 6] for step in (36, 6, 1))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _mixed(values: list[str]) -> str:
    numbers = [_number(value) for value in values]
    return "#" + "".join(f"{number:02x}" for number in numbers) if all(0 <= n <= 255 for n in numbers) else ""


def _number(code: str) -> int:
    """A parameter as a number; an empty one is 0, one that no terminal knows is -1."""
    if not code:
        return 0
    return int(code) if len(code) <= 4 and code.isascii() and code.isdigit() else -1
