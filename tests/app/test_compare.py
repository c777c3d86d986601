"""The page that compares a session with another, or with a branch of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.browsing import Browsed, browsed
from tests.figures.test_compare import attempt
from tests.log_builder.builder import LogBuilder


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Browsed]:
    left = LogBuilder(session_id="left-it", seed="left", cwd="/home/dev/lamp")
    left.prompt("First").assistant(left.text("One"))
    fork = left.last
    left.prompt("Forgotten").assistant(left.text("Two")).rewind(fork).prompt("Kept").assistant(left.text("Three"))
    logs = (attempt("one-lamp", "/home/dev/lamp", "oil"), attempt("two-lamp", "/srv/lamp", "gas"), left)
    with browsed(tmp_path, *logs) as served:
        yield served


def test_two_sessions_stand_beside_each_other_from_where_they_part(app: Browsed) -> None:
    page = app.get("/s/one-lamp/compare?with=two-lamp")
    assert page.status == 200
    assert "Both have 1 prompt in common, the last: Build a lamp" in page.said
    assert "With oil" in page.said
    assert "With gas" in page.said
    assert "light = ' gas '" in page.said  # the word that differs is marked
    assert page.text.count('class="change"') == 1


def test_a_branch_is_compared_with_the_live_conversation(app: Browsed) -> None:
    page = app.get("/s/left-it/compare?branch=1")
    assert page.status == 200
    assert "Kept" in page.said
    assert "Forgotten" in page.said


@pytest.mark.parametrize(
    "where", ["", "?with=one-lamp", "?with=nobody", "?branch=9", "?branch=x", "?with=two-lamp&branch=3"]
)
def test_what_cannot_be_compared_is_said(app: Browsed, where: str) -> None:
    assert app.get(f"/s/one-lamp/compare{where}").status == 404
