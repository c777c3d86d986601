"""Notebooks changed."""

from typing import Any

import pytest

from tests.tools.calls import called
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Code, Diff, Fields, Hunk

CELL = {"notebook_path": "n.ipynb", "new_source": "one\n2"}
CHANGED = (Diff("n.ipynb", (Hunk(1, 1, (" one", "-two", "+2")),), 1, 1),)
KEPT = EXAMPLES["NotebookEdit"][2]


@pytest.mark.parametrize(
    ("cell", "detail"),
    [
        ({"cell_id": "c1"}, {"old_source": "one\ntwo"}),
        ({"cell_id": "c1"}, KEPT),
        ({"cell_id": "cell-0"}, KEPT),
        ({"cell_number": 0}, KEPT),
    ],
)
def test_a_cell_is_compared_with_what_it_was(cell: dict[str, Any], detail: dict[str, Any]) -> None:
    assert tools.changes(called("NotebookEdit", {**CELL, **cell}, "ok", detail=detail)) == CHANGED


def test_a_cell_put_in_is_all_plus() -> None:
    fold = tools.describe(called("NotebookEdit", {**CELL, "edit_mode": "insert"}, "ok"))
    assert (fold.summary, fold.outcome) == ("NotebookEdit n.ipynb", "+2 −0")


def test_a_cell_taken_out_is_all_minus() -> None:
    call = called("NotebookEdit", {**CELL, "edit_mode": "delete"}, "ok", detail={"old_source": "a\nb"})
    assert [(found.added, found.removed) for found in tools.changes(call)] == [(0, 2)]


def test_a_cell_whose_old_source_is_unknown_counts_nothing() -> None:
    call = called("NotebookEdit", {**CELL, "cell_number": 4}, "ok", detail={"language": "julia"})
    assert tools.changes(call) == ()
    assert tools.describe(call).children == (Fields((("cell_number", "4"),)), Code("one\n2", "julia"))
