"""Terminal output as styled runs of inert text, in time linear in its length.

Colours and attributes become styles. Every other escape sequence is removed, every other control
character is shown as its picture, and characters that reorder text are spelled out. A carriage return
overwrites its line, as a progress bar means it to; a backspace takes back a character.
"""

import re
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from unspool.doc import Span
from unspool.tools.sgr import PLAIN, Style, after

_SGR = re.compile(r"\x1b\[([0-9:;]*+)m")
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PASSIVE = bytes((9, 10, *range(32, 127)))
_BODY = r"[^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\|\x9c)"
_ESCAPE = re.compile(
    r"(?!\x1b\[[0-9:;]*+m)(?:"
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"  # control sequences, torn ones too
    rf"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]){_BODY}"  # titles, links, device strings
    r"|\x1b[ -/]*+[0-~]?"  # character sets, modes, and an escape that leads nowhere
    r")"
)
_AFTER = lru_cache(maxsize=4096)(after)
_CONTROLS: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\b\t\n\r\x1b"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0)),
    **{code: f"<U+{code:04X}>" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def spans(text: str) -> tuple[Span, ...]:
    """The text as runs of one style each."""
    if not _active(text):
        return (Span(text),) if text else ()
    text = _inert(text)
    if "\x1b" not in text:
        return (Span(text),) if text else ()
    return _styled(text)


def plain(text: str) -> str:
    """The text of the spans, without their styles."""
    return _SGR.sub("", _inert(text)) if _active(text) else text


def _active(text: str) -> bool:
    """Whether anything in the text is more than text; most has nothing, which is found out fast."""
    if text.isprintable():
        return False
    return bool(text.encode().translate(None, _PASSIVE)) if text.isascii() else _ACTIVE.search(text) is not None


def _inert(text: str) -> str:
    """The text with nothing active left but the codes for styles."""
    if "\r" in text:
        text = re.sub(r"\r++\n", "\n", text)
    text = _ESCAPE.sub("", text).translate(_CONTROLS)
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
    style = PLAIN
    runs = [(style, first)]
    for code, words in zip(rest[::2], rest[1::2], strict=True):
        style = after(style, code) if len(code) > 32 else _AFTER(style, code)
        if words:
            runs.append((style, words))
    return _merged(runs)


def _merged(runs: list[tuple[Style, str]]) -> tuple[Span, ...]:
    found = (style.span("".join(text for _, text in group)) for style, group in groupby(runs, key=itemgetter(0)))
    return tuple(span for span in found if span.text)
