"""The palette in a real browser: opened by keys, asked as one types, used without a mouse."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.asking import Site, harbour, shop, site
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import Window
from tests.app.browser.windows import opened as window
from tests.site.browser.tabs import DESKTOP, PHONE, too_wide
from tests.site.search.chromium import until


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("palette"), shop(), harbour()) as opened:
        yield opened


def asked(opened: Window, text: str, path: str = "/stats") -> Any:
    """The page with the palette open and answered."""
    page = opened.go(path)
    page.keyboard.press("Control+k")
    page.keyboard.insert_text(text)
    until(page, "document.querySelectorAll('.search [role=option]').length > 0")
    return page


@pytest.mark.parametrize("path", ["/", "/search", "/stats", "/files", "/s/shop/", "/s/shop/page-001.html"])
def test_a_key_opens_it_on_every_page(browser: Any, app: Site, path: str) -> None:
    with window(browser, app.address) as opened:
        page = opened.go(path)
        page.locator("h1, h2").first.click()
        for key in ("Control+k", "Meta+k", "/"):
            page.keyboard.press(key)
            assert page.locator("dialog.search[open] input").evaluate("(one) => one === document.activeElement")
            page.keyboard.press("Escape")
            assert page.locator("dialog.search[open]").count() == 0


def test_enter_leads_to_the_very_block(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "quicksil")
        assert page.locator("[role=option][aria-selected=true] mark").inner_text() == "quicksilver"
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/shop/page-002.html#msg-*")
        until(page, "document.getElementById(location.hash.slice(1)).getBoundingClientRect().top < innerHeight")


def test_arrows_choose_round_and_round(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "checkout")
        number = page.locator("[role=option]").count()
        chosen = "document.querySelector('.search input').getAttribute('aria-activedescendant')"
        assert page.evaluate(chosen) == "search-hit-0"
        page.keyboard.press("ArrowUp")
        assert page.evaluate(chosen) == f"search-hit-{number - 1}"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(chosen) == "search-hit-1"
        assert page.locator("[aria-selected=true]").count() == 1


def test_only_the_last_question_is_waited_for(browser: Any, app: Site) -> None:
    """A question that was overtaken is given up, and nothing of it is shown."""
    with window(browser, app.address) as opened:
        left: list[str] = []
        opened.page.route("**/search.json?q=check*", lambda route: None)  # never answered
        opened.page.on("requestfailed", lambda request: left.append(request.url))
        page = opened.go("/stats")
        page.keyboard.press("Control+k")
        with page.expect_request("**/search.json?q=check*"):
            page.keyboard.insert_text("check")
        page.locator(".search input").fill("quicksilver")
        until(page, "document.querySelectorAll('.search mark').length === 1")
        assert "check" in [url.partition("q=")[2] for url in left]
        assert page.locator(".search mark").inner_text() == "quicksilver"


def test_control_enter_leads_to_all_results(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "checkout")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/search?q=checkout")


def test_recent_searches_are_offered_and_can_be_forgotten(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "quicksilver")
        page.keyboard.press("Enter")
        page.wait_for_url("**/page-002.html#*")
        page.keyboard.press("Control+k")
        assert page.locator(".search [role=option]").all_inner_texts() == ["quicksilver", "Forget these"]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        until(page, "document.querySelectorAll('.search mark').length === 1")
        page.locator(".search input").fill("")
        page.get_by_role("option", name="Forget these").click()
        until(page, "document.querySelectorAll('.search [role=option]').length === 0")


def test_what_storage_holds_is_never_trusted(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = opened.go("/stats")
        for kept in ("{", "7", '{"a": 1}', '[1, null, "<img src=x onerror=window.pwned=1>"]'):
            page.evaluate("(kept) => localStorage.setItem('unspool-recent', kept)", kept)
            page.keyboard.press("Control+k")
            page.keyboard.press("Escape")
        assert not page.evaluate("'pwned' in window")


def test_tab_takes_a_filter_and_a_wrong_one_is_explained(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "checkout kind:pro")
        page.keyboard.press("Tab")
        until(page, "document.querySelector('.search input').value === 'checkout kind:prompt '")
        page.keyboard.type("kind:zzz ")
        until(page, "document.querySelector('.search-status').textContent.includes('means nothing')")


def test_a_hint_adds_its_filter(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = asked(opened, "checkout", "/s/harbour/")
        page.get_by_role("button", name="this session").click()
        assert page.locator(".search input").input_value() == "checkout session:harbour "
        until(page, "document.querySelectorAll('.search-session').length === 1")


def test_a_server_that_is_gone_is_told(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = opened.go("/stats")
        opened.page.route("**/search.json*", lambda route: route.abort())
        page.keyboard.press("Control+k")
        page.keyboard.type("checkout")
        until(page, "document.querySelector('.search-status').textContent.includes('could not be asked')")
        opened.faults = [fault for fault in opened.faults if "ERR_FAILED" not in fault]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_in_it(browser: Any, app: Site, size: Any) -> None:
    script = axe()
    with window(browser, app.address, viewport=size, bypass_csp=True) as opened:
        page = asked(opened, "checkout pro")
        page.locator(".search input").fill("checkout")
        until(page, "document.querySelectorAll('.search mark').length > 2")
        assert faults(page, script) == []
        assert too_wide(page) == ""
