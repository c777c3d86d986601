"""Browsing as a person does it, in a real browser: with a script, without one, on a phone, by keyboard."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened
from tests.app.browsing import browsed
from tests.app.many import many
from tests.app.serving import served
from tests.site.browser.tabs import PHONE, too_wide
from tests.site.search.chromium import until
from unspool.app.context import AppContext
from unspool.app.project_list import project_slug

WHERE = (
    "/",
    "/sessions",
    "/sessions?q=nothing",
    "/projects",
    f"/projects/{project_slug('/home/dev/shop')}",
    "/marks/shop",
    "/settings",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsed(tmp_path_factory.mktemp("browser")) as app:
        yield app.address


@contextmanager
def at(browser: Any, address: str, where: str, **context: Any) -> Iterator[Any]:
    """A page of the app; nothing may go wrong on it unseen."""
    with opened(browser, address, **context) as window:
        yield window.go(where)


def test_a_star_is_set_without_a_new_page_and_is_there_on_the_next(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions") as page:
        page.evaluate("window.same = true")
        star = page.locator('[data-key="harbour"] .star')
        page.locator('[data-key="harbour"]').hover()
        star.click()
        page.locator('[data-key="harbour"] .star[aria-pressed=true]').wait_for()
        assert page.evaluate("window.same")
        page.goto(f"{address}/sessions?starred=1")
        assert page.locator("[data-key]").count() == 1
        page.locator(".star").focus()
        page.keyboard.press("Enter")
        page.locator(".star[aria-pressed=false]").wait_for()


def test_a_session_is_renamed_in_a_dialog_by_keyboard(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions?q=tides") as page:
        page.locator('[data-key="harbour"] .pen').focus()
        page.keyboard.press("Enter")
        page.locator("dialog[open]").wait_for()
        assert page.evaluate("document.activeElement.name") == "title"
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('dialog')")
        assert page.evaluate("document.activeElement.classList.contains('pen')")
        page.keyboard.press("Enter")
        page.locator("dialog[open]").wait_for()
        page.keyboard.type("Moon and water")
        page.keyboard.press("Enter")
        page.wait_for_url("**/sessions?q=tides")
        page.get_by_role("link", name="Moon and water", exact=True).wait_for()


def test_keys_lead_from_session_to_session(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions") as page:
        page.keyboard.press("j")
        first = page.evaluate("document.activeElement.closest('[data-key]').dataset.key")
        page.keyboard.press("j")
        second = page.evaluate("document.activeElement.closest('[data-key]').dataset.key")
        assert [first, second] == page.evaluate(
            "Array.from(document.querySelectorAll('[data-key]'), (one) => one.dataset.key).slice(0, 2)"
        )
        page.keyboard.press("k")
        page.keyboard.press("s")
        page.locator(f'[data-key="{first}"] .star[aria-pressed=true]').wait_for()
        page.keyboard.press("s")
        page.locator(f'[data-key="{first}"] .star[aria-pressed=false]').wait_for()
        page.keyboard.press("m")
        page.locator("dialog[open]").get_by_label("Title").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.locator("dialog[open]").get_by_text("next session").wait_for()


def test_without_a_script_everything_is_there(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions", java_script_enabled=False) as page:
        assert page.locator("[data-key]").count() == 4
        page.locator('[data-key="shop"] .pen').click(force=True)
        page.get_by_label("Note").fill("By hand")
        page.get_by_role("button", name="Save").click()
        page.locator('[data-key="shop"]', has_text="By hand").wait_for()
        assert page.url.endswith("/sessions")
        page.locator('[data-key="shop"] .star').click(force=True)
        page.locator('[data-key="shop"] .star[aria-pressed=true]').wait_for()
        page.get_by_placeholder("Title, branch").fill("tides")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**=tides*")
        assert page.locator("[data-key]").count() == 1
        page.goto(f"{address}/projects?q=lamp")
        assert page.locator("#projects li").count() == 1


def test_projects_are_narrowed_as_one_types(browser: Any, address: str) -> None:
    with at(browser, address, "/projects") as page:
        page.get_by_placeholder("Name or path").type("sho")
        assert page.locator("#projects li:visible").count() == 1
        page.get_by_placeholder("Name or path").type("zz")
        assert page.get_by_text("No project fits").is_visible()
        page.get_by_placeholder("Name or path").fill("")
        assert page.locator("#projects li:visible").count() == 3


def test_choosing_an_order_asks_for_it_with_a_short_address(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions") as page:
        page.get_by_label("Sort").select_option("cost")
        page.wait_for_url("**/sessions?sort=cost")
        assert page.locator("[data-key]").count() == 4


def test_the_theme_chosen_in_the_settings_holds_at_once(browser: Any, address: str) -> None:
    with at(browser, address, "/settings") as page:
        page.evaluate("localStorage.setItem('unspool-theme', 'light')")
        page.get_by_label("dark").check()
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved.").wait_for()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.get_by_label("system").check()
        page.get_by_role("button", name="Save").click()


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("script", [True, False])
def test_every_page_fits_a_phone(browser: Any, address: str, where: str, script: bool) -> None:
    with at(browser, address, where, viewport=PHONE, java_script_enabled=script) as page:
        if script:
            assert too_wide(page) == ""
        assert page.locator("h1").is_visible()


@pytest.mark.parametrize("where", WHERE)
def test_axe_finds_nothing(browser: Any, address: str, where: str) -> None:
    script = axe()
    with at(browser, address, where, bypass_csp=True) as page:
        assert faults(page, script) == []


@pytest.fixture(scope="module")
def ten_thousand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("many")
    with served(AppContext(many(folder / "archive", 10_000, requests=1), [folder])) as address:
        yield address


def test_ten_thousand_sessions_are_scrolled_through_and_few_are_held(browser: Any, ten_thousand: str) -> None:
    """Through the middle as a wheel does: what is far away is let go."""
    with at(browser, ten_thousand, "/sessions") as page:
        until(page, "document.querySelectorAll('.leaf').length === 85")
        page.evaluate("scrollTo(0, document.scrollingElement.scrollHeight / 2)")
        until(page, _SETTLED)
        page.mouse.move(640, 400)
        for _ in range(40):
            before = page.evaluate("scrollY")
            page.mouse.wheel(0, 2400)
            until(page, f"scrollY > {before}")
            until(page, _SETTLED)
        assert page.evaluate("document.querySelectorAll('[data-key]').length") <= 1000
        told = page.evaluate(_COUNT)
        assert told["rows"] == told["different"]
        assert told["days"] == told["headings"]


def test_any_place_of_a_long_list_is_reached_at_once(browser: Any, ten_thousand: str) -> None:
    """By the bar beside it to the end, and back to the beginning, whose rows were let go meanwhile."""
    with at(browser, ten_thousand, "/sessions") as page:
        until(page, "document.querySelectorAll('.leaf').length === 85")
        first, height = page.locator("[data-key]").first.get_attribute("data-key"), "document.body.scrollHeight"
        for part in range(10, 0, -1):
            page.evaluate(f"scrollTo(0, {part / 10} * {height})")
            until(page, _SETTLED)
        assert page.locator(f'[data-key="{first}"]').count() == 0
        page.evaluate(f"scrollTo(0, {height})")
        until(page, _SETTLED)
        assert page.locator(".leaf").last.locator("[data-key]").count() == (10_000 - 10_000 // 13 * 2) % 100
        page.evaluate("scrollTo(0, 0)")
        until(page, f"""document.querySelector('[data-key="{first}"]') !== null""")


def test_a_page_that_is_asked_for_is_the_one_that_is_seen(browser: Any, ten_thousand: str) -> None:
    with at(browser, ten_thousand, "/sessions?page=40") as page:
        until(page, _SETTLED)
        until(page, "document.querySelectorAll('.leaf > .rows').length > 6")
        told = page.evaluate(_COUNT)
        assert told["days"] == told["headings"]
        assert page.evaluate("document.querySelector('header').getBoundingClientRect().top") == 0
        assert page.evaluate("document.querySelector('[data-page=\"40\"]').getBoundingClientRect().bottom") > 0
        assert page.evaluate("document.querySelector('[data-page=\"40\"]').getBoundingClientRect().top") < 800


def test_sessions_are_narrowed_as_one_types(browser: Any, ten_thousand: str) -> None:
    """The page is the same, the address is one that can be kept, and only the last question counts."""
    with at(browser, ten_thousand, "/sessions?sort=cost") as page:
        page.evaluate("window.same = true")
        box = page.get_by_placeholder("Title, branch")
        box.press_sequentially("project-7")
        found = sum(number % 50 == 7 and number % 13 < 11 for number in range(10_000))
        until(page, f"document.querySelector('h1').textContent === '{found} sessions'")
        assert page.url.endswith("/sessions?q=project-7&sort=cost")
        assert set(page.locator(".rows .sub > a:first-child").all_inner_texts()) == {"project-7"}
        assert page.evaluate("window.same && document.activeElement.name === 'q'")
        box.press_sequentially("zzz")
        page.get_by_text("No session fits.").wait_for()
        box.fill("")
        until(page, "document.querySelectorAll('.leaf').length === 85")
        assert page.url.endswith("/sessions?sort=cost")


def test_a_filter_is_saved_under_a_name_and_forgotten(browser: Any, address: str) -> None:
    with at(browser, address, "/sessions") as page:
        page.get_by_placeholder("Title, branch").press_sequentially("tides")
        page.get_by_placeholder("Name this filter").fill("Water")
        page.get_by_role("button", name="Save filter").click()
        page.wait_for_url("**/sessions?q=tides")
        page.goto(f"{address}/")
        page.get_by_role("link", name="Water", exact=True).click()
        page.wait_for_url("**/sessions?q=tides")
        assert page.locator("[data-key]").count() == 1
        page.get_by_role("button", name="Forget the filter Water").click()
        page.get_by_role("link", name="Water", exact=True).wait_for(state="detached")


_SETTLED = """(() => {
  const seen = Array.from(document.querySelectorAll(".leaf")).filter((leaf) => {
    const { top, bottom } = leaf.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  return seen.length > 0 && seen.every((leaf) => leaf.childElementCount);
})()"""
_COUNT = """() => {
  const keys = Array.from(document.querySelectorAll("[data-key]"), (row) => row.dataset.key);
  const headings = Array.from(document.querySelectorAll(".leaf .date"), (one) => one.textContent);
  return { rows: keys.length, different: new Set(keys).size, days: new Set(headings).size, headings: headings.length };
}"""
