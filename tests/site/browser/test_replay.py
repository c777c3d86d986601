"""A single file plays its session: at its speed, long waits cut, by keys and by its bar. The clock is the test's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.log_builder.builder import LogBuilder
from tests.site.browser.making import made
from tests.site.browser.tabs import DESKTOP, PHONE, tab, too_wide

WORDS = "words and words\n\n" * 40
SHOWN = """Array.from(document.querySelectorAll('main .turn > .prompt, main .turn > .answer'))
  .filter((one) => one.checkVisibility()).map((one) => one.querySelector('p:not(.who)').textContent)"""
LOW = "window.scrollY + window.innerHeight > document.documentElement.scrollHeight - 80"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prompt, and after 2 s, ten minutes, and 1 s an answer each; then, a day later, another prompt."""
    folder = tmp_path_factory.mktemp("played")
    log = LogBuilder(pace=0)
    log.prompt("Ask").wait(2).assistant(log.text(f"One\n\n{WORDS}"))
    log.wait(600).assistant(log.text(f"Two\n\n{WORDS}")).wait(1).assistant(log.text(f"Three\n\n{WORDS}"))
    log.wait(86_400).prompt("Again")
    return made(folder / "played.html", "json", str(log.write(folder)))


@contextmanager
def replay(browser: Any, file: Path, **context: Any) -> Iterator[Any]:
    """The file being played, at speed 1, from its beginning."""
    with tab(browser, **context) as watched:
        watched.page.clock.install(time=0)
        page = watched.open(file)
        page.clock.pause_at(1000)
        page.get_by_role("button", name="Replay").click()
        page.keyboard.press("<")
        page.keyboard.press("Home")
        yield page


def test_what_happened_appears_when_it_happened_and_long_waits_are_cut(browser: Any, played: Path) -> None:
    with replay(browser, played) as page:
        assert page.evaluate(SHOWN) == ["Ask"]
        page.clock.run_for(1500)
        assert page.evaluate(SHOWN) == ["Ask"]
        page.clock.run_for(700)
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        assert page.locator(".waits").text_content() == "9 m 57 s of waiting cut"
        page.clock.run_for(2500)
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        page.clock.run_for(500)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two"]
        assert "10:02 / 24:10:03" in page.locator(".replay .num").first.text_content()
        page.clock.run_for(5000)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two", "Three", "Again"]
        assert page.get_by_role("button", name="Play").is_visible(), "it is over"


def test_speeds_go_from_one_to_a_hundred(browser: Any, played: Path) -> None:
    with replay(browser, played) as page:
        said = []
        for key in (">", ".", "+", ">", "-", "<"):
            page.keyboard.press(key)
            said.append(page.locator(".speed").text_content())
        assert said == ["5×", "20×", "100×", "100×", "20×", "5×"]
        page.clock.run_for(500)
        assert page.evaluate(SHOWN) == ["Ask", "One"]


def test_waits_last_as_long_as_they_did_where_they_are_not_cut(browser: Any, played: Path) -> None:
    with replay(browser, played) as page:
        page.get_by_role("button", name="Cut waits").click()
        for _ in range(3):
            page.keyboard.press(">")
        page.clock.run_for(5900)
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        page.clock.run_for(300)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two", "Three"]
        assert page.locator(".waits").text_content() == ""


def test_keys_pause_step_and_leap(browser: Any, played: Path) -> None:
    with replay(browser, played) as page:
        page.keyboard.press("Space")
        page.clock.run_for(60_000)
        assert page.evaluate(SHOWN) == ["Ask"]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two"]
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        page.keyboard.press("End")
        assert len(page.evaluate(SHOWN)) == 5
        page.keyboard.press("Home")
        assert page.evaluate(SHOWN) == ["Ask"]
        page.keyboard.press("Space")
        page.clock.run_for(2200)
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        page.keyboard.press("Escape")
        assert page.locator("header.top").is_visible()
        assert len(page.evaluate(SHOWN)) == 5
        assert page.locator(".desk").count() == 0


def test_the_bar_says_where_one_is_and_leads_elsewhere(browser: Any, played: Path) -> None:
    with replay(browser, played) as page:
        page.keyboard.press("Space")
        bar = page.get_by_role("slider", name="Where the replay is")
        box = bar.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.click(box["x"] + box["width"] * 0.6, middle)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two"]
        page.mouse.move(box["x"] + box["width"] * 0.6, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 1, middle, steps=4)
        page.mouse.up()
        assert len(page.evaluate(SHOWN)) == 5
        bar.focus()
        page.keyboard.press("ArrowDown")
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two", "Three"]
        assert "10:03 / 24:10:03" in bar.get_attribute("aria-valuetext")


def test_the_view_follows_until_the_reader_scrolls_up(browser: Any, played: Path) -> None:
    with replay(browser, played, viewport={"width": 800, "height": 500}) as page:
        page.clock.run_for(2200)
        assert page.evaluate(LOW)
        page.mouse.move(300, 200)
        with page.expect_event("console", lambda told: told.text == "scrolled"):
            page.evaluate("document.addEventListener('scrollend', () => console.log('scrolled'), { once: true })")
            page.mouse.wheel(0, -600)
        at = page.evaluate("window.scrollY")
        page.clock.run_for(3100)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two"]
        assert page.evaluate("window.scrollY") == at
        page.locator(".desk.stays").wait_for()
        page.get_by_role("button", name="Follow").click()
        assert page.evaluate(LOW)


def test_nothing_moves_by_itself_for_those_who_want_none_of_it(browser: Any, played: Path) -> None:
    with replay(browser, played, reduced_motion="reduce") as page:
        page.clock.run_for(60_000)
        assert page.evaluate(SHOWN) == ["Ask"]
        assert page.get_by_role("button", name="Play").is_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_the_screen_and_its_bar_goes_while_the_mouse_rests(
    browser: Any, played: Path, size: dict[str, int]
) -> None:
    with replay(browser, played, viewport=size) as page:
        page.clock.run_for(1000)
        assert not too_wide(page)
        assert not page.locator("header.top").is_visible()
        page.clock.run_for(2000)
        assert page.evaluate("document.documentElement.classList.contains('resting')")
        page.mouse.move(200, 100)
        page.mouse.move(210, 100)
        assert not page.evaluate("document.documentElement.classList.contains('resting')")


def test_a_session_without_times_is_played_step_by_step(browser: Any, tmp_path: Path) -> None:
    log = LogBuilder(pace=0)
    log.prompt("Ask").assistant(log.text("One")).assistant(log.text("Two"))
    for line in log.lines:
        if isinstance(line, dict):
            line.pop("timestamp", None)
    with replay(browser, made(tmp_path / "x.html", "json", str(log.write(tmp_path)))) as page:
        assert page.evaluate(SHOWN) == ["Ask"]
        page.clock.run_for(1100)
        assert page.evaluate(SHOWN) == ["Ask", "One"]
        page.clock.run_for(1100)
        assert page.evaluate(SHOWN) == ["Ask", "One", "Two"]
