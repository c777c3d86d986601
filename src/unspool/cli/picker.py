"""Choosing one of many in the terminal: type to narrow, arrows to move, Enter to take.

Drawn on standard error, so that standard output stays what the command prints. Without a terminal the choices are
numbered and the number is read from standard input.
"""

import os
import shutil
import sys
from collections.abc import Sequence

import click
import msgspec

from unspool.cli.keys import keys
from unspool.export.inert import one_line

_NUMBERED = 10
"""How many are listed where there is no terminal and nobody says how many."""
_FEWEST, _MOST = 5, 20
_HELP = "type to filter · ↑↓ move · Enter open · Esc leave"


class Choice(msgspec.Struct, frozen=True):
    """One line to choose: columns that line up, then the title, which takes the room that is left."""

    columns: tuple[str, ...]
    title: str

    def holds(self, words: list[str]) -> bool:
        text = " ".join((*self.columns, self.title)).casefold()
        return all(word in text for word in words)


class Picker:
    """What is shown and marked; knows nothing of terminals."""

    def __init__(self, choices: Sequence[Choice]) -> None:
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
        drawn = [f"\x1b[1m?\x1b[0m {fitted(self.query, width - 4)}▏"]
        for place, number in enumerate(self.shown[first : first + rows], first):
            line = fitted(("▸ " if place == self.at else "  ") + row(self._choices[number], widths), width - 1)
            drawn.append(f"\x1b[36m{line}\x1b[0m" if place == self.at else line)
        if not self.shown:
            drawn.append("  nothing fits")
        drawn.append(f"\x1b[2m{fitted(f'  {len(self.shown)} of {len(self._choices)} · {_HELP}', width - 1)}\x1b[0m")
        return drawn


def pick(choices: Sequence[Choice], limit: int | None = None) -> int | None:
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


def _numbered(choices: Sequence[Choice], total: int) -> int | None:
    widths = column_widths(choices)
    for number, choice in enumerate(choices, 1):
        click.echo(f"{number:>4}  {row(choice, widths)}", err=True)
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


def column_widths(choices: Sequence[Choice]) -> list[int]:
    return [max(map(len, column)) for column in zip(*(choice.columns for choice in choices), strict=True)]


def row(choice: Choice, widths: list[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(choice.columns, widths, strict=True))
    return "  ".join([*cells, one_line(choice.title)])


def fitted(text: str, width: int) -> str:
    """The text in at most so many columns of the terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"
