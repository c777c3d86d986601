"""Going through sessions: the list beside the transcript, its keys, and that nothing moves under the reader."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import SETTLE
from tests.app.browser.windows import window
from tests.app.serving import served
from tests.app.sessions import demo_source
from tests.site.browser.tabs import PHONE
from tests.site.search.chromium import until
from unspool.app.context import AppContext
from unspool.store.sync import sync

WIDE = {"width": 1440, "height": 900}
LISTED = "#sessions-beside [aria-current]"
_SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo, synced."""
    archive = tmp_path_factory.mktemp("beside")
    sync(archive, (demo_source(),))
    with served(AppContext(archive, (demo_source(),))) as address:
        yield address


def _titles(page: Any) -> list[str]:
    found: list[str] = page.locator(".rows .title").all_text_contents()
    return found


def _current(page: Any) -> str:
    page.locator(LISTED).wait_for(state="attached")
    return str(page.locator(f"{LISTED} b").text_content())


def test_sessions_are_gone_through_by_keys_alone(browser: Any, app: str) -> None:
    """From the list into a session, through its neighbours in the list's own order, and back to the list."""
    with window(browser, app, viewport=WIDE) as page:
        page.goto(f"{app}/sessions?sort=cost")
        titles = _titles(page)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/*/")
        assert _current(page) == titles[0]
        for key, at in (("]", 1), ("J", 2), ("[", 1), ("K", 0)):
            with page.expect_navigation():
                page.keyboard.press(key)
            assert _current(page) == titles[at]
            assert page.locator("h1").text_content() == titles[at]
        page.keyboard.press("[")
        until(page, "document.querySelector('[data-say]').textContent === 'The first session of the list'")
        page.locator(".sessions-beside > p > a").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/sessions?sort=cost")


def test_the_list_is_hidden_and_that_is_remembered(browser: Any, app: str) -> None:
    """The neighbours are reached by keys all the same."""
    with window(browser, app, viewport=WIDE) as page:
        page.goto(f"{app}/sessions")
        titles = _titles(page)
        page.locator(".rows .title").nth(1).click()
        page.locator(LISTED).wait_for()
        page.keyboard.press("b")
        assert not page.locator("#sessions-beside").is_visible()
        page.reload()
        assert not page.locator("#sessions-beside").is_visible()
        with page.expect_navigation():
            page.keyboard.press("]")
        assert page.locator("h1").text_content() == titles[2]
        assert page.locator("#sessions-beside li").count() == 0
        page.get_by_role("button", name="Show beside").click()
        page.locator(LISTED).wait_for()


def test_another_tab_has_the_list_that_it_was_opened_from(browser: Any, app: str) -> None:
    with window(browser, app, viewport=WIDE) as page:
        page.goto(f"{app}/sessions?sort=title")
        titles = _titles(page)
        with page.context.expect_page() as opened:
            page.locator(".rows .title").nth(2).click(modifiers=["Control"])
        other = opened.value
        other.locator(LISTED).wait_for()
        assert other.locator("#sessions-beside b").all_text_contents() == titles
        assert _current(other) == titles[2]


def test_what_was_found_is_a_list_too(browser: Any, app: str) -> None:
    with window(browser, app, viewport=WIDE) as page:
        page.goto(f"{app}/search?q=the")
        link = page.locator('main a[href^="/s/"]').first
        link.click()
        page.locator(LISTED).wait_for()
        assert page.locator(".sessions-beside > p > a").get_attribute("href") == "/search?q=the"


@pytest.mark.parametrize("choice", ["on", "off"])
def test_nothing_moves_when_the_list_comes(browser: Any, app: str, choice: str) -> None:
    with window(browser, app, viewport=WIDE) as page:
        page.goto(f"{app}/sessions")
        page.evaluate(f"localStorage.setItem('unspool-beside', '{choice}')")
        page.add_init_script(_SHIFTS)
        page.locator(".rows .title").first.click()
        page.wait_for_url("**/s/*/")
        if choice == "on":
            page.locator(LISTED).wait_for()
        page.evaluate(SETTLE)
        assert page.evaluate("window.shifted") <= 0.02


def test_on_a_phone_there_is_a_way_back_to_the_list(browser: Any, app: str) -> None:
    with window(browser, app, viewport=PHONE) as page:
        page.goto(f"{app}/sessions?sort=cost")
        page.locator(".rows .title").first.click()
        page.wait_for_url("**/s/*/")
        assert not page.locator("#sessions-beside").is_visible()
        page.locator(".sessions-beside > p > a").click()
        page.wait_for_url("**/sessions?sort=cost")


def test_without_scripts_there_is_a_way_back_too(browser: Any, app: str) -> None:
    with window(browser, app, viewport=WIDE, java_script_enabled=False) as page:
        page.goto(f"{app}/sessions")
        page.locator(".rows .title").first.click()
        page.wait_for_url("**/s/*/")
        assert not page.locator(".sessions-beside button").is_visible()
        page.locator(".sessions-beside a").click()
        page.wait_for_url("**/sessions")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_it(browser: Any, app: str, scheme: str) -> None:
    axe = os.environ.get("UNSPOOL_AXE", "")
    if not Path(axe).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    with window(browser, app, viewport=WIDE, color_scheme=scheme, bypass_csp=True) as page:
        page.goto(f"{app}/sessions")
        page.locator(".rows .title").first.click()
        page.locator(LISTED).wait_for()
        page.add_script_tag(path=axe)
        page.evaluate(SETTLE)
        found = page.evaluate(
            "axe.run({ preload: false, resultTypes: ['violations'] }).then((told) => told.violations)"
        )
        assert [(one["id"], [node["html"][:120] for node in one["nodes"][:2]]) for one in found] == []
