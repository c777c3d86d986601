"""The page of a change's story: its sessions in order, each with a link; and the changes that have one."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.browsing import Browsed, browsed
from tests.store.library.test_change_story import PULL, harbour


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Browsed]:
    with browsed(tmp_path, *harbour()) as served:
        yield served


def test_a_story_leads_to_its_sessions(app: Browsed) -> None:
    page = app.get(f"/story?of={quote(PULL, safe='')}")
    assert page.status == 200
    places = [page.text.index(f'href="/s/{name}/"') for name in ("tried", "begun", "opened")]
    assert places == sorted(places)
    assert "tried the same, committed nothing" in page.said
    assert "/s/other/" not in page.text


def test_changes_are_offered_and_sessions_lead_to_theirs(app: Browsed) -> None:
    listed = app.get("/story")
    assert f"/story?of={quote(PULL, safe='/')}" in listed.text
    assert "The story of PR #12" in app.get("/s/opened/").said
    assert "The story of granite" in app.get("/s/begun/").said
    assert "The story of main" not in app.get("/s/tried/").said


@pytest.mark.parametrize("of", ["nothing", "main", "%00", "granite"])
def test_a_change_that_nobody_or_too_many_made_is_not_found(app: Browsed, of: str) -> None:
    assert app.get(f"/story?of={of}").status == 404


def test_of_several_projects_one_is_chosen(app: Browsed) -> None:
    assert "Build a lamp" in app.get("/story?of=granite&project=/home/dev/lamp").said


def test_a_session_that_touched_files_leads_to_those_of_its_project(app: Browsed) -> None:
    assert 'href="/files?path=/home/dev/quay/"' in app.get("/s/begun/").text
    assert "Files of the project" not in app.get("/s/opened/").said
    assert "quay.py" in app.get("/files?path=/home/dev/quay/").said
