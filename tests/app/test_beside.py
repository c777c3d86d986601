"""The list beside a session: which sessions it holds, in which order, and what it does where there is no list."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.asking import NOW
from tests.app.browsing import Browsed, browsed
from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of, get
from tests.log_builder.builder import LogBuilder


def _logs() -> Iterator[LogBuilder]:
    """Six sessions, a day apart, by turns in two projects; the older, the more prompts."""
    for number in range(6):
        name = f"session-{number}"
        log = LogBuilder(
            session_id=name, seed=name, cwd=f"/home/dev/{'even' if number % 2 == 0 else 'odd'}",
            start=NOW - timedelta(days=number + 1),
        )  # fmt: skip
        for turn in range(number + 1):
            log.prompt(f"Question {turn} of {name}").assistant(log.text("Aye."))
        yield log


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsed]:
    with browsed(tmp_path_factory.mktemp("beside"), *_logs()) as site:
        yield site


def _keys(app: Browsed, key: str, asked: str = "") -> list[str]:
    page = app.get(f"/s/{key}/beside?{asked}").text
    assert re.findall(r'href="/s/([^/]+)/" aria-current="page"', page) == [key]
    return re.findall(r'href="/s/([^/]+)/"', page)


def test_it_is_the_list_that_one_came_from(app: Browsed) -> None:
    """With its filters and its order; without any, all sessions, the newest first."""
    names = [f"session-{number}" for number in range(6)]
    assert _keys(app, "session-2") == names
    assert _keys(app, "session-2", f"in={quote('sort=turns')}") == names[::-1]
    assert _keys(app, "session-2", f"in={quote('project=even')}") == names[::2]
    assert _keys(app, "session-2", "key=session-5&key=session-2&key=gone&key=session-5") == ["session-5", "session-2"]


@pytest.mark.parametrize(
    "asked", [f"in={quote('project=odd')}", "key=session-5", "in=%00%ff&key=%00", "in=" + "a=b%26" * 200]
)
def test_a_session_that_is_not_in_that_list_stands_in_the_list_of_all(app: Browsed, asked: str) -> None:
    assert len(_keys(app, "session-2", asked)) == 6


def test_only_the_nearest_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.app.session_query.SessionFinder.around.__defaults__", (3,))
    with browsed(tmp_path, *_logs()) as site:
        assert _keys(site, "session-0") == ["session-0", "session-1", "session-2"]
        assert _keys(site, "session-3") == ["session-2", "session-3", "session-4"]
        assert _keys(site, "session-5") == ["session-3", "session-4", "session-5"]


def test_without_an_index_the_session_can_be_read_all_the_same() -> None:
    with served(desk_of(demo_source())) as address:
        got = get(f"{address}/s/{STORM}/beside")
        assert (got.status, got.text.strip()) == (200, "")
        assert "sessions-beside" in get(f"{address}/s/{STORM}/").text
