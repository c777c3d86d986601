"""A session replayed and presented in the app: page after page, and nothing on the screen but what is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import Window, window
from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of
from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import DESKTOP, PHONE, too_wide
from tests.site.search.chromium import PATIENCE, until
from tests.waiting import until as waited

PROMPTS = """Array.from(document.querySelectorAll('.stage .prompt'))
  .filter((one) => one.checkVisibility()).map((one) => one.querySelector('p').textContent)"""
RESTING = "document.documentElement.classList.contains('resting')"


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a session of three pages: twelve prompts, each answered after 1 s, the next one 1 s later."""
    log = LogBuilder(pace=0)
    for number in range(1, 13):
        log.prompt(f"Question {number}").wait(1).assistant(log.text(f"Answer {number}")).wait(1)
    folder = tmp_path_factory.mktemp("long")
    log.write(folder)
    with served(desk_of(folder / "projects")) as address:
        yield f"{address}/s/{log.session_id}"


@contextmanager
def replay(browser: Any, session: str, **context: Any) -> Iterator[Any]:
    """The replay of a session, at speed 5, stopped by the test's own clock; a window for it alone."""
    found = Window(browser.new_context(viewport=DESKTOP, **context).new_page())
    found.address = session.partition("/s/")[0]
    found.page.set_default_timeout(PATIENCE * 1000)
    found.page.clock.install(time=0)
    found.page.clock.pause_at(1000)
    found.page.goto(f"{session}/replay")
    until(found.page, "document.querySelector('.stage .prompt') !== null")
    yield found.page
    found.page.context.close()
    assert not found.faults, "\n".join(found.faults[:9])


def test_a_session_is_played_through_all_its_pages(browser: Any, long: str) -> None:
    with replay(browser, long) as page:
        asked: dict[str, None] = {}

        def over() -> bool:
            asked[page.evaluate(PROMPTS)[-1]] = None
            page.clock.run_for(100)
            return bool(page.get_by_role("button", name="Play").count())

        waited(over)
        assert list(asked) == [f"Question {number}" for number in range(1, 13)]
        assert page.locator(".stage > div").count() == 2, "the page before stays, those before it go"


def test_one_leaps_into_a_page_that_was_not_fetched_yet(browser: Any, long: str) -> None:
    with replay(browser, long) as page:
        page.keyboard.press("Space")
        page.keyboard.press("End")
        until(page, f"{PROMPTS}.at(-1) === 'Question 12'")
        assert "00:23 / 00:23" in page.get_by_role("slider").get_attribute("aria-valuetext")
        page.keyboard.press("Home")
        until(page, f"{PROMPTS}.join() === 'Question 1'")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        until(page, f"{PROMPTS}.join() === 'Question 1,Question 2'")
        page.keyboard.press("Escape")
        page.wait_for_url("**/page-001.html#turn-2")


def test_what_cannot_be_fetched_stops_the_play_and_is_said(browser: Any, long: str) -> None:
    with replay(browser, long) as page:
        page.context.route("**/page-003.html", lambda route: route.fulfill(status=200, body=""))
        page.keyboard.press("End")
        page.locator(".replay [role=status]", has_text="cannot be had now").wait_for()
        assert page.get_by_role("button", name="Play").is_visible()


def test_a_session_leads_to_its_replay_which_says_so_without_scripts(browser: Any, app: str) -> None:
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator(".doors a", has_text="Replay").click()
        page.locator("a", has_text="Read the session instead").click()
        page.wait_for_url("**/index.html")


@pytest.mark.parametrize("way", ["present", "replay"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_stage_has_nothing_but_the_session_and_a_bar(browser: Any, app: str, way: str, size: dict[str, int]) -> None:
    with window(browser, app, viewport=size) as page:
        page.goto(f"{app}/s/{STORM}/{way}")
        page.locator(".stage .prompt").first.wait_for()
        assert page.locator("header.top, footer, .rail, [data-do]").count() == 0
        assert page.get_by_role("toolbar").count() == 1
        assert not too_wide(page)


def test_a_presentation_is_large_and_uses_the_width(browser: Any, app: str) -> None:
    with window(browser, app, viewport={"width": 1440, "height": 900}) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        letters = "parseFloat(getComputedStyle(document.querySelector('.prompt p')).fontSize)"
        usual = page.evaluate(letters)
        page.goto(f"{app}/s/{STORM}/present")
        until(page, "document.documentElement.className.includes('size-')")
        box = page.locator(".stage .prompt").bounding_box()
        assert box["width"] > 1440 * 0.85
        assert page.evaluate("document.querySelector('.stage .turn').currentCSSZoom") * usual > usual * 1.3


def test_the_bar_of_a_presentation_hides_while_the_mouse_rests(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/present")
        page.mouse.move(200, 200)
        page.mouse.move(210, 200)
        until(page, RESTING)
        until(page, "getComputedStyle(document.querySelector('.desk')).opacity === '0'")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(RESTING), "going on shows no bar"
        page.mouse.move(300, 200)
        until(page, "getComputedStyle(document.querySelector('.desk')).opacity === '1'")


def test_a_presentation_takes_the_whole_screen(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/present")
        page.keyboard.press("f")
        until(page, "document.fullscreenElement === document.documentElement")
        page.locator("[data-act=full]").click()
        until(page, "document.fullscreenElement === null")


@pytest.mark.parametrize("way", ["present", "replay"])
def test_axe_finds_nothing_on_a_stage(browser: Any, app: str, way: str) -> None:
    with window(browser, app, bypass_csp=True, reduced_motion="reduce") as page:
        page.goto(f"{app}/s/{STORM}/{way}")
        page.keyboard.press("End")
        page.locator(".stage :is(.prompt, .call):not(.later)").first.wait_for()
        assert faults(page, axe()) == []
