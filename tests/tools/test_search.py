"""Files and text looked for."""

from typing import Any

import pytest

from tests.tools.calls import called
from unspool import tools
from unspool.doc import Code, Fields, Span, Terminal


@pytest.mark.parametrize(
    ("answer", "detail", "outcome"),
    [
        ("a.py\nb.py", {"filenames": ["a.py", "b.py"], "numFiles": 2, "durationMs": 4200}, "2 files · 4.2 s"),
        ("a.py", {"filenames": ["a.py"], "numFiles": 1, "truncated": True, "totalMatches": 400}, "400 files · cut"),
        ("No files found", {"filenames": [], "numFiles": 0}, "0 files"),
        ("No files found", None, "0 files"),
        ("a.py\nb.py\n", None, "2 files"),
    ],
)
def test_names_found_are_counted(answer: str, detail: Any, outcome: str) -> None:
    fold = tools.describe(called("Glob", {"pattern": "*.py", "path": "src"}, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("Glob *.py in src", outcome)


def test_names_found_are_listed() -> None:
    assert tools.describe(called("Glob", {"pattern": "*"}, "a\nb")).children == (Code("a\nb"),)


@pytest.mark.parametrize(
    ("asked", "answer", "detail", "outcome"),
    [
        ({}, "", {"mode": "files_with_matches", "numFiles": 3, "filenames": ["a", "b", "c"]}, "3 files"),
        ({}, "", {"mode": "content", "content": "a:1:x\na:2:x", "numLines": 2}, "2 matches"),
        ({"-A": 2}, "", {"mode": "content", "content": "a:1:x\na-2-y", "numLines": 2}, "2 lines"),
        ({}, "", {"mode": "count", "content": "a:5", "numMatches": 5, "numFiles": 1}, "5 matches in 1 file"),
        ({}, "Found 2 files\na\nb", None, "2 files"),
        ({}, "No matches found", None, "0 matches"),
        ({}, "a:1:x", None, "1 match"),
    ],
)
def test_text_found_is_counted(asked: dict[str, Any], answer: str, detail: Any, outcome: str) -> None:
    fold = tools.describe(called("Grep", {"pattern": "x", **asked}, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("Grep x", outcome)


def test_text_found_is_shown_with_how_it_was_looked_for() -> None:
    fold = tools.describe(called("Grep", {"pattern": "x", "glob": "*.py"}, "a:1:x"))
    assert fold.children == (Fields((("glob", "*.py"),)), Terminal((Span("a:1:x"),)))


def test_entries_of_a_folder_are_counted_without_the_folder_itself() -> None:
    fold = tools.describe(called("LS", {"path": "/p"}, "- /p/\n  - a\n  - b/\n    - c\n"))
    assert (fold.summary, fold.outcome) == ("LS /p", "3 entries")
