"""Edits of files."""

import pytest

from tests.tools.calls import called
from unspool import tools
from unspool.doc import Diff, Fields, Hunk, Prose, Span, Terminal

PIECE = {"file_path": "a.py", "old_string": "b", "new_string": "B"}
PATCH = [{"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 1, "lines": [" a", "-b", "+B", " c"]}]


def test_the_kept_patch_is_shown_with_its_counts() -> None:
    fold = tools.describe(called("Edit", PIECE, "updated", detail={"structuredPatch": PATCH, "userModified": True}))
    assert (fold.summary, fold.outcome) == ("Edit a.py", "+1 −1 · changed by the user")
    assert fold.children == (Diff("a.py", (Hunk(7, 7, (" a", "-b", "+B", " c")),), 1, 1),)


def test_without_a_patch_the_kept_file_is_compared() -> None:
    call = called("Edit", PIECE, "updated", detail={"originalFile": "a\nb\nc\nb\n", "structuredPatch": []})
    assert tools.changes(call) == (Diff("a.py", (Hunk(1, 1, (" a", "-b", "+B", " c", " b")),), 1, 1),)


def test_replacing_everywhere_changes_every_place() -> None:
    call = called("Edit", {**PIECE, "replace_all": True}, "updated", detail={"originalFile": "b\nc\nb\n"})
    assert [(found.added, found.removed) for found in tools.changes(call)] == [(2, 2)]
    assert tools.describe(call).children[0] == Fields((("replace all", "yes"),))


def test_a_line_replaced_by_nothing_leaves_no_empty_line() -> None:
    call = called("Edit", {**PIECE, "new_string": ""}, "updated", detail={"originalFile": "a\nb\nc\n"})
    assert tools.changes(call) == (Diff("a.py", (Hunk(1, 1, (" a", "-b", " c")),), 0, 1),)


def test_without_the_file_the_pieces_are_compared() -> None:
    call = called("Edit", PIECE, "updated", detail={"structuredPatch": "torn"})
    assert tools.changes(call) == (Diff("a.py", (Hunk(0, 0, ("-b", "+B")),), 1, 1),)


def test_an_edit_of_nothing_makes_a_file() -> None:
    call = called("Edit", {"file_path": "a.py", "old_string": "", "new_string": "x\ny\n"}, "made")
    assert tools.changes(call) == (Diff("a.py", (Hunk(0, 1, ("+x", "+y")),), 2, 0, True),)


def test_many_edits_are_applied_one_after_the_other() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]
    call = called("MultiEdit", {"file_path": "f", "edits": edits}, "ok", detail={"originalFileContents": "a\n"})
    assert tools.changes(call) == (Diff("f", (Hunk(1, 1, ("-a", "+c")),), 1, 1),)


def test_many_edits_of_an_unknown_file_are_pieces_of_one_diff() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    found = tools.changes(called("MultiEdit", {"file_path": "f", "edits": edits}, "ok"))
    assert found == (Diff("f", (Hunk(0, 0, ("-a", "+b")), Hunk(0, 0, ("-c",))), 1, 2),)


@pytest.mark.parametrize("state", ["error", "rejected", "interrupted", "unanswered"])
def test_what_was_not_done_is_shown_but_is_no_change(state: str) -> None:
    call = called("Edit", PIECE, "no", error=True, state=state)
    assert tools.changes(call) == ()
    assert tools.describe(call).children[0] == Diff("a.py", (Hunk(0, 0, ("-b", "+B")),), 1, 1)


def test_a_refused_edit_tells_what_the_user_said() -> None:
    text = "The tool use was rejected. To tell you how to proceed, the user said:\nkeep b"
    fold = tools.describe(called("Edit", PIECE, text, error=True, state="rejected", feedback="keep b"))
    assert (fold.outcome, fold.tone) == ("rejected · +1 −1", "warn")
    assert fold.children[1:] == (
        Terminal((Span("The tool use was rejected. To tell you how to proceed, the user said:\n"),)),
        Prose("keep b"),
    )
