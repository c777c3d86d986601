"""What is above every page keeps itself up to date, and brings new sessions along."""

from pathlib import Path
from typing import Any

import pytest

from tests.app import serving
from tests.app.asking import harbour, shop
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened
from tests.app.serving import served
from tests.site.browser.tabs import PHONE, too_wide
from tests.site.search.chromium import until
from tests.store.index.synced import kept
from unspool.app.background_sync import SyncState
from unspool.app.context import AppContext
from unspool.app.server import create_app
from unspool.store.index.database import Index
from unspool.store.sync import sync

SYNCING = SyncState("syncing", 12_000_000, 500_000_000)


class Standing:
    """A background that stands as it is told to."""

    state = SYNCING


@pytest.fixture
def background(monkeypatch: pytest.MonkeyPatch) -> Standing:
    """How the sync stands behind whatever is served."""
    standing = Standing()

    def made(context: AppContext) -> Any:
        app = create_app(context)
        app.state.background, app.state.read_only = standing, False
        return app

    monkeypatch.setattr(serving, "create_app", made)
    return standing


def test_sessions_appear_as_they_are_read(browser: Any, tmp_path: Path, background: Standing) -> None:
    """On the page that is open, where a session's own page says how far it is, too."""
    archive = kept(tmp_path, shop())
    with Index.open(archive) as index:
        index.note("synced", "")
    with served(AppContext(archive, [tmp_path / "source"])) as address, opened(browser, address) as window:
        reading = window.page.context.new_page()
        reading.goto(f"{address}/s/shop/")
        page = window.go("/")
        page.evaluate("window.same = true")
        assert page.locator("h1").inner_text() == "1 session, so far"
        reading.get_by_text("Reading logs: 12 MB of 500 MB").wait_for()
        harbour().write(tmp_path / "source")
        sync(archive, [tmp_path / "source"])
        background.state = SyncState("done", 500_000_000, 500_000_000, round=1)
        page.get_by_text("Tides and lighthouses").wait_for()
        until(page, "document.querySelector('h1').textContent === '2 sessions, all kept'")
        until(page, "document.querySelector('.banner .note') === null")
        assert page.evaluate("window.same")


def test_it_fits_a_phone_and_breaks_no_rule(browser: Any, tmp_path: Path, background: Standing) -> None:
    background.state = SyncState("failed", failure="No room is left for " + "/a/very/long/path" * 20)
    script, gone = axe(), tmp_path / "gone"
    with (
        served(AppContext(kept(tmp_path, shop()), [tmp_path / "source", gone])) as address,
        opened(browser, address, viewport=PHONE, bypass_csp=True) as window,
    ):
        page = window.go("/sessions")
        assert page.locator(".banner .note").count() == 2
        assert too_wide(page) == ""
        assert faults(page, script) == []
