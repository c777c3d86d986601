"""Terminal output as styled runs of inert text: SGR codes interpreted, in time linear in its length."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from unspool.doc import Span

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_LEVELS = (0, 95, 135, 175, 215, 255)
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strike",)}
_SWITCHES: dict[int, dict[str, Any]] = {
    **{code: {name: True} for code, name in _ON.items()},
    **{code: dict.fromkeys(names, False) for code, names in _OFF.items()},
}
_EXTENDED = {38, 48, 58}


class TerminalStyle(NamedTuple):
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


PLAIN = TerminalStyle()


def apply_sgr(style: TerminalStyle, parameters: str) -> TerminalStyle:
    """The style once the parameters of one SGR sequence have been obeyed."""
    if parameters in {"", "0"}:
        return PLAIN
    codes = iter(parameters.split(";"))
    for code in codes:
        style = _joined(style, code) if ":" in code else _obeyed(style, _number(code), codes)
    return style


def _obeyed(style: TerminalStyle, code: int, rest: Iterator[str]) -> TerminalStyle:
    if code == 0:
        return PLAIN
    if code in _SWITCHES:
        return style._replace(**_SWITCHES[code])
    if code in _EXTENDED:
        return _coloured(style, code, _extended(rest))
    return _simple(style, code)


def _simple(style: TerminalStyle, code: int) -> TerminalStyle:
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
        numbers = [_number(next(rest, "-")) for _ in range(3)]
        return "#" + "".join(f"{one:02x}" for one in numbers) if all(0 <= one <= 255 for one in numbers) else ""
    return ""


def _joined(style: TerminalStyle, code: str) -> TerminalStyle:
    """One code with its own parameters, in the spelling with colons."""
    first, *rest = code.split(":")
    number = _number(first)
    if number == 4:
        return style._replace(underline=rest[0] != "0")
    if number not in _EXTENDED:
        return style
    if _number(rest[0]) == 2 and len(rest) >= 5:
        del rest[1]  # a colour space, usually empty, may stand before the three values
    return _coloured(style, number, _extended(iter(rest)))


def _coloured(style: TerminalStyle, code: int, colour: str) -> TerminalStyle:
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


def _number(code: str) -> int:
    """A parameter as a number; an empty one is 0, one that no terminal knows is -1."""
    if not code:
        return 0
    return int(code) if len(code) <= 4 and code.isascii() and code.isdigit() else -1


_SGR = re.compile(r"\x1b\[([0-9:;]*+)m")
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PLAIN = bytes((9, 10, *range(32, 127)))
_SEQUENCE = r"[0-?]*+[ -/]*+[@-~]?"  # control sequences, torn ones too
_BODY = r"[^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # titles, links, device strings
_ESCAPE = re.compile(  # each way begins with a character of its own, by which it is found fast
    r"\x1b(?!\[[0-9:;]*+m)(?:"
    rf"\[{_SEQUENCE}|[\]PX^_]{_BODY}"
    r"|[ -/]*+[0-~]?"  # character sets, modes, and an escape that leads nowhere
    rf")|\x9b{_SEQUENCE}|\x90{_BODY}|\x98{_BODY}|\x9d{_BODY}|\x9e{_BODY}|\x9f{_BODY}"
)
_AFTER = lru_cache(maxsize=4096)(apply_sgr)
_CONTROLS: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\b\t\n\r\x1b"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0)),
    **{code: f"<U+{code:04X}>" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def styled_spans(text: str) -> tuple[Span, ...]:
    """The text as runs of one style each."""
    if special := _active(text):
        text = _inert(text, special)
        if "\x1b" in text:
            return _styled(text)
    return (Span(text),) if text else ()


def strip_ansi(text: str) -> str:
    """The text of the spans, without their styles."""
    special = _active(text)
    return _SGR.sub("", _inert(text, special)) if special else text


def special_characters(text: str) -> str:
    """What is left of a text without the ASCII that can be seen, tabs and line breaks; nothing where that can be seen
    too. Bytes are looked through faster than characters, and what is left is little."""
    if text.isprintable():
        return ""
    left = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not left:
        return ""
    special = left.decode("utf-8", "surrogatepass")
    return "" if special.isprintable() else special


def _active(text: str) -> str:
    """The special characters of a text where anything of it is more than text; most has nothing."""
    special = special_characters(text)
    return special if special and _ACTIVE.search(special) is not None else ""


def _inert(text: str, special: str) -> str:
    """The text with nothing active left but the codes for styles."""
    if "\r" in special:
        text = re.sub(r"\r++\n", "\n", text)
    text = _ESCAPE.sub("", text)
    if _CONTROL.search(special) is not None:
        text = text.translate(_CONTROLS)
    if "\b" in text:
        text = "\n".join(_taken_back(line) if "\b" in line else line for line in text.split("\n"))
    if "\r" in text:
        text = "\n".join(_overwritten(line) if "\r" in line else line for line in text.split("\n"))
    return text


def _overwritten(line: str) -> str:
    """The last text that stood on the line, in the style it had there."""
    parts = line.split("\r")
    last = max((number for number, part in enumerate(parts) if _SGR.sub("", part)), default=0)
    before = (code[0] for part in parts[:last] for code in _SGR.finditer(part))
    return "".join((*before, *parts[last:]))


def _taken_back(line: str) -> str:
    kept: list[str] = []
    visible: list[int] = []
    for piece in re.findall(r"\x1b\[[0-9:;]*+m|.", line, re.DOTALL):
        if piece == "\b":
            if visible:
                kept[visible.pop()] = ""
            continue
        if len(piece) == 1:
            visible.append(len(kept))
        kept.append(piece)
    return "".join(kept)


def _styled(text: str) -> tuple[Span, ...]:
    first, *rest = _SGR.split(text)
    shown = style = PLAIN
    run = [first]
    spans: list[Span] = []
    for code, words in zip(rest[::2], rest[1::2], strict=True):
        style = apply_sgr(style, code) if len(code) > 32 else _AFTER(style, code)
        if not words:
            continue
        if style == shown:
            run.append(words)
            continue
        spans.append(shown.span("".join(run)))
        shown, run = style, [words]
    spans.append(shown.span("".join(run)))
    return tuple(spans) if spans[0].text else tuple(spans[1:])
