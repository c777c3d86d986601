"""Branches side by side, a chain as one story, and what is hidden: as a person meets them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import window
from tests.app.serving import served
from tests.app.sessions import CHAIN, STORM, demo_source, desk_of
from tests.site.browser.tabs import DESKTOP, PHONE, drawn, too_wide
from tests.site.search.chromium import until
from tests.waiting import until as waited
from unspool.config.settings import settings_path


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


def test_where_branches_part_they_can_be_seen_side_by_side(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-002.html")
        page.locator(".branches .beside").first.click()
        page.wait_for_url("**/branches?right=1")
        left, right = (page.locator(f".pair .{side}").first.bounding_box() for side in ("side-one", "side-two"))
        assert abs(left["y"] - right["y"]) < 2
        assert left["x"] + left["width"] <= right["x"]
        assert "Make it longer" in page.locator(".side-two").first.text_content()
        page.locator("[name=left]").select_option("1")
        page.locator("[name=right]").select_option("0")
        page.locator(".choose button").click()
        page.wait_for_url("**/branches?left=1&right=0")
        assert "Make it longer" in page.locator(".side-one").first.text_content()
        page.locator(".fork a").click()
        page.wait_for_url("**/page-002.html#turn-6")


def test_branches_are_stacked_on_a_phone_and_need_no_scripts(browser: Any, app: str) -> None:
    with window(browser, app, viewport=PHONE, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator(".doors a", has_text="Branches side by side").click()
        left, right = (page.locator(f".pair .{side}").first.bounding_box() for side in ("side-one", "side-two"))
        assert left["y"] + left["height"] <= right["y"]
        assert page.locator(".which").first.is_visible()


def test_a_chain_is_read_in_one_go(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{CHAIN}/")
        page.locator(".doors a", has_text="The whole story").click()
        page.wait_for_url("**/story/1.html")
        assert page.locator(".rail [aria-current]").count() == 1

        def both_are_there() -> bool:
            page.mouse.move(640, 400)
            page.mouse.wheel(0, 1500)
            drawn(page)
            return bool(page.locator("[data-session]").count() == 2)

        waited(both_are_there)
        told = page.evaluate("Array.from(document.querySelectorAll('[data-session]'), (one) => one.dataset.session)")
        assert told[0] == CHAIN != told[1]
        ids = page.evaluate("Array.from(document.querySelectorAll('main .turn'), (one) => one.id)")
        assert len(ids) == len(set(ids))
        raw = page.locator(f"[data-session='{told[1]}'] .behind").first.get_attribute("href")
        assert raw.startswith(f"/s/{told[1]}/raw?")
        page.goto(app + raw)
        assert page.locator(".rawline").count() >= 1
        page.go_back()
        page.locator(".crumbs a").nth(1).click()
        page.wait_for_url(f"**/s/{CHAIN}/index.html")


def test_a_chain_needs_no_scripts(browser: Any, app: str) -> None:
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{CHAIN}/story")
        page.locator("a[rel=next]").first.click()
        page.wait_for_url("**/story/2.html")
        page.locator(".episode h2 a").click()
        page.wait_for_url(re.compile(r"/s/[^/]+/$"))


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("path", [f"s/{STORM}/branches", f"s/{CHAIN}/story", f"s/{STORM}/present"])
def test_no_such_page_is_too_wide(browser: Any, app: str, size: dict[str, int], path: str) -> None:
    with window(browser, app, viewport=size) as page:
        page.goto(f"{app}/{path}")
        page.keyboard.press("o")
        assert not too_wide(page)


def test_what_the_settings_hide_is_shown_again_turn_by_turn(browser: Any, app: str) -> None:
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text('hide = ["tools", "thinking"]\n', "utf-8")
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        until(page, "document.documentElement.classList.contains('hide-tools')")
        call = page.locator("#turn-1 .call:not([data-kind])").first
        other = page.locator("#turn-2 .call:not([data-kind])").first
        assert not call.is_visible()
        assert page.locator("#turn-1 > .veil").text_content().startswith("Show ")
        page.locator("#turn-1 > .veil").click()
        assert call.is_visible()
        assert not other.is_visible()
        page.locator("#turn-1 > .veil").click()
        assert not call.is_visible()
        page.locator("details.menu > summary").click()
        page.locator(".sheet label", has_text="Tool calls").click()
        assert other.is_visible()
        page.locator(".sheet label", has_text="Thinking").click()
        assert page.locator(".veil").count() == 0
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        assert page.locator("#turn-1 .call:not([data-kind])").first.is_visible()


@pytest.mark.parametrize("way", ["", "page-002.html", "context", "branches?right=1", "present"])
def test_axe_finds_nothing(browser: Any, app: str, way: str) -> None:
    script = axe()
    with window(browser, app, bypass_csp=True) as page:
        page.goto(f"{app}/s/{STORM}/{way}")
        assert faults(page, script) == []
