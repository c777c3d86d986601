"""Files read."""

from typing import Any

import pytest

from tests.tools.calls import called, image
from unspool import tools
from unspool.doc import Code, Fields, Fold, Picture, Prose, Span, Terminal


def read(answer: str, detail: Any = None, **more: Any) -> Fold:
    return tools.describe(called("Read", {"file_path": "src/app.py"}, answer, detail=detail, **more))


def test_a_whole_file_is_code_in_its_language() -> None:
    detail = {"type": "text", "file": {"content": "a\nb", "numLines": 2, "startLine": 1, "totalLines": 2}}
    fold = read("     1→a\n     2→b", detail)
    assert (fold.summary, fold.outcome) == ("Read src/app.py", "2 lines")
    assert fold.children == (Code("a\nb", "python", start=1),)


def test_a_part_of_a_file_tells_of_how_many_lines_it_is() -> None:
    file = {"content": "x", "numLines": 50, "startLine": 10, "totalLines": 1300, "truncatedByTokenCap": True}
    fold = read("", {"type": "text", "file": file})
    assert fold.outcome == "50 lines of 1,300 · cut"
    assert fold.children == (Code("x", "python", start=10),)


@pytest.mark.parametrize("mark", ["→", "\t"])
def test_line_numbers_are_taken_from_the_text_where_there_is_no_twin(mark: str) -> None:
    fold = read(f"    41{mark}a\n    42{mark}\n    43{mark}b\n\n<system-reminder>Mind this</system-reminder>")
    assert fold.outcome == "3 lines"
    assert fold.children == (
        Code("a\n\nb", "python", start=41),
        Terminal((Span("\n<system-reminder>Mind this</system-reminder>"),)),
    )


def test_text_without_numbers_is_shown_as_it_is() -> None:
    assert read("plain").children == (Terminal((Span("plain"),)),)


def test_a_picture_tells_its_sides_and_size() -> None:
    file = {"base64": "cGlj", "type": "image/jpeg", "originalSize": 96_800}
    sides = {"dimensions": {"originalWidth": 1200, "originalHeight": 800}}
    fold = read("", {"type": "image", "file": {**file, **sides}})
    assert fold.outcome == "image · 1200 × 800 · 97 kB"
    assert fold.children == (Picture("image/jpeg", "cGlj", label="src/app.py"),)


def test_a_picture_that_the_answer_holds_is_shown_once() -> None:
    fold = read("", {"type": "image", "file": {"base64": "cGlj", "type": "image/png"}}, images=(image("cGlj"),))
    assert fold.children == (Picture("image/png", "cGlj"),)


def test_a_document_is_kept_with_its_type() -> None:
    fold = read("", {"type": "pdf", "file": {"base64": "cGRm", "originalSize": 1000}})
    assert (fold.outcome, fold.children) == ("PDF · 1.0 kB", (Picture("application/pdf", "cGRm", label="src/app.py"),))


def test_pages_of_a_document_are_counted() -> None:
    fold = read("", {"type": "parts", "file": {"count": 3, "originalSize": 1000, "outputDir": "/tmp/x"}})
    assert (fold.outcome, fold.children) == ("3 pages · 1.0 kB", (Fields((("pages in", "/tmp/x"),)),))


def test_cells_of_a_notebook_are_shown_with_their_outputs() -> None:
    cells = [
        {"cellType": "code", "source": "print(1)", "cell_id": "c1", "outputs": [{"text": "1"}]},
        {"cell_type": "markdown", "source": ["# a\n", "b"]},
    ]
    fold = read("", {"type": "notebook", "file": {"cells": cells}})
    assert fold.outcome == "2 cells"
    assert fold.children == (Code("print(1)", "python", "cell c1"), Terminal((Span("1"),)), Prose("# a\nb"))


def test_a_file_that_did_not_change_says_so() -> None:
    assert read("", {"type": "file_unchanged", "file": {"filePath": "src/app.py"}}).outcome == "unchanged"
