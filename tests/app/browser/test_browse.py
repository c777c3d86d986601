"""Browsing as a person does it, in a real browser: with a script, without one, on a phone, by keyboard."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.browsing import browsed
from tests.app.many import many
from tests.app.serving import served
from tests.site.browser.tabs import PHONE, Tab, too_wide
from tests.site.search.chromium import chromium, until
from unspool.app.browse.shelf import slug
from unspool.app.desk import Desk

WHERE = (
    "/",
    "/sessions",
    "/sessions?q=nothing",
    "/projects",
    f"/projects/{slug('/home/dev/shop')}",
    "/marks/shop",
    "/settings",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsed(tmp_path_factory.mktemp("browser")) as app:
        yield app.address


class Watched(Tab):
    """A tab that may ask its own server, and nobody else."""

    own = ""

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self.own):
            super()._request(request)


@contextmanager
def at(browser: Any, address: str, where: str, **context: Any) -> Iterator[Any]:
    """A page of the app; nothing may go wrong on it unseen."""
    within = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
    watched = Watched(within.new_page())
    watched.own = address
    watched.page.set_default_timeout(10_000)
    watched.page.goto(address + where)
    yield watched.page
    within.close()
    assert not watched.faults, "\n".join(watched.faults[:9])


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
        assert page.url.endswith("/sessions")
        assert "By hand" in page.locator('[data-key="shop"]').inner_text()
        page.locator('[data-key="shop"] .star').click(force=True)
        assert page.locator('[data-key="shop"] .star').get_attribute("aria-pressed") == "true"
        page.get_by_placeholder("Title, branch").fill("tides")
        page.get_by_role("button", name="Show", exact=True).click()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", WHERE)
def test_axe_finds_nothing_serious(browser: Any, address: str, where: str, scheme: str) -> None:
    script = os.environ.get("UNSPOOL_AXE", "")
    if not Path(script).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    with at(browser, address, where, color_scheme=scheme, bypass_csp=True) as page:
        page.add_script_tag(path=script)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found] == []


def test_ten_thousand_sessions_are_listed_and_scroll_smoothly(browser: Any, tmp_path: Path) -> None:
    """To the end by leaps, each of which brings the next page; then through the middle as a wheel does."""
    folder = many(tmp_path / "archive", 10_000, requests=1)
    with served(Desk(folder, [tmp_path])) as address, at(browser, address, "/sessions") as page:
        page.set_default_timeout(240_000)
        page.evaluate(_LEAP)
        page.locator("[data-ended]").wait_for(state="attached")
        told = page.evaluate(_COUNT)
        assert told["rows"] == told["different"] == 10_000 - 10_000 // 13
        assert told["days"] == told["headings"]
        page.evaluate(_WHEEL)
        page.locator("[data-wheeled]").wait_for(state="attached")
        gaps = sorted(page.evaluate("window.gaps"))
        assert gaps[len(gaps) // 2] < 50, gaps


_LEAP = """() => {
  const leap = () => {
    scrollTo(0, document.scrollingElement.scrollHeight);
    if (document.querySelector(".further")) requestAnimationFrame(leap); else document.body.dataset.ended = "";
  };
  leap();
}"""
_COUNT = """() => {
  const keys = Array.from(document.querySelectorAll("[data-key]"), (row) => row.dataset.key);
  const headings = Array.from(document.querySelectorAll(".leaf .date"), (one) => one.textContent);
  return { rows: keys.length, different: new Set(keys).size, days: new Set(headings).size, headings: headings.length };
}"""
_WHEEL = """() => {
  window.gaps = [];
  let last = 0;
  scrollTo(0, document.scrollingElement.scrollHeight / 2);
  const step = (now) => {
    if (last) window.gaps.push(now - last);
    last = now;
    scrollBy(0, 100);
    if (window.gaps.length < 200) requestAnimationFrame(step); else document.body.dataset.wheeled = "";
  };
  requestAnimationFrame(step);
}"""
