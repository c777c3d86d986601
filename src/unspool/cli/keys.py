"""Single keys from a terminal, as names: up, down, enter, escape, or the character that was typed."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    "\x03": "interrupt",
    "\x04": "escape",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "clear",
    "\x0e": "down",
    "\x10": "up",
    "\t": "down",
}
_FINALS = {"A": "up", "B": "down", "H": "home", "F": "end", "5~": "pageup", "6~": "pagedown", "Z": "up"}
_WINDOWS = {"H": "up", "P": "down", "I": "pageup", "Q": "pagedown", "G": "home", "O": "end"}
_ESCAPE_WAIT = 0.05
"""Seconds in which the rest of an arrow key follows its escape."""

if sys.platform == "win32":
    import msvcrt

    @contextmanager
    def keys() -> Iterator[Callable[[], str]]:
        """A function that waits for the next key."""

        def read() -> str:
            typed = msvcrt.getwch()
            if typed in ("\x00", "\xe0"):
                return _WINDOWS.get(msvcrt.getwch(), "")
            return _named(typed)

        yield read

else:
    import select
    import termios
    import tty

    @contextmanager
    def keys() -> Iterator[Callable[[], str]]:
        """A function that waits for the next key; the terminal is as it was when the block ends."""
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        tty.setraw(descriptor, termios.TCSADRAIN)
        mode = termios.tcgetattr(descriptor)
        mode[1] |= termios.OPOST  # what is drawn still begins each line at the left
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        try:
            yield lambda: _pressed(descriptor)
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    def _pressed(descriptor: int) -> str:
        first = os.read(descriptor, 1)
        if not first:
            return "escape"
        if first == b"\x1b":
            return _sequence(descriptor)
        while len(first) < 4 and not _whole(first):
            first += os.read(descriptor, 1)
        return _named(first.decode("utf-8", "ignore"))

    def _sequence(descriptor: int) -> str:
        """An arrow or another key that is sent as several characters; a lone escape where none follow."""
        typed = ""
        while len(typed) < 6 and select.select([descriptor], [], [], _ESCAPE_WAIT)[0]:
            typed += os.read(descriptor, 1).decode("latin-1")
            if (typed[-1].isalpha() and typed != "O") or typed[-1] == "~":
                break
        return _FINALS.get(typed[1:], "") if typed else "escape"


def _whole(typed: bytes) -> bool:
    try:
        typed.decode()
    except UnicodeDecodeError:
        return False
    return True


def _named(typed: str) -> str:
    return _NAMES.get(typed, typed if typed.isprintable() else "")
