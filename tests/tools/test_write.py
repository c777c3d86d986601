"""Whole files written."""

from tests.tools.calls import called
from unspool import tools
from unspool.doc import Code, Diff, Hunk

FILE = {"file_path": "a.py", "content": "x\ny\n"}


def test_a_new_file_is_all_plus() -> None:
    call = called("Write", FILE, "File created successfully", detail={"type": "create", "structuredPatch": []})
    assert tools.changes(call) == (Diff("a.py", (Hunk(0, 1, ("+x", "+y")),), 2, 0, True),)
    assert (tools.describe(call).summary, tools.describe(call).outcome) == ("Write a.py", "new · +2 −0")


def test_a_file_written_again_shows_what_changed() -> None:
    detail = {"type": "update", "originalFile": "x\nz\n", "structuredPatch": []}
    call = called("Write", FILE, "", detail=detail)
    assert tools.changes(call) == (Diff("a.py", (Hunk(1, 1, (" x", "-z", "+y")),), 1, 1),)
    assert tools.describe(call).outcome == "+1 −1"


def test_a_file_written_again_whose_old_text_is_unknown_is_shown_whole_and_counts_nothing() -> None:
    call = called("Write", FILE, "The file a.py has been updated.")
    assert tools.changes(call) == ()
    assert (tools.describe(call).outcome, tools.describe(call).children) == (
        "2 lines",
        (Code("x\ny\n", "python", "a.py"),),
    )


def test_a_file_that_is_still_to_be_written_is_shown_as_new() -> None:
    fold = tools.describe(called("Write", FILE, None))
    assert (fold.outcome, fold.tone) == ("no answer · new · +2 −0", "quiet")
