"""The pages that answer: each as it is drawn, looked at by axe, and reached by the keyboard alone."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.asking import Site, shop, site
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened, window
from tests.figures.test_compare import attempt
from tests.site.browser.tabs import DESKTOP, PHONE, settled, too_wide
from tests.site.search.chromium import until
from tests.store.library.test_change_story import PULL, harbour

PAY = "/files?path=/home/dev/shop/src/pay.py"
ANSWERS = {
    "what it did": "/s/shop/",
    "what each row was for": "/s/shop/page-001.html",
    "how to go on": "/s/shop/resume",
    "how a file changed": PAY,
    "its lines and who asked": f"{PAY}&view=lines",
    "where money and window went": "/s/shop/context",
    "where two sessions part": "/s/one-lamp/compare?with=two-lamp",
    "as it went": "/s/shop/replay",
    "what led to a change": f"/story?of={quote(PULL, safe='')}",
    "which changes there are": "/story",
    "on a projector": "/s/shop/present",
}
_SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lamps = (attempt("one-lamp", "/home/dev/lamp", "oil"), attempt("two-lamp", "/srv/lamp", "gas"))
    with site(tmp_path_factory.mktemp("answers"), shop(), *lamps, *harbour()) as served:
        yield served


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_nothing_moves_while_a_page_is_drawn_and_it_fits(browser: Any, app: Site, answer: str, size: Any) -> None:
    with opened(browser, app.address, viewport=size) as here:
        page = here.go(ANSWERS[answer])
        page.evaluate(_SHIFTS)
        assert settled(page, "window.shifted") <= 0.02
        assert too_wide(page) == ""


@pytest.mark.parametrize("answer", ANSWERS)
def test_axe_finds_nothing(browser: Any, app: Site, answer: str) -> None:
    script = axe()
    with opened(browser, app.address, bypass_csp=True) as here:
        page = here.go(ANSWERS[answer])
        page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")
        assert faults(page, script) == []


def test_a_piece_of_the_strip_says_what_it_was_and_leads_there(browser: Any, app: Site) -> None:
    with opened(browser, app.address) as here:
        page = here.go("/s/shop/")
        pieces = page.locator(".strip a")
        assert "Prompt 1: Why is the checkout slow?" in pieces.first.locator("title").text_content()
        page.locator(".strip .s-failed").first.click()
        page.wait_for_url("**/page-*.html#*")
        until(page, "document.getElementById(location.hash.slice(1)).checkVisibility()")


def focused(page: Any, key: str, selector: str) -> None:
    """Press a key until something that fits the selector has the focus."""
    for _ in range(150):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{key} never reached {selector}")


def test_from_home_to_a_row_and_a_file_and_back_by_the_keyboard_alone(browser: Any, app: Site) -> None:
    with window(browser, app.address) as page:
        page.goto(f"{app.address}/")
        focused(page, "j", '[data-key="shop"] a')
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/shop/")
        focused(page, "Tab", ".strip a")  # the story, and its first prompt
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/shop/page-001.html#*")
        focused(page, "Tab", "#turn-1 details.call > summary")
        page.keyboard.press("Enter")
        until(page, "document.activeElement.parentElement.open")
        focused(page, "Shift+Tab", "details.menu > summary")
        page.keyboard.press("Enter")
        focused(page, "Tab", ".levels [value=story]")
        page.keyboard.press("Enter")
        until(page, "!document.querySelector('#turn-1 .calls').checkVisibility()")
        focused(page, "Tab", ".levels [value=everything]")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+f")
        page.keyboard.type("zanzibar")
        page.keyboard.press("Enter")
        until(page, "document.querySelector('.find').textContent.includes('1 of 1')")
        page.keyboard.press("Escape")
        for link in (".ways a[href='/files']", "main a[href*='shop']", "main a[href*='pay.py']"):
            focused(page, "Tab", link)
            with page.expect_navigation():
                page.keyboard.press("Enter")
        focused(page, "Tab", ".states a")
        page.keyboard.press("Enter")
        page.wait_for_url("**/files/at?*")
        focused(page, "Tab", "main a[href*='/s/shop/']")  # who asked for it
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/shop/page-001.html#*")
