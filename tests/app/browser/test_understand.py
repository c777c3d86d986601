"""Windows of sessions and files as they stood in a real browser: no faults, nothing too wide, axe content."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.asking import Site, harbour, shop, site
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened as window
from tests.app.serving import served
from tests.log_builder.builder import LogBuilder
from tests.site.browser import hostile
from tests.site.browser.tabs import DESKTOP, PHONE, too_wide
from unspool.app.context import AppContext
from unspool.store.sync import sync

TIMELINE = "/files?path=/home/dev/shop/src/pay.py"
CHART = "/s/shop/context"
WAYS = ("/", "/stats?heat=cost", CHART, f"{CHART}?from=2&to=2", "/files", TIMELINE, f"{TIMELINE}&view=lines", "then")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("understood"), shop(), harbour()) as opened:
        yield opened


def went(opened: Any, way: str) -> Any:
    """The page of a way; `then` is where a person comes to from a time-line."""
    page = opened.go(TIMELINE if way == "then" else way)
    if way == "then":
        page.get_by_role("link", name="as it stood", exact=True).last.click()
        page.wait_for_url("**/files/at?*")
    for fold in page.locator("main details > summary").all():
        fold.click()
    return page


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("way", WAYS)
def test_a_page_has_no_faults_and_fits(browser: Any, app: Site, way: str, size: Any) -> None:
    with window(browser, app.address, viewport=size) as opened:
        assert too_wide(went(opened, way)) == ""


@pytest.mark.parametrize("way", WAYS)
def test_axe_finds_nothing(browser: Any, app: Site, way: str) -> None:
    script = axe()
    with window(browser, app.address, bypass_csp=True) as opened:
        assert faults(went(opened, way), script) == []


def test_the_window_is_found_from_the_session_and_leads_back_to_a_turn(browser: Any, app: Site) -> None:
    with window(browser, app.address, java_script_enabled=False) as opened:
        page = opened.go("/s/shop/")
        page.get_by_role("link", name="What filled it").click()
        page.wait_for_url("**/s/shop/context")
        page.get_by_text("All figures as a table").first.click()
        page.get_by_role("link", name="2 And step 0?").click()
        page.wait_for_url("**/s/shop/page-001.html#turn-2")


def test_a_file_is_followed_from_one_time_to_the_next_without_scripts(browser: Any, app: Site) -> None:
    with window(browser, app.address, java_script_enabled=False) as opened:
        page = went(opened, "then")
        assert "slow = False" in page.locator("#whole ~ * code, #whole ~ div code").first.inner_text()
        page.get_by_role("link", name="Changes").click()
        page.wait_for_url("**/files?path=*")


def often() -> LogBuilder:
    """A file that was changed more often than a page shows at once, the last time by much."""
    log = LogBuilder(session_id="often", cwd="/home/dev/count").prompt(
        "Count, and mind the width of what you write: " * 9
    )
    log.wrote("/home/dev/count/n.py", "n = 0\n")
    for number in range(6):
        log.edited("/home/dev/count/n.py", f"n = {number}\n", f"n = {number}", f"n = {number + 1}")
    return log.title("Often " * 40).wrote("/home/dev/count/n.py", "wide = 1 " * 99 + "\n" * 40, "n = 6\n")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("counted"), often()) as opened:
        yield opened


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_lines_of_an_earlier_change_come_when_they_are_asked_for(browser: Any, counted: Site, size: Any) -> None:
    with window(browser, counted.address, viewport=size) as opened:
        page = opened.go("/files?path=/home/dev/count/n.py")
        assert page.locator("article .panel").count() == 3
        page.get_by_text("Show the lines").first.click()
        page.wait_for_selector("article details .panel del")
        assert too_wide(page) == ""


def test_keys_go_from_change_to_change(browser: Any, counted: Site) -> None:
    with window(browser, counted.address) as opened:
        page = opened.go("/files?path=/home/dev/count/n.py")
        met = []
        for key in "jjk":
            page.keyboard.press(key)
            met.append(page.evaluate("document.activeElement.id"))
        assert met == ["change-8", "change-7", "change-8"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_the_states_of_a_file_are_gone_through(browser: Any, counted: Site, size: Any, scripts: bool) -> None:
    with window(browser, counted.address, viewport=size, java_script_enabled=scripts) as opened:
        page = opened.go("/files?path=/home/dev/count/n.py")
        page.locator(".states a").nth(2).click()
        page.wait_for_url("**/files/at?*")
        assert "n = 2" in page.locator("#whole ~ div code").first.inner_text()
        assert page.locator(".states a").nth(2).get_attribute("aria-current") == "true"
        if scripts:
            page.keyboard.press("j")
        else:
            page.get_by_role("link", name="the change after").click()
        page.wait_for_selector(".states a:nth-child(4)[aria-current]")
        assert "n = 3" in page.locator("#whole ~ div code").first.inner_text()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("attacked")
    hostile.write(folder / "source")
    sync(folder / "archive", [folder / "source"])
    with served(AppContext(folder / "archive", [folder / "source"])) as address:
        yield address


def calm(page: Any) -> None:
    """Nothing that a log holds acts on the page, or is wider than it."""
    for fold in page.locator("main details > summary").all():
        fold.click()
    assert not page.evaluate("'pwned' in window")
    assert page.locator("main script, main iframe, main object, main embed").count() == 0
    assert too_wide(page) == ""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_hostile_sessions_do_nothing_on_their_windows(browser: Any, attacked: str, size: Any) -> None:
    with window(browser, attacked, viewport=size) as opened:
        page = opened.go("/stats")
        links = page.locator("section[aria-labelledby=longest] .ranks a")
        found = links.evaluate_all("(all) => all.map((one) => new URL(one.href).pathname)")
        assert found
        for link in found:
            calm(opened.go(f"{link}context"))


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_hostile_files_do_nothing_as_they_stood(browser: Any, attacked: str, size: Any) -> None:
    with window(browser, attacked, viewport=size) as opened:
        page = opened.go("/stats")
        files = page.locator("section[aria-labelledby=files] .ranks a").evaluate_all("(all) => all.map((o) => o.href)")
        looked = 0
        for file in files[:6]:
            opened.go(file.removeprefix(attacked))
            times = page.locator("a.then").evaluate_all("(all) => all.map((one) => one.href)")
            for time in times[:2]:
                calm(opened.go(time.removeprefix(attacked)))
                looked += 1
        assert looked


def test_dragging_across_the_chart_leads_to_the_turns_dragged_over(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = opened.go("/s/shop/context")
        bars = page.locator(".stacks a")
        first, last = bars.nth(0).bounding_box(), bars.nth(1).bounding_box()
        page.mouse.move(first["x"] + first["width"] / 2, first["y"] + 20)
        page.mouse.down()
        page.mouse.move(last["x"] + last["width"] / 2, last["y"] + 20, steps=4)
        page.mouse.up()
        page.wait_for_url("**/context?from=1&to=2#spending")
        assert "Turns 1–2, by" in page.locator(".stacks").get_attribute("aria-label")
        page.get_by_role("link", name="All turns").click()
        page.wait_for_url("**/context?from=1&to=*#spending")


def test_every_bar_of_the_chart_can_be_reached_by_keys_and_leads_to_its_turn(browser: Any, app: Site) -> None:
    with window(browser, app.address, java_script_enabled=False) as opened:
        page = opened.go("/s/shop/context")
        page.locator(".stacks a").nth(1).focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/shop/page-001.html#turn-2")
