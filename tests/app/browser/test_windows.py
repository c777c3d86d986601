"""A long session without turning pages: windows of turns come and go, links and words lead to those not yet there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.app.browser.windows import window
from tests.app.serving import served
from tests.app.sessions import desk_of
from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import DESKTOP, PHONE, drawn, settled, too_wide
from tests.site.search.chromium import until
from tests.waiting import until as waited
from unspool.app import open_session, partial_read
from unspool.app.context import AppContext
from unspool.app.open_session import get_session
from unspool.cli.group import cli

TURNS = 120
_SHOWN = "Array.from(document.querySelectorAll('main .turn'), (one) => Number(one.id.slice(5)))"
_BOXES = "document.querySelectorAll('main > .window:not(.aside)').length"


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("long")
    log = LogBuilder()
    for number in range(1, TURNS + 1):
        log.prompt(f"Question {number}").ran(f"look {number}", f"needle-{number % 10}\n" * 3)
        log.assistant(log.text(f"Answer {number}.\n\n" + "Words and words.\n\n" * 8))
    log.write(root)
    return root / "projects", log.session_id


@pytest.fixture(scope="module")
def app(long_log: tuple[Path, str]) -> Iterator[str]:
    with served(desk_of(long_log[0])) as address:
        yield f"{address}/s/{long_log[1]}"


def _end(page: Any) -> None:
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")


def test_scrolling_down_goes_on_to_the_end_and_back(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-001.html")
        counts: list[int] = []

        def at_the_end() -> bool:
            _end(page)
            drawn(page)
            counts.append(page.evaluate("document.querySelectorAll('main .turn').length"))
            return bool(page.evaluate(f"{_SHOWN}.at(-1)") == TURNS)

        def at_the_beginning() -> bool:
            page.mouse.move(640, 400)
            page.mouse.wheel(0, -3000)
            drawn(page)
            return bool(page.evaluate("window.scrollY") == 0 and page.locator("#turn-1").count())

        waited(at_the_end)
        shown = page.evaluate(_SHOWN)
        assert shown == list(range(shown[0], TURNS + 1))
        assert max(counts) <= 45, "what is far away was not put aside"
        _end(page)
        until(page, "location.pathname.endsWith('page-024.html')")
        assert "Prompts 116 to 120" in page.title()
        assert page.locator(".rail a", has_text="Question 120").count() == 1
        assert page.locator("main > .pager").last.locator("a[rel=next]").count() == 0
        waited(at_the_beginning)
        assert page.evaluate(f"{_SHOWN}[0]") == 1
        until(page, "location.pathname.endsWith('page-001.html')")
        assert page.evaluate(_BOXES) <= 8


def test_what_is_read_stays_where_it_is_when_turns_come_above_it(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-010.html")
        page.mouse.move(640, 400)
        page.mouse.wheel(0, 900)
        until(page, "window.scrollY > 800")
        page.evaluate("window.held = document.querySelector('#turn-47 .answer')")
        page.mouse.wheel(0, -200)
        until(page, f"{_SHOWN}[0] < 46")
        top = settled(page, "window.held.getBoundingClientRect().top")
        offset = page.evaluate("document.querySelector('#turn-46').getBoundingClientRect().top")
        assert -1500 < offset < top < 1500
        until(page, f"document.querySelector('main > .facts').textContent.startsWith(`Prompts ${{{_SHOWN}[0]}} to`)")


@pytest.mark.parametrize("anchor", ["turn-77", "msg"])
def test_a_link_to_a_turn_that_is_not_here_leads_to_it(browser: Any, app: str, anchor: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        if anchor == "msg":
            page.goto(f"{app}/page-016.html")
            anchor = page.locator("#turn-77 .answer").get_attribute("id")
            page.goto("about:blank")
        page.goto(f"{app}/page-001.html#{anchor}")
        page.wait_for_url(re.compile(rf"page-016\.html#{anchor}"))
        until(page, f"Math.abs(document.getElementById('{anchor}').getBoundingClientRect().top) < 300")
        page.goto(f"{app}/?at={anchor}")
        page.wait_for_url(re.compile(rf"page-016\.html#{anchor}"))


def test_an_anchor_that_is_nowhere_is_asked_for_once(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url) if "at=" in one.url else None)
        page.goto(f"{app}/page-002.html#turn-99999")
        page.wait_for_url("**/page-001.html*")
        page.goto(f"{app}/page-002.html#<script>")
        drawn(page)
        page.evaluate("fetch('page-002.html').then((one) => one.text())")  # what was asked before was asked by now
        assert len(asked) == 1


def at_place(page: Any, number: int) -> None:
    """Wait until that one of all places is told, marked, and in sight."""
    until(page, f"document.querySelector('.find output').textContent === '{number} of 36'")
    until(page, "[...(CSS.highlights.get('here') ?? [])].some((one) => one.getBoundingClientRect().height > 0)")


def test_words_far_to_the_right_are_brought_into_sight(browser: Any, tmp_path: Path) -> None:
    log = LogBuilder()
    row = f"{'column ' * 50}"
    for number in range(60):
        log.prompt(f"Question {number}").ran("table", f"{row}\n" * 12 + f"{row} straw\n" if number == 30 else "no\n")
        log.assistant(log.text("Words and words.\n\n" * 8))
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address, window(browser, address) as page:
        page.goto(f"{address}/s/{log.session_id}/page-001.html")
        page.keyboard.press("Control+f")
        page.keyboard.type("straw")
        until(page, "document.querySelector('.find output').textContent === '1 of 1'")
        until(
            page,
            """[...(CSS.highlights.get('here') ?? [])].some((one) => {
                const place = one.getBoundingClientRect(), inside = one.startContainer.parentElement;
                const box = inside.closest("pre").getBoundingClientRect();
                return place.width > 0 && place.left >= box.left && place.right <= box.right;
            })""",
        )


def test_words_of_the_whole_session_are_found_from_one_page(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-001.html")
        page.keyboard.press("Control+f")
        page.keyboard.type("NEEDLE-7")
        at_place(page, 1)
        assert page.evaluate("[...CSS.highlights.get('found')].length") == 3
        for number in range(2, 11):
            page.keyboard.press("Enter")
            at_place(page, number)
        until(page, "document.getElementById('turn-37') !== null")
        until(page, "document.querySelector('#turn-37 details.call').open")
        assert page.evaluate("document.activeElement.type") == "search"
        for number in (*range(9, 0, -1), 36):
            page.keyboard.press("Shift+Enter")
            at_place(page, number)
        until(page, "document.getElementById('turn-117') !== null")
        page.locator(".find input").fill("nothing has this")
        until(page, "document.querySelector('.find output').textContent === 'None'")
        page.keyboard.press("Escape")
        assert not page.locator(".find").is_visible()
        until(page, "document.activeElement.type !== 'search'")  # the browser takes the focus away as it draws
        page.keyboard.press("?")
        assert "find in all of this session" in page.locator("dialog").text_content()


def test_who_steps_before_a_window_came_misses_no_place(browser: Any, app: str) -> None:
    pressed = """(times) => {
      const enter = () => new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
      for (let one = 0; one < times; one++) document.activeElement.dispatchEvent(enter());
    }"""
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-001.html")
        page.keyboard.press("Control+f")
        page.keyboard.type("NEEDLE-7")
        at_place(page, 1)
        page.evaluate(pressed, 7)  # the fourth leads to a window that is not here
        at_place(page, 8)
        page.evaluate(pressed, 11)
        at_place(page, 19)


_PRESSED = """() => {
  const pressed = new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true });
  (document.activeElement ?? document.body).dispatchEvent(pressed);
  return pressed.defaultPrevented;
}"""


def test_the_browser_s_own_search_is_never_out_of_reach(browser: Any, app: str, tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("Short").assistant(log.text("Yes")).write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as short, window(browser, short) as page:
        page.goto(f"{short}/s/{log.session_id}/page-001.html")
        assert page.evaluate(_PRESSED) is False
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-001.html")
        assert page.evaluate(_PRESSED) is True
        assert page.evaluate(_PRESSED) is False


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_window_is_too_wide(browser: Any, app: str, size: dict[str, int]) -> None:
    with window(browser, app.partition("/s/")[0], viewport=size) as page:
        page.goto(f"{app}/page-003.html")
        page.keyboard.press("Control+f")
        _end(page)
        until(page, f"{_BOXES} > 1")
        assert not too_wide(page)


def test_keys_go_from_prompt_to_prompt_across_windows(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0]) as page:
        page.goto(f"{app}/page-001.html")
        for number in range(1, 13):
            until(
                page, f"document.getElementById('turn-{number}') !== null"
            )  # else it is the next page that is gone to
            page.keyboard.press("j")
            until(page, f"document.activeElement.closest('.turn')?.id === 'turn-{number}'")
        until(page, "location.pathname.endsWith('page-003.html')")
        until(page, "document.querySelector('.rail [aria-current]')?.hash === '#turn-12'")


def test_a_failing_window_is_asked_for_again(browser: Any, app: str) -> None:
    with window(browser, app.partition("/s/")[0], may_fail=True) as page:
        page.route("**/page-003.html", lambda route: route.abort())
        with page.expect_event("requestfailed"):
            page.goto(f"{app}/page-002.html")
            _end(page)
        drawn(page)
        assert page.evaluate(_BOXES) == 1
        page.unroute("**/page-003.html")
        page.evaluate("window.scrollBy(0, -100)")
        until(page, f"{_BOXES} > 1")


def _peek(child: LogBuilder) -> None:
    child.ran("peek inside", "nothing").assistant(child.text("Found it"))


def test_what_a_page_s_own_lines_do_not_tell_comes_when_all_was_read(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 10_000)
    monkeypatch.setattr(partial_read, "_BEGINNING", 1_000)
    log = LogBuilder()
    for number in range(1, 41):
        log.prompt(f"Question {number}").assistant(log.text(f"Answer {number}. " + "Words. " * 60))
        if number == 33:
            use = log.agent_use("Explore", "Look around", "Look at everything")
            log.assistant(use)
            log.subagent(use, "Explore", "Look around", _peek)
    log.write(tmp_path)
    kept, sources = tmp_path / "kept", tmp_path / "projects"
    made = CliRunner().invoke(cli, ["sync", "--archive", str(kept), "-s", str(sources)])
    assert made.exit_code == 0, made.output
    get_session(AppContext(kept, [sources]), log.session_id)
    with served(AppContext(kept, [sources])) as server, window(browser, server) as page:
        answer = page.goto(f"{server}/s/{log.session_id}/page-007.html")
        assert "data-part" in answer.text()
        assert "peek inside" not in answer.text()
        until(page, "document.querySelector('#turn-33')?.textContent.includes('peek inside')")
        assert page.locator("#turn-33 .deed").count() == 2
