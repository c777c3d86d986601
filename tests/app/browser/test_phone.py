"""The app on a phone: what was come for stands on the first screen, and nothing lies over anything."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.asking import Site, shop, site
from tests.app.browser.windows import opened
from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import PHONE, too_wide
from tests.site.search.chromium import until

TABLE = "| Choice | Why it was taken | What was left aside |\n|---|---|---|\n" + (
    "| cache | it is asked for by every page of the shop | a second server with a copy of everything |\n"
)
CODE = (
    "Look at this:\n\n```sh\nmake every lamp of the harbour shine at once and for ever\n```\n\n"
    "and at that:\n\n```sh\nls\n```\n"
)


def long() -> LogBuilder:
    log = LogBuilder(session_id="long", cwd="/home/dev/long").prompt(CODE)
    return log.assistant(log.text(TABLE))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("phone"), shop(), long()) as served:
        yield served


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
@pytest.mark.parametrize(("way", "first"), [("/sessions", "[data-key]"), ("/search?q=checkout", ".found")])
def test_filters_are_folded_until_somebody_wants_them(
    browser: Any, app: Site, way: str, first: str, scripts: bool
) -> None:
    with opened(browser, app.address, viewport=PHONE, java_script_enabled=scripts) as here:
        page = here.go(way)
        folded = page.get_by_label("Model") if way == "/sessions" else page.get_by_role("navigation", name="kind")
        assert not folded.is_visible()
        assert page.locator(first).first.bounding_box()["y"] < PHONE["height"] / 2
        page.get_by_label("Filters").focus()
        page.keyboard.press("Space")
        assert folded.is_visible()
        assert too_wide(page) == ""


def test_a_screen_with_room_shows_the_filters(browser: Any, app: Site) -> None:
    with opened(browser, app.address) as here:
        page = here.go("/sessions?sort=cost")
        assert page.get_by_label("Model").is_visible()
        assert not page.get_by_text("Filters").is_visible()


def test_copy_lies_over_no_text(browser: Any, app: Site) -> None:
    with opened(browser, app.address, viewport=PHONE) as here:
        page = here.go("/s/long/page-001.html")
        until(page, "document.querySelectorAll('.prompt .copy').length === 2")
        assert page.evaluate("""() => Array.from(document.querySelectorAll(".prompt .copy"), (button) => {
          const over = button.getBoundingClientRect(), text = document.createRange();
          text.selectNodeContents(document.querySelector(".prompt"));
          const meets = (one) => one.height < 24 && one.width && one.left < over.right && one.right > over.left;
          return Array.from(text.getClientRects(), (one) =>
            meets(one) && one.top < over.bottom && over.top < one.bottom)
            .filter(Boolean).length;
        })""") == [1, 1]  # of each nothing but its own word


def test_the_columns_of_a_wide_table_can_be_read_and_it_scrolls_by_itself(browser: Any, app: Site) -> None:
    with opened(browser, app.address, viewport=PHONE) as here:
        page = here.go("/s/long/page-001.html")
        assert min(page.locator("td.long").evaluate_all("(all) => all.map((one) => one.offsetWidth)")) >= 170
        assert page.locator(".prose table").evaluate("(one) => one.scrollWidth > one.clientWidth")
        assert too_wide(page) == ""


@pytest.mark.parametrize("way", ["/", "/stats", "/s/shop/context"])
def test_a_figure_is_never_broken(browser: Any, app: Site, way: str) -> None:
    with opened(browser, app.address, viewport={"width": 320, "height": 700}) as here:
        page = here.go(way)
        page.locator(".tile .big").first.evaluate("(one) => { one.textContent = '≥$224.22' }")
        lines = page.locator(".tile .big").evaluate_all(
            "(all) => all.map((one) => Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)))"
        )
        assert set(lines) == {1}
        assert page.locator(".tile").first.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_times_and_kinds_look_the_same_in_the_palette_and_on_the_page(browser: Any, app: Site) -> None:
    colour = "(one) => getComputedStyle(one).color"
    with opened(browser, app.address, locale="en-US") as here:
        page = here.go("/search?q=checkout")
        prompt, day = page.locator(".hit-kind.kind-prompt").first.evaluate(colour), page.locator(".found time").first
        page.keyboard.press("Control+k")
        page.keyboard.type("checkout")
        until(page, "document.querySelectorAll('.search-session time').length > 0")
        assert page.locator(".search-session time").first.text_content() == day.text_content()
        assert page.locator(".search-kind.kind-prompt").first.evaluate(colour) == prompt
