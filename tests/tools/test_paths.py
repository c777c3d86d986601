"""File names for readers."""

import pytest

from unspool.tools import summary


@pytest.mark.parametrize(
    ("path", "cwd", "short"),
    [
        ("/p/src/app.py", "/p", "src/app.py"),
        ("/p/src/app.py", "/p/", "src/app.py"),
        ("/p2/app.py", "/p", "/p2/app.py"),
        ("/p", "/p", "."),
        ("/p/", "/p", "."),
        ("/p//", "/p", "."),
        ("app.py", "/p", "app.py"),
        ("/app.py", "/", "/app.py"),
        ("/app.py", "", "/app.py"),
        ("C:\\p\\a.py", "C:\\p", "a.py"),
        ("", "/p", ""),
    ],
)
def test_a_path_is_shortened_to_what_lies_below_the_folder(path: str, cwd: str, short: str) -> None:
    assert summary.shorten_path(path, cwd) == short


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("/a/b.py", "python"),
        ("B.TSX", "typescript"),
        ("/x/Makefile", "makefile"),
        ("C:\\x\\y.rs", "rust"),
        ("notes", ""),
        ("", ""),
        ("/dir.py/file", ""),
    ],
)
def test_the_language_follows_from_the_name(path: str, language: str) -> None:
    assert summary.language(path) == language
