"""Search, dashboard and files in a real browser: no faults, nothing too wide, nothing executed, without scripts too."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.asking import Site, harbour, shop, site
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened as window
from tests.app.serving import served
from tests.site.browser import hostile
from tests.site.browser.tabs import DESKTOP, PHONE, too_wide
from tests.site.search.chromium import until
from unspool.app.context import AppContext
from unspool.store.sync import sync

PATHS = (
    "/search",
    "/search?q=checkout",
    "/search?q=kind:zzz",
    "/stats",
    "/stats?days=7",
    "/files",
    "/files?path=/work/shop/src/pay.py",
    "/context-files",
    "/context-files?path=CLAUDE.md",
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "source").mkdir()
    (folder / "source" / "CLAUDE.md").write_text("Mind the checkout.\n" + "x" * 3000)
    with site(folder, shop(), harbour()) as opened:
        yield opened


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("attacked")
    hostile.write(folder / "source")
    sync(folder / "archive", [folder / "source"])
    with served(AppContext(folder / "archive", [folder / "source"])) as address:
        yield address


def open_all(page: Any) -> None:
    """Open all that is folded; on a phone the filters are, behind one switch."""
    switch = page.locator(".folds + label:visible")
    if switch.count():
        switch.click()
    for fold in page.locator("main details > summary").all():
        fold.click()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_no_faults_and_fits(browser: Any, app: Site, path: str, size: Any) -> None:
    with window(browser, app.address, viewport=size) as opened:
        page = opened.go(path)
        open_all(page)
        assert too_wide(page) == ""
        opened.faults = [fault for fault in opened.faults if "400 (Bad Request)" not in fault or "zzz" not in path]


@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing(browser: Any, app: Site, path: str) -> None:
    script = axe()
    with window(browser, app.address, bypass_csp=True) as opened:
        page = opened.go(path)
        page.keyboard.press("o")
        assert faults(page, script) == []
        opened.faults = [fault for fault in opened.faults if "400 (Bad Request)" not in fault or "zzz" not in path]


def test_search_works_without_scripts(browser: Any, app: Site) -> None:
    with window(browser, app.address, java_script_enabled=False) as opened:
        page = opened.go("/stats")
        page.get_by_role("navigation", name="Parts").get_by_role("link", name="Search").click()
        page.get_by_role("searchbox").fill("quicksilver")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=quicksilver")
        assert page.locator("mark").all_inner_texts() == ["quicksilver"]
        page.locator("a.hit").first.click()
        page.wait_for_url("**/s/shop/page-002.html#msg-*")


def test_a_table_can_be_downloaded(browser: Any, app: Site) -> None:
    with window(browser, app.address) as opened:
        page = opened.go("/stats")
        with page.expect_download() as told:
            page.get_by_role("link", name="By tool as CSV").click()
        assert told.value.suggested_filename == "unspool-tools.csv"
        assert "Bash" in Path(told.value.path()).read_text("utf-8")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_hostile_sessions_do_nothing_on_any_page(browser: Any, attacked: str, size: Any) -> None:
    with window(browser, attacked, viewport=size) as opened:
        for path in ("/stats", "/files", "/files?path=script", "/search?kind=title", "/search?q=pwned&n=100&hits=100"):
            page = opened.go(path)
            open_all(page)
            assert not page.evaluate("'pwned' in window")
            assert page.locator("main script, main iframe, main img, main object, main embed").count() == 0
            assert too_wide(page) == ""


def test_hostile_files_have_time_lines(browser: Any, attacked: str) -> None:
    with window(browser, attacked) as opened:
        page = opened.go("/stats")
        links = page.locator("section[aria-labelledby=files] .ranks a").evaluate_all(
            "(all) => all.map((one) => one.href)"
        )
        assert links
        for link in links:
            opened.go(link.removeprefix(attacked))
            assert page.locator("main h1").count() == 1
            assert not page.evaluate("'pwned' in window")


@pytest.mark.parametrize("text", ["pwned", "script", "onerror", "is:error", "tool:", "project:", "kind:title"])
def test_hostile_text_is_text_in_the_palette(browser: Any, attacked: str, text: str) -> None:
    with window(browser, attacked) as opened:
        page = opened.go("/stats")
        page.keyboard.press("Control+k")
        page.keyboard.insert_text(text)
        until(page, "document.querySelectorAll('.search [role=option]').length > 0")
        assert not page.evaluate("'pwned' in window")
        inside = page.locator(".search-results *").evaluate_all("(all) => [...new Set(all.map((one) => one.tagName))]")
        assert set(inside) <= {"DIV", "A", "SPAN", "B", "TIME", "MARK"}
