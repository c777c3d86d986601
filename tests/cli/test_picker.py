"""Choosing one of many: the keys, the picture, and the numbered list where there is no terminal."""

import os
import pty
import sys
from collections.abc import Callable
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.cli.picker import Picker, PickerChoice, fit_width, keys, pick_one

CHOICES = [
    PickerChoice(("2026-03-01", "12 turns", "nets"), "Mend the net"),
    PickerChoice(("2026-03-02", "3 turns", "boats"), "Paint the boat"),
    PickerChoice(("2026-03-03", "1 turn", "nets"), "Sell \x1b[31mthe\x07 fish"),
]


def picked(*pressed: str) -> Picker:
    picker = Picker(CHOICES)
    for key in pressed:
        picker.press(key, 10)
    return picker


def test_arrows_move_and_stop_at_the_ends() -> None:
    """The mark moves with arrows, pages, home and end, and never leaves the list."""
    assert picked().chosen == 0
    assert picked("down").chosen == 1
    assert picked("up").chosen == 0
    assert picked("end", "down").chosen == 2
    assert picked("pagedown", "up").chosen == 1
    assert picked("end", "home").chosen == 0


def test_typing_narrows_by_every_word() -> None:
    """Each word must be found, in title, project or date, in any case; deleting widens again."""
    assert picked(*"NETS").shown == [0, 2]
    assert picked(*"nets mend").shown == [0]
    assert picked(*"03-02").shown == [1]
    assert picked(*"nets", "backspace").shown == [0, 2]
    assert picked(*"zzz").chosen is None
    assert picked(*"zzz", "clear").shown == [0, 1, 2]
    assert picked("down", "down", *"boat").chosen == 1


def test_the_picture_shows_what_is_marked_and_how_many_there_are() -> None:
    """The marked line stands out; titles cannot drive the terminal; columns line up."""
    lines = picked("down").lines(100, 10)
    assert "▸ 2026-03-02  3 turns   boats  Paint the boat" in lines[2]
    assert "3 of 3" in lines[-1]
    assert "\x07" not in "".join(lines)
    assert "\x1b[31m" not in "".join(lines)


@given(st.integers(1, 200), st.integers(1, 30), st.text(max_size=20))
def test_the_picture_fits_any_terminal(width: int, height: int, query: str) -> None:
    """No more lines than asked for, and the marked one among them."""
    picker = Picker([PickerChoice(("x",), f"Title {number} 船の絵") for number in range(50)])
    for letter in query:
        picker.press(letter, 10)
    picker.press("end", 10)
    lines = picker.lines(width, height)
    assert len(lines) <= height + 2
    assert picker.chosen is None or any("▸" in line or width < 4 for line in lines)


def test_wide_characters_are_cut_by_columns() -> None:
    """A text is cut to the columns it takes, not to its characters."""
    assert fit_width("船の絵を描く", 7) == "船の絵…"
    assert fit_width("short", 7) == "short"


def test_without_a_terminal_the_choices_are_numbered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list goes to standard error, the number comes from standard input."""
    monkeypatch.setattr(sys, "stdin", _Lines("2\n"))
    assert pick_one(CHOICES) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "   2  2026-03-02  3 turns   boats  Paint the boat" in said.err


@pytest.mark.parametrize("answer", ["", "\n"])
def test_no_answer_is_no_choice(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An end of input or an empty line chooses nothing."""
    monkeypatch.setattr(sys, "stdin", _Lines(answer))
    assert pick_one(CHOICES) is None


class _Lines:
    """A standard input that is no terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        return self._text


# --- keys of a real terminal ------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, int], list[str]]:
    """`typed(bytes, count)`: the names of so many keys that a terminal sends as these bytes."""

    def read_all(sent: bytes, count: int) -> list[str]:
        ours, theirs = pty.openpty()
        with open(theirs, "rb", buffering=0, closefd=True) as terminal:  # noqa: PTH123  a descriptor
            monkeypatch.setattr(sys, "stdin", terminal)
            found: list[str] = []
            with keys() as read:
                writer = Thread(target=os.write, args=(ours, sent))
                writer.start()
                found += [read() for _ in range(count)]
                writer.join()
        os.close(ours)
        return found

    return read_all


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
@pytest.mark.parametrize(
    ("sent", "names"),
    [
        (b"a", ["a"]),
        ("ü船".encode(), ["ü", "船"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOA\x1bOB", ["up", "down"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[F", ["pageup", "pagedown", "home", "end"]),
        (b"\r", ["enter"]),
        (b"\x7f\x15", ["backspace", "clear"]),
        (b"\x03", ["interrupt"]),
        (b"\x1b", ["escape"]),
        (b"\x1b[99;5u", [""]),
        (b"\x00", [""]),
    ],
)
def test_keys_have_names(sent: bytes, names: list[str], typed: Callable[[bytes, int], list[str]]) -> None:
    """What a terminal sends for a key is told by one name; what is no key is told as nothing."""
    assert typed(sent, len(names)) == names
