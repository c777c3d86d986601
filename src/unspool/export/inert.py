"""Untrusted text made safe to print: no control sequence of a log reaches a terminal or a document."""

from unspool.tools.ansi import plain


def inert(text: str) -> str:
    """The text without terminal controls; a lone carriage return ends a line, so that it can hide nothing."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain(text)


def lines(text: str) -> list[str]:
    """The inert lines of a text; its last newline begins no line of its own."""
    found = inert(text).split("\n")
    if len(found) > 1 and not found[-1]:
        found.pop()
    return found


def one_line(text: str) -> str:
    """The inert text on one line."""
    return " ".join(inert(text).split())


def row(text: str) -> str:
    """The inert text as one line, its spaces kept."""
    return inert(text.rstrip("\r\n")).replace("\n", " ")
