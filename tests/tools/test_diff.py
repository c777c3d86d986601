"""Diffs: exact, bounded, and taken from a kept patch where it can be trusted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waiting import ending
from unspool.doc import Diff, Hunk
from unspool.tools import diff

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "}", " d"]), max_size=40).map("\n".join)


def split(text: str) -> list[str]:
    """The lines of a file; what ends the last is no line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def applied(lines: list[str], change: Diff) -> list[str]:
    """The lines after a change, with everything it says about the lines before checked."""
    result: list[str] = []
    at = 0
    for hunk in change.hunks:
        old = [line[1:] for line in hunk.lines if line[0] != "+"]
        new = [line[1:] for line in hunk.lines if line[0] != "-"]
        start = hunk.old_start - bool(old)
        result += lines[at:start]
        assert hunk.new_start - bool(new) == len(result)
        assert lines[start : start + len(old)] == old
        result += new
        at = start + len(old)
    return result + lines[at:]


@given(TEXTS, TEXTS)
def test_applying_a_diff_to_the_first_text_gives_the_second(before: str, after: str) -> None:
    assert applied(split(before), diff.diff_of_texts("f", before, after)) == split(after)


@given(TEXTS, TEXTS)
def test_added_and_removed_are_the_signed_lines(before: str, after: str) -> None:
    found = diff.diff_of_texts("f", before, after)
    lines = [line for hunk in found.hunks for line in hunk.lines]
    assert found.added == sum(line.startswith("+") for line in lines)
    assert found.removed == sum(line.startswith("-") for line in lines)
    assert found.added - found.removed == len(split(after)) - len(split(before))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert diff.diff_of_texts("f", text, text) == Diff("f", (), 0, 0)


@given(TEXTS, TEXTS)
def test_texts_too_large_to_compare_still_give_a_true_diff(before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "_LARGEST", 0)
        found = diff.diff_of_texts("f", before, after)
    assert applied(split(before), found) == split(after)


@given(TEXTS, TEXTS)
def test_common_lines_that_begin_no_match_still_give_a_true_diff(before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "_THOROUGH", 0)
        patch.setattr(diff, "_COMMON", 1)
        found = diff.diff_of_texts("f", before, after)
    assert applied(split(before), found) == split(after)


def test_a_change_has_three_lines_of_context() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    found = diff.diff_of_texts("f", before, before.replace("10\n", "ten\n"))
    assert found.hunks == (Hunk(7, 7, (" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13")),)


def test_changes_far_from_each_other_are_hunks_of_their_own() -> None:
    before = "".join(f"{number}\n" for number in range(1, 41))
    found = diff.diff_of_texts("f", before, before.replace("5\n", "five\n", 1).replace("30\n", "thirty\n"))
    assert [(hunk.old_start, hunk.new_start) for hunk in found.hunks] == [(2, 2), (27, 27)]


def test_a_new_file_is_all_plus() -> None:
    found = diff.diff_of_texts("f", "", "a\nb\n", created=True)
    assert found == Diff("f", (Hunk(0, 1, ("+a", "+b")),), 2, 0, True)


def test_an_emptied_file_is_all_minus() -> None:
    assert diff.diff_of_texts("f", "a\nb", "") == Diff("f", (Hunk(1, 0, ("-a", "-b")),), 0, 2)


def test_a_newline_lost_at_the_end_changes_the_last_line() -> None:
    assert diff.diff_of_texts("f", "a\nb\n", "a\nb").hunks == (Hunk(1, 1, (" a", "-b", "+b")),)


def test_other_line_ends_are_no_change_of_every_line() -> None:
    assert diff.diff_of_texts("f", "a\r\nb\r\n", "a\nc\n").hunks == (Hunk(1, 1, (" a", "-b", "+c")),)


def test_line_ends_are_shown_where_nothing_else_changed() -> None:
    assert diff.diff_of_texts("f", "a\r\nb\r\n", "a\nb\r\n").hunks == (Hunk(1, 1, ("-a\r", "+a", " b\r")),)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a", "a\n", (" a", "+")),
        ("a\nb", "a\nc", (" a", "-b", "+c")),
        ("a\n", "", ("-a",)),
        ("", "a\nb\n", ("+a", "+b")),
        ("a\n", "b\n", ("-a", "+b")),
    ],
)
def test_a_fragment_is_compared_without_knowing_its_place(before: str, after: str, lines: tuple[str, ...]) -> None:
    assert diff.diff_of_fragments("f", before, after).hunks == (Hunk(0, 0, lines),)


def test_a_kept_patch_is_taken_as_it_is() -> None:
    hunk = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": [" a", "+b", "\\ No newline at end"]}
    assert diff.diff_of_patch("f", [hunk]) == Diff("f", (Hunk(3, 3, (" a", "+b")),), 1, 0)


@pytest.mark.parametrize(
    "patch",
    [
        None,
        [],
        "patch",
        [{}],
        [None],
        [{"oldStart": 1, "newStart": 1}],
        [{"oldStart": "1", "newStart": 1, "lines": []}],
        [{"oldStart": 1, "newStart": True, "lines": []}],
        [{"oldStart": 1, "newStart": 1, "lines": ["no sign"]}],
        [{"oldStart": 1, "newStart": 1, "lines": ["+a", 5]}],
        [{"oldStart": 1, "newStart": 1, "lines": ["+a", ""]}],
    ],
)
def test_a_patch_of_another_shape_is_no_patch(patch: Any) -> None:
    assert diff.diff_of_patch("f", patch) is None


@pytest.mark.parametrize("lines", [["x", "y"], ["x"], [str(number) for number in range(150)]])
def test_repetitive_texts_of_a_few_thousand_lines_are_compared_to_the_end(lines: list[str]) -> None:
    before = "\n".join((lines * 9000)[:9000])
    after = "\n".join(line for line in ([*lines, "new"] * 9000)[:9000])
    with ending():
        found = diff.diff_of_texts("f", before, after)
    assert applied(split(before), found) == split(after)
