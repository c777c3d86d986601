"""Context files in the app: the list, a file with its versions, what a session ran under, and the search."""

from collections.abc import Iterator

import pytest

from tests.app.asking import Site
from tests.app.serving import served
from tests.context_scene import ContextScene, ago
from unspool.app.context import AppContext


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextScene]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(home))
        patched.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
        scene = ContextScene(home)
        harbour = scene.project("harbour")
        scene.ran("crane", harbour, ago(3), session_id="crane")
        path = scene.put(harbour / "CLAUDE.md", "<script>alert(1)</script> Never at night.\n", ago(9))
        scene.put(scene.agent / "settings.json", "{}", ago(1))
        scene.sync()
        scene.put(path, "Use the derrick.\n", ago(1))
        scene.sync()
        yield scene


@pytest.fixture(scope="module")
def app(place: ContextScene) -> Iterator[Site]:
    with served(AppContext(place.archive, [place.agent])) as address:
        yield Site(address)


def test_all_are_listed_or_those_of_a_kind(app: Site, place: ContextScene) -> None:
    path = str(place.project("harbour") / "CLAUDE.md")
    every, settings = app.get("/context-files"), app.get("/context-files", kind="settings")
    assert path in every.said
    assert "2 versions" in every.said
    assert path not in settings.said
    assert app.get("/context-files", kind="<odd>").status == 200
    assert "/context-files" in app.get("/files").links("context-files")


def test_a_file_is_shown_version_by_version_with_what_changed_and_its_sessions(app: Site, place: ContextScene) -> None:
    page = app.get("/context-files", path=str(place.project("harbour") / "CLAUDE.md"))
    assert page.status == 200
    assert "Version 2" in page.said
    assert "Please mend the crane" in page.said
    assert "by time" in page.said
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text
    assert app.get("/context-files", path="/nowhere/CLAUDE.md").status == 404


def test_a_session_leads_to_what_it_ran_under(app: Site, place: ContextScene) -> None:
    assert "Ran under 1 context file" in app.get("/s/crane/").said
    page = app.get("/s/crane/context-files")
    assert "version 1 of 2" in page.said
    assert "changed since" in page.said
    assert "not known" in page.said  # the settings are younger than the session


def test_the_search_shows_files_after_sessions_and_the_palette_has_them_too(app: Site) -> None:
    both, only = app.get("/search", q="night OR crane"), app.get("/search", q="kind:instructions night")
    assert both.said.index("Please mend the crane") < both.said.index("Context files 1")
    assert "no longer so" in only.said
    assert "In context files only" in only.said
    (file,) = app.json("/search.json", q="derr")["context_files"]
    assert (file["kind"], file["current"]) == ("instructions", True)
    assert file["href"].startswith("/context-files?path=")
