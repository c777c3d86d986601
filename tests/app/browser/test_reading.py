"""Reading in the app as a person does it: opening, paging, copying, looking behind, following."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import SETTLE
from tests.app.browser.windows import window
from tests.app.serving import served
from tests.app.sessions import CHAIN, STORM, demo_source, desk_of
from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import DESKTOP, PHONE, click_still, settled, too_wide
from tests.site.search.chromium import until
from tests.thorough import some
from unspool.app import open_session, partial_read
from unspool.site import session_view


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


def test_a_session_is_opened_and_paged_through(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}")
        page.locator("a[rel=next]").first.click()
        page.wait_for_url("**/page-001.html")
        page.locator("a[rel=next]").first.click()
        page.wait_for_url("**/page-002.html")
        page.keyboard.press("k")
        page.locator(".crumbs a", has_text="storm surge").click()
        page.wait_for_url("**/index.html")
        page.locator(".context svg a").nth(6).click()
        page.wait_for_url("**/page-002.html#turn-7")


def test_a_link_to_a_block_opens_its_fold(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        anchor = page.locator("details.notices details[id]").first.get_attribute("id")
        page.goto("about:blank")
        page.goto(f"{app}/s/{STORM}/page-001.html#{anchor}")
        until(page, f"document.getElementById('{anchor}').checkVisibility()")
        assert page.evaluate(f"document.getElementById('{anchor}').closest('details.notices').open")


def test_the_line_behind_a_block_is_one_press_away(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        page.locator(".prompt").nth(1).hover()
        page.locator(".prompt .behind").nth(1).click()
        page.wait_for_url("**/raw?block=*")
        until(page, "document.querySelectorAll('.hljs-attr').length > 5")
        assert "and show it in centimetres" in page.locator("main").text_content()
        page.locator("a", has_text="Back to the block").click()
        page.wait_for_url(re.compile(r"page-001\.html#msg-\d+"))
        page.locator("#turn-1 details.call > summary").first.click()
        page.locator("#turn-1 details.call[open] > .behind").first.click()
        page.wait_for_url("**/raw?block=*")
        assert page.locator(".rawline").count() == 2


def copied(page: Any, text: str) -> None:
    """Wait for what is copied: a button says so only for a moment."""
    until(page, f"navigator.clipboard.readText().then((held) => held.includes({json.dumps(text)}))")


def test_a_turn_and_the_resume_command_are_copied(browser: Any, app: str) -> None:
    with window(browser, app, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator("[data-copy]").first.click()
        copied(page, f"--resume {STORM}")
        page.goto(f"{app}/s/{STORM}/page-001.html")
        click_still(page, page.locator("#turn-2 .deed", has_text="Copy turn"))
        copied(page, "and show it in centimetres")
        click_still(page, page.locator("#turn-3 .deed", has_text="Fork here"))
        copied(page, f"unspool fork {STORM} --at 3")


def test_a_turn_that_cannot_be_had_is_not_said_to_be_copied(browser: Any, app: str) -> None:
    with window(browser, app, may_fail=True, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        page.evaluate("navigator.clipboard.writeText('as it was')")
        page.route("**/turn/2.md", lambda route: route.fulfill(status=503, body="busy"))
        page.evaluate(
            "const turn = document.querySelector('#turn-2'); window.names = [];"
            "new MutationObserver(() => window.names.push(turn.textContent)).observe(turn,"
            " { childList: true, subtree: true, characterData: true })"
        )
        click_still(page, page.locator("#turn-2 .deed", has_text="Copy turn"))
        until(page, "window.names.some((name) => name.includes('Did not work'))")
        assert not page.evaluate("window.names.some((name) => name.includes('Copied'))")
        copied(page, "as it was")


def test_other_ways_to_go_on_are_opened_and_copied_by_keys(browser: Any, app: str) -> None:
    """What lighter copies save is looked for when somebody asks; without scripts a page has it."""
    with window(browser, app, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator(".goon > summary").focus()
        page.keyboard.press("Enter")
        page.locator(".goon [data-copy*='--preset extreme']").focus()
        page.keyboard.press("Enter")
        copied(page, f"unspool clone {STORM} --preset extreme")
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator(".goon > summary").click()
        assert page.locator(".goon code", has_text="--to codex").is_visible()
        page.locator(".goon a").click()
        assert page.locator("code", has_text="--preset extreme").is_visible()


def test_the_focus_view_is_remembered(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        assert page.locator("#turn-1 .calls").first.is_visible()
        page.locator("details.menu > summary").click()
        page.locator("[data-mode=focus]").click()
        assert not page.locator("#turn-1 .calls").first.is_visible()
        assert page.locator("#turn-1 > .prompt").is_visible()
        page.goto(f"{app}/s/{STORM}/page-002.html")
        until(page, "document.documentElement.classList.contains('focus')")
        page.locator("details.menu > summary").click()
        page.locator("[data-mode=verbose]").click()
        assert page.evaluate("Array.from(document.querySelectorAll('main .turn details')).every((one) => one.open)")
        page.locator("[data-mode='']").click()
        assert not page.evaluate("document.documentElement.matches('.focus, .verbose')")


def test_without_scripts_everything_can_be_read(browser: Any, app: str) -> None:
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/")
        assert page.locator(".context svg:not(.axis)").is_visible()
        page.locator("a", has_text="Read from the start").click()
        assert page.locator(".prompt").first.is_visible()
        page.locator("details.call > summary").first.click()
        assert page.locator("details.call[open] > summary + div").first.is_visible()
        page.goto(f"{app}/live")
        assert page.locator("h1", has_text="Live").is_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_is_too_wide(browser: Any, app: str, size: dict[str, int], scheme: str) -> None:
    with window(browser, app, viewport=size, color_scheme=scheme) as page:
        for path in (f"s/{STORM}/", f"s/{STORM}/page-001.html", f"s/{STORM}/branch-1.html", "live"):
            page.goto(f"{app}/{path}")
            page.keyboard.press("o")
            assert not too_wide(page), path


def _session(root: Path, turns: int) -> LogBuilder:
    log = LogBuilder(start=datetime.now(UTC) - timedelta(minutes=5))
    for number in range(1, turns + 1):
        log.prompt(f"Question {number}").assistant(log.text(f"Answer {number}.\n\n" + "Words and words.\n\n" * 12))
    return _written(log, root)


def _written(log: LogBuilder, root: Path) -> LogBuilder:
    os.utime(log.write(root))
    return log


_AT_SEVEN = "document.getElementById('turn-7').getBoundingClientRect().top"


def test_a_session_that_goes_on_is_followed_until_one_scrolls_up(browser: Any, tmp_path: Path) -> None:
    log = _session(tmp_path, 7)
    with served(desk_of(tmp_path / "projects")) as app, window(browser, app) as page:
        with page.expect_response("**/events?*"):
            page.goto(f"{app}/s/{log.session_id}/last")
        page.wait_for_url("**/page-002.html#live")
        until(page, "document.querySelector('.follow [aria-pressed=true]') !== null")
        _written(log.prompt("Question 8").assistant(log.text("Answer 8.\n\n" + "Words.\n\n" * 40)), tmp_path)
        page.locator("#turn-8").wait_for()
        until(page, "window.scrollY > document.documentElement.scrollHeight - window.innerHeight - 130")
        assert page.locator(".rail a", has_text="Question 8").count() == 1
        assert page.locator(".rail .label").text_content() == "8 prompts"
        assert page.locator(".crumbs [aria-current]").text_content() == "Prompts 6 to 8"
        assert page.title().startswith("Prompts 6 to 8 · ")
        assert page.locator("#turn-8 .deed").count() == 2
        page.mouse.move(640, 400)
        page.mouse.wheel(0, -900)
        until(page, "document.querySelector('.follow [aria-pressed=true]') === null")
        above = settled(page, _AT_SEVEN)  # turns before it may come above, which moves nothing that is seen
        _written(log.assistant(log.text("And more.")), tmp_path)
        page.locator("text=And more.").wait_for()
        assert abs(page.evaluate(_AT_SEVEN) - above) < 5
        page.locator(".follow .new").click()
        until(page, "window.scrollY > document.documentElement.scrollHeight - window.innerHeight - 130")
        until(page, "document.querySelector('.follow [aria-pressed=true]') !== null")
        assert not page.locator(".follow .new").is_visible()


def test_six_prompts_later_the_page_has_them_all_once(browser: Any, tmp_path: Path) -> None:
    log = _session(tmp_path, 4)
    with served(desk_of(tmp_path / "projects")) as app, window(browser, app) as page:
        page.goto(f"{app}/s/{log.session_id}/last")
        for number in range(5, 11):
            _written(log.prompt(f"Question {number}").assistant(log.text(f"Answer {number}")), tmp_path)
            page.locator(f"#turn-{number} .answer").wait_for()
        shown = page.evaluate("Array.from(document.querySelectorAll('main > .turn')).map((one) => one.id)")
        assert shown == [f"turn-{number}" for number in range(1, 11)]
        page.reload()
        page.wait_for_url("**/page-001.html*")


def test_folds_stay_open_while_a_turn_goes_on(browser: Any, tmp_path: Path) -> None:
    log = LogBuilder(start=datetime.now(UTC) - timedelta(minutes=5))
    log.prompt("Look").ran("ls", "README.md")
    _written(log, tmp_path)
    with served(desk_of(tmp_path / "projects")) as app, window(browser, app) as page:
        page.goto(f"{app}/s/{log.session_id}/last")
        page.locator("details.call > summary").click()
        _written(log.assistant(log.text("A README.")), tmp_path)
        page.locator("text=A README.").wait_for()
        assert page.locator("details.call[open]").count() == 1


def test_the_board_keeps_itself_up_to_date(browser: Any, tmp_path: Path) -> None:
    log = _session(tmp_path, 1)
    with served(desk_of(tmp_path / "projects")) as app, window(browser, app) as page:
        page.goto(f"{app}/live")
        assert page.locator(".board .title").text_content() == "Question 1"
        other = LogBuilder(session_id="bbbbbbbb-0000-4000-8000-000000000000")
        _written(other.prompt("Quite another").assistant(other.text("Yes")), tmp_path)
        page.locator(".board .title", has_text="Quite another").wait_for()
        page.locator(".board .title", has_text="Question 1").click()
        page.wait_for_url(f"**/s/{log.session_id}/page-001.html#live")


def test_a_session_is_presented_part_by_part(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/")
        page.locator("a", has_text="Present").click()
        page.wait_for_url("**/present*")
        seen = "document.querySelectorAll('.stage .turn > :not(.later, .calls, .foot), .calls > :not(.later)').length"
        until(page, f"{seen} === 1")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(seen) == 2
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(seen) == 1
        page.keyboard.press("ArrowDown")
        page.wait_for_url("**/present?turn=2*")
        until(page, "document.querySelector('.stage #turn-2') !== null")
        page.keyboard.press("ArrowLeft")
        until(page, "document.querySelector('.stage #turn-1') !== null")
        assert page.locator(".stage .later").count() == 0
        page.keyboard.press("Escape")
        page.wait_for_url("**/page-001.html#turn-1")


def test_a_presenter_hides_what_is_not_for_the_audience(browser: Any, app: str) -> None:
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/present?turn=1")
        page.locator("[data-hide=tools]").click()
        for _ in range(9):
            page.keyboard.press("PageDown")
        assert not any(one.is_visible() for one in page.locator(".stage .call").all())
        page.reload()
        assert page.locator("[data-hide=tools]").get_attribute("aria-pressed") == "true"
        before = page.locator(".prompt").bounding_box()["height"]
        page.keyboard.press("+")
        assert page.locator(".prompt").bounding_box()["height"] > before


def test_a_presentation_needs_no_scripts(browser: Any, app: str) -> None:
    with window(browser, app, java_script_enabled=False) as page:
        page.goto(f"{app}/s/{STORM}/present")
        page.locator("a[rel=next]").click()
        page.wait_for_url("**/present?turn=2")
        assert "and show it in centimetres" in page.locator(".stage").text_content()


def test_a_long_session_is_completed_under_the_reader(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_session, "LONG", 20_000)
    monkeypatch.setattr(partial_read, "_BEGINNING", 15_000)
    log = _session(tmp_path, 60)
    with served(desk_of(tmp_path / "projects")) as app, window(browser, app) as page:
        page.goto(f"{app}/s/{log.session_id}/page-001.html")
        until(page, "document.querySelector('.rail .label').textContent === '60 prompts'")
        assert page.locator(".pager").first.locator("a", has_text="12").count() == 1
        assert page.locator(".turn").count() == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, app: str, scheme: str) -> None:
    axe = os.environ.get("UNSPOOL_AXE", "")
    if not Path(axe).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    with window(browser, app, color_scheme=scheme, bypass_csp=True) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        raw = page.locator(".behind").first.get_attribute("href")
        ways = ("page-001.html", "present", "branches", "resume", "")
        paths = [*(f"/s/{STORM}/{way}" for way in ways), f"/s/{CHAIN}/story", raw, "/live"]
        for path in paths if scheme == "light" else some(paths, 3):
            page.goto(f"{app}{path}")
            page.locator("main").wait_for()
            page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")
            page.add_script_tag(path=axe)
            page.evaluate(SETTLE)
            found = page.evaluate(
                "axe.run({ preload: false, resultTypes: ['violations'] }).then((told) => told.violations)"
            )
            broken = [(one["id"], [node["html"][:120] for node in one["nodes"][:2]]) for one in found]
            assert broken == [], path


def test_a_long_subagent_is_opened_in_place_or_alone(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is loaded when it is opened, with all of its pages; what is in it can be opened in turn."""
    monkeypatch.setattr(session_view, "MAX_INLINE_AGENT", 10)
    with served(desk_of(demo_source())) as app, window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        row = page.locator("details.call[id^=agent-]").first
        assert row.locator(".turn").count() == 0
        row.locator("summary").first.focus()
        page.keyboard.press("Enter")
        row.locator(".turn").first.wait_for()
        row.locator("> .agent > [data-load]").wait_for(state="detached")
        assert row.locator(".prompt h3").first.text_content() == "Asked"
        here = row.locator("> .agent > .loaded > .turn").count()
        row.locator("a", has_text="Open alone").first.click()
        page.wait_for_url("**/agent-*.html")
        assert page.locator("main .agent.own > .turn .prompt").first.is_visible()
        assert here == page.locator("main .agent.own > .turn").count()


def test_tokens_are_shown_on_request_and_that_is_remembered(browser: Any, app: str) -> None:
    """At an answer and at a row; nothing moves on a page that is opened with them."""
    with window(browser, app) as page:
        page.goto(f"{app}/s/{STORM}/page-001.html")
        took = page.locator("#turn-1 .took")
        assert took.count() > 2
        assert not took.first.is_visible()
        page.locator("details.menu > summary").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Tokens").focus()
        page.keyboard.press("Space")
        assert took.first.is_visible()
        assert re.fullmatch(r"[\d.]+( [kM])? window · ≥?[\d.]+( [kM])? out · ≥?\$\d+\.\d+", took.first.text_content())
        page.goto(f"{app}/s/{STORM}/page-002.html")
        assert page.locator(".took").first.is_visible()
        page.locator("details.menu > summary").click()
        assert page.get_by_label("Tokens").is_checked()
        page.locator(".sheet label", has_text="Thinking").click()
        page.get_by_label("Tokens").uncheck()
        assert not page.locator(".took").first.is_visible()
        assert "hide=thinking" in page.url
