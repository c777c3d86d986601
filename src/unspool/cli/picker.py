"""Choosing one of many in the terminal."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click
import msgspec

from unspool.render.sanitize import one_line

_KEYS = {"enter": "\r\n", "escape": "\x1b\x04", "interrupt": "\x03", "backspace": "\x7f\x08", "clear": "\x15"}
_NAMES = {typed: name for name, keys in {**_KEYS, "down": "\x0e\t", "up": "\x10"}.items() for typed in keys}
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
        while len(first) < 4 and not first.decode("utf-8", "ignore"):  # a character of several bytes
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


def _named(typed: str) -> str:
    return _NAMES.get(typed, typed if typed.isprintable() else "")


_NUMBERED = 10
"""How many are listed where there is no terminal and nobody says how many."""
_FEWEST, _MOST = 5, 20
_HELP = "type to filter · ↑↓ move · Enter open · Esc leave"


class PickerChoice(msgspec.Struct, frozen=True):
    """One line to choose: columns that line up, then the title, which takes the room that is left."""

    columns: tuple[str, ...]
    title: str

    def holds(self, words: list[str]) -> bool:
        text = " ".join((*self.columns, self.title)).casefold()
        return all(word in text for word in words)


class Picker:
    """What is shown and marked; knows nothing of terminals."""

    def __init__(self, choices: Sequence[PickerChoice]) -> None:
        self._choices = choices
        self.query = ""
        self.at = 0
        self.shown = list(range(len(choices)))

    def press(self, key: str, page: int) -> None:
        """Take one key that does not end the choosing."""
        last = max(0, len(self.shown) - 1)
        moves = {"up": self.at - 1, "down": self.at + 1, "pageup": self.at - page, "pagedown": self.at + page,
                 "home": 0, "end": last}  # fmt: skip
        if key in moves:
            self.at = min(max(0, moves[key]), last)
        elif key == "backspace":
            self._narrow(self.query[:-1])
        elif key == "clear":
            self._narrow("")
        elif len(key) == 1:
            self._narrow(self.query + key)

    def _narrow(self, query: str) -> None:
        self.query, self.at = query, 0
        words = query.casefold().split()
        self.shown = [number for number, choice in enumerate(self._choices) if choice.holds(words)]

    @property
    def chosen(self) -> int | None:
        return self.shown[self.at] if self.shown else None

    def lines(self, width: int, height: int) -> list[str]:
        """The picture: the query, a window of choices around the marked one, and how many there are."""
        rows = max(1, min(height, len(self.shown) or 1))
        first = min(max(0, self.at - rows // 2), max(0, len(self.shown) - rows))
        widths = column_widths(self._choices)
        drawn = [f"\x1b[1m?\x1b[0m {fit_width(self.query, width - 4)}▏"]
        for place, number in enumerate(self.shown[first : first + rows], first):
            mark = "▸ " if place == self.at else "  "
            line = fit_width(mark + picker_row(self._choices[number], widths), width - 1)
            drawn.append(f"\x1b[36m{line}\x1b[0m" if place == self.at else line)
        if not self.shown:
            drawn.append("  nothing fits")
        drawn.append(f"\x1b[2m{fit_width(f'  {len(self.shown)} of {len(self._choices)} · {_HELP}', width - 1)}\x1b[0m")
        return drawn


def pick_one(choices: Sequence[PickerChoice], limit: int | None = None) -> int | None:
    """The number of the one that was chosen, from 0; None where nobody chose."""
    if limit:
        choices = choices[:limit]
    if not choices:
        return None
    if sys.stdin.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return _interactive(Picker(choices))
    return _numbered(choices[: limit or _NUMBERED], len(choices))


def _interactive(picker: Picker) -> int | None:
    height = 0
    with keys() as read:
        while True:
            size = shutil.get_terminal_size()
            page = max(_FEWEST, min(_MOST, size.lines - 4))
            drawn = picker.lines(size.columns, page)
            _draw(f"\r\x1b[{height}A\x1b[J" if height else "\r\x1b[J", "\n".join(drawn))
            height = len(drawn) - 1
            key = read()
            if key in ("enter", "escape", "interrupt"):
                _draw(f"\r\x1b[{height}A\x1b[J" if height else "\r\x1b[J", "")
                break
            picker.press(key, page)
    if key == "interrupt":
        raise click.Abort
    return picker.chosen if key == "enter" else None


def _draw(*parts: str) -> None:
    sys.stderr.write("".join(parts))
    sys.stderr.flush()


def _numbered(choices: Sequence[PickerChoice], total: int) -> int | None:
    widths = column_widths(choices)
    for number, choice in enumerate(choices, 1):
        click.echo(f"{number:>4}  {picker_row(choice, widths)}", err=True)
    if len(choices) < total:
        click.echo(f"      … and {total - len(choices)} more (--limit {total})", err=True)
    click.echo("Number: ", err=True, nl=False)
    answer = sys.stdin.readline().strip()
    if not answer:
        click.echo("", err=True)
        return None
    if not answer.isdecimal() or not 1 <= int(answer) <= len(choices):
        raise click.BadParameter(f"{one_line(answer)!r} is no number from 1 to {len(choices)}.")
    return int(answer) - 1


def column_widths(choices: Sequence[PickerChoice]) -> list[int]:
    return [max(map(len, column)) for column in zip(*(choice.columns for choice in choices), strict=True)]


def picker_row(choice: PickerChoice, widths: list[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(choice.columns, widths, strict=True))
    return "  ".join([*cells, one_line(choice.title)])


def fit_width(text: str, width: int) -> str:
    """The text in at most so many columns of the terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"
