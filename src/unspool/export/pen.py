"""Styled text for a terminal, or the same text without styles; whatever it is given, it makes inert first."""

from functools import lru_cache

from rich.color import ColorParseError, ColorSystem
from rich.style import Style

from unspool.doc import Span, Tone
from unspool.export.inert import inert

TONES: dict[Tone, str] = {"plain": "", "quiet": "dim", "good": "green", "bad": "red", "warn": "yellow"}


class Pen:
    """Writes pieces of a line; every piece of untrusted text goes through it."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str = "") -> str:
        text = inert(text)
        if not self.colour or not style or not text:
            return text
        return Style.parse(style).render(text, color_system=ColorSystem.TRUECOLOR)

    def span(self, span: Span, text: str) -> str:
        """A piece of a span's text in the span's style."""
        text = inert(text)
        if not self.colour or not text:
            return text
        return _style(span).render(text, color_system=ColorSystem.TRUECOLOR)


def _style(span: Span) -> Style:
    return _made(span.fg, span.bg, (span.bold, span.dim, span.italic, span.underline, span.strike))


@lru_cache(maxsize=1024)
def _made(fg: str, bg: str, attributes: tuple[bool, ...]) -> Style:
    bold, dim, italic, underline, strike = (flag or None for flag in attributes)
    shape = Style(bold=bold, dim=dim, italic=italic, underline=underline, strike=strike)
    try:
        return shape + Style(color=fg or None, bgcolor=bg or None)
    except ColorParseError:
        return shape
