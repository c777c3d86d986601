"""What axe-core, which checks pages for people who read them in other ways, says of every kind of page."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import SETTLE
from tests.site.browser.tabs import DESKTOP, PHONE, tab
from tests.thorough import thorough

KINDS = {
    "master index": "index.html",
    "project index": "*/index.html",
    "session index": "*/57024000-*/index.html",
    "page": "*/57024000-*/page-001.html",
    "second page": "*/57024000-*/page-002.html",
    "branch": "*/57024000-*/branch-1.html",
    "agent": "*/57024000-*/agent-*.html",
}


@pytest.fixture(scope="module")
def axe() -> str:
    """The script, which scripts/test installs where there is npm."""
    path = os.environ.get("UNSPOOL_AXE", "")
    if not Path(path).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    return path


DARK = [pytest.param(kind, "dark", PHONE, marks=() if at % 3 == 0 else thorough) for at, kind in enumerate(KINDS)]
"""The colours are those of one sheet of style, so a few pages show what is wrong with them."""


@pytest.mark.parametrize(("kind", "scheme", "viewport"), [*((kind, "light", DESKTOP) for kind in KINDS), *DARK])
def test_nothing_is_found(
    browser: Any, archive: Path, axe: str, kind: str, scheme: str, viewport: dict[str, int]
) -> None:
    with tab(browser, viewport=viewport, color_scheme=scheme, bypass_csp=True) as watched:
        page = watched.open(next(archive.glob(KINDS[kind])))
        page.keyboard.press("o")
        assert _broken(page, axe) == []


@pytest.mark.parametrize("key", ["?", "/"])
def test_nothing_is_found_in_a_dialog(browser: Any, storm: Path, axe: str, key: str) -> None:
    with tab(browser, bypass_csp=True) as watched:
        page = watched.open(storm / "page-001.html")
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        assert _broken(page, axe) == []


def test_nothing_is_found_on_a_phone(browser: Any, storm: Path, axe: str) -> None:
    with tab(browser, viewport=PHONE, bypass_csp=True) as watched:
        page = watched.open(storm / "page-001.html")
        page.locator("[data-do=rail]").click()
        assert _broken(page, axe) == []


def _broken(page: Any, axe: str) -> list[str]:
    """Rules broken, each with the first places that break it; moving things come to rest before. Nothing is loaded."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=axe)
    page.evaluate(SETTLE)
    found = page.evaluate("axe.run({ preload: false, resultTypes: ['violations'] }).then((told) => told.violations)")
    return [f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found]
