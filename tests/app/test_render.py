"""What is said above every page: sources that are gone, a sync that runs or failed, no room, a closed archive."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.app import serving
from tests.app.asking import Site, harbour, shop
from tests.app.serving import served
from tests.store.index.synced import kept
from unspool.app.background_sync import SyncState
from unspool.app.context import AppContext
from unspool.app.server import create_app
from unspool.store.index.database import Index

PAGES = ("/", "/sessions", "/projects", "/search", "/stats", "/live", "/settings", "/marks/shop", "/nothing")
IDLE = SyncState()
SYNCING = SyncState("syncing", 12_000_000, 500_000_000)


class Standing:
    """A background that stands as it is told to."""

    def __init__(self, state: SyncState) -> None:
        self.state = state


@contextmanager
def standing(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: SyncState = IDLE,
    read_only: bool = False,
) -> Iterator[Site]:
    """The app over two sessions, as if the sync behind it stood so."""
    archive = folder / "archive" if (folder / "archive").exists() else kept(folder, shop(), harbour())

    def made(context: AppContext) -> object:
        app = create_app(context)
        app.state.background, app.state.read_only = Standing(state), read_only
        return app

    monkeypatch.setattr(serving, "create_app", made)
    with served(AppContext(archive, [folder / "source"])) as address:
        yield Site(address)


def banner(text: str) -> str:
    found = re.search(r'<div class="banner".*?</div>', text, re.DOTALL)
    return found[0] if found else ""


def unfinished(folder: Path) -> None:
    """As if no sync had come to its end since the index was made."""
    with Index.open(kept(folder, shop(), harbour())) as index:
        index.note("synced", "")


def test_all_is_well_and_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch, SyncState("done", round=3)) as app:
        for page in PAGES:
            assert banner(app.get(page).text) == '<div class="banner" data-banner data-round="3"></div>', page


def test_a_source_that_is_gone_is_said_on_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch) as app:
        (tmp_path / "source").rename(tmp_path / "elsewhere")
        for page in (*PAGES, "/banner"):
            assert f"{tmp_path / 'source'} is not there. What was kept of it is shown." in banner(app.get(page).text), (
                page
            )


def test_an_index_that_is_being_made_is_said_with_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfinished(tmp_path)
    with standing(tmp_path, monkeypatch, SYNCING) as app:
        for page in PAGES:
            said = banner(app.get(page).text)
            assert "Reading logs: 12 MB of 500 MB. Sessions that are missing come as they are read." in said, page
            assert ('value="2"' in said, "data-busy" in said) == (True, True), page
        assert "2 sessions, so far" in app.get("/").said


@pytest.mark.parametrize(
    ("state", "said"), [(SYNCING, True), (SyncState("syncing", 1000, 2000), False)], ids=["much", "little"]
)
def test_of_later_syncs_only_long_ones_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: SyncState, said: bool
) -> None:
    with standing(tmp_path, monkeypatch, state) as app:
        found = banner(app.get("/").text)
        assert ("Reading logs" in found, "data-busy" in found) == (said, False)
        assert "2 sessions, all kept" in app.get("/").said


def test_a_sync_that_failed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SyncState("failed", failure="No room is left for <b>it</b>. It is tried again in 5 seconds.")
    with standing(tmp_path, monkeypatch, failed) as app:
        said = banner(app.get("/search").text)
        assert 'role="alert"' in said
        assert "The last sync failed: No room is left for &lt;b&gt;it&lt;/b&gt;. It is tried again" in said


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5_000_000))
    with standing(tmp_path, monkeypatch) as app:
        assert f"The disk of {tmp_path / 'archive'} is full: 5.0 MB are left." in banner(app.get("/stats").text)


def test_an_archive_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.access
    with standing(tmp_path, monkeypatch) as app:
        archive = tmp_path / "archive"
        monkeypatch.setattr(os, "access", lambda path, mode: real(path, mode) and Path(path) != archive)
        assert f"{archive} cannot be written to: nothing new is kept" in banner(app.get("/").text)
        assert app.get("/sessions").status == 200


def test_reading_only_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch, SYNCING, read_only=True) as app:
        said = banner(app.get("/").text)
        assert "Started with --read-only" in said
        assert "Reading logs" not in said
