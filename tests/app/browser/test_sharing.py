"""The review before sharing as a person walks it: with a script, without one, by keyboard, on a phone."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened
from tests.app.browsing import browsed
from tests.app.secrets import CUSTOMER, MAIL, OTHER, PERSON, TOKEN, WORD, leaky
from tests.site.browser.tabs import DESKTOP, PHONE, too_wide
from tests.site.search.chromium import until
from unspool.app import share_files

REVIEW = "/s/leaky/share"
WHERE = (REVIEW, f"{REVIEW}/preview/", f"{REVIEW}/preview/page-001.html")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """An app of its own for each test: turns that are left out are remembered as long as it runs."""
    with browsed(tmp_path, leaky()) as app:
        yield app.address


def finding(page: Any, words: str) -> Any:
    """The part of the review that shows a finding in these words."""
    return page.locator(".value", has_text=words)


@pytest.mark.parametrize(("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_a_session_is_reviewed_previewed_and_made(
    browser: Any, address: str, tmp_path: Path, viewport: dict[str, int], scheme: str
) -> None:
    """From its page to the file, with a finding kept, a term added, a turn and thinking left out."""
    with opened(browser, address, viewport=viewport, color_scheme=scheme) as window:
        page = window.go("/s/leaky/")
        page.get_by_role("link", name="Share", exact=True).click()
        page.wait_for_url(f"**{REVIEW}")
        page.evaluate("window.same = true")
        finding(page, "other one is").last.get_by_role("button", name="Keep").click()
        page.locator(".value.stays").wait_for()
        page.get_by_label("A word or phrase").fill(CUSTOMER)
        page.keyboard.press("Enter")
        page.get_by_text("[redacted:term-1]").first.wait_for()
        page.get_by_role("button", name="Leave out turn 2").click()
        page.get_by_role("button", name="Bring back turn 2").wait_for()
        page.get_by_role("button", name="Thinking").click()
        page.locator("#kind-thinking[aria-pressed=true]").wait_for()
        assert page.evaluate("window.same"), "no new page for any of it"
        page.get_by_role("link", name="Preview the result").click()
        page.get_by_text("This is what is shared.").wait_for()
        page.locator("a[rel=next]").first.click()
        told = page.locator("main").inner_html()
        assert OTHER in told
        assert not any(word in told for word in (TOKEN, MAIL, PERSON, CUSTOMER, WORD, "in the environment"))
        page.get_by_role("link", name="← Review").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="A folder of pages").click()
        file = tmp_path / "made.zip"
        download.value.save_as(file)
        with zipfile.ZipFile(file) as packed:
            everything = b"".join(packed.read(name) for name in packed.namelist())
        assert OTHER.encode() in everything
        assert not any(word.encode() in everything for word in (TOKEN, MAIL, PERSON, CUSTOMER, WORD))


def test_the_focus_stays_where_a_choice_was_made(browser: Any, address: str) -> None:
    with opened(browser, address) as window:
        page = window.go(REVIEW)
        keep = page.get_by_role("button", name="Keep", exact=True).first
        name = keep.get_attribute("id")
        keep.focus()
        page.keyboard.press("Enter")
        page.locator(f"#{name}[aria-pressed=true]").wait_for()
        assert page.evaluate("document.activeElement.id") == name
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        page.locator(f"#{name}[aria-pressed=false]").wait_for()
        until(page, "document.querySelector('[data-say]').textContent.includes('All of them are replaced')")


@pytest.mark.parametrize("where", [REVIEW, f"{REVIEW}/preview/page-001.html"])
def test_a_selected_stretch_must_not_leave(browser: Any, address: str, where: str) -> None:
    """In the review and in the preview."""
    with opened(browser, address) as window:
        page = window.go(where)
        page.evaluate(_SELECT, "tide table")
        page.get_by_role("button", name="Must not leave").click()
        page.get_by_text("[redacted:term-1]").first.wait_for(state="attached")
        page.goto(f"{address}{REVIEW}")
        assert page.locator(".terms li > span").all_inner_texts() == ["tide table"]


def test_nothing_is_offered_where_nothing_is_selected(browser: Any, address: str) -> None:
    with opened(browser, address) as window:
        page = window.go(f"{REVIEW}/preview/page-001.html")
        assert not page.get_by_role("button", name="Must not leave").is_visible()
        page.evaluate(_SELECT, "tide table")
        page.get_by_role("button", name="Must not leave").wait_for()
        page.evaluate("getSelection().removeAllRanges()")
        page.locator(".pick").wait_for(state="hidden")


def test_without_a_script_the_forms_do_it(browser: Any, address: str) -> None:
    with opened(browser, address, java_script_enabled=False) as window:
        page = window.go(REVIEW)
        finding(page, "other one is").last.get_by_role("button", name="Keep").click()
        page.locator(".value.stays").wait_for()
        assert page.locator(".value.stays").count() == 1
        assert "#f-" in page.url, "the page is where it was"
        page.get_by_label("A word or phrase").fill(CUSTOMER)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Leave out turn 2").click()
        page.get_by_role("button", name="Subagents").click()
        page.get_by_role("link", name="Preview the result").click()
        page.locator("a[rel=next]").first.click()
        told = page.locator("main").inner_html()
        assert OTHER in told
        assert not any(word in told for word in (TOKEN, CUSTOMER, WORD))
        page.goto(f"{address}{REVIEW}")
        page.get_by_role("button", name=f"No longer {CUSTOMER}").click()
        assert page.locator(".terms li").count() == 0


@pytest.mark.parametrize("where", WHERE)
def test_every_page_fits_a_phone(browser: Any, address: str, where: str) -> None:
    with opened(browser, address, viewport=PHONE) as window:
        page = window.go(where)
        assert too_wide(page) == ""


@pytest.mark.parametrize("where", WHERE)
def test_axe_finds_nothing(browser: Any, address: str, where: str) -> None:
    script = axe()
    with opened(browser, address, bypass_csp=True) as window:
        page = window.go(REVIEW)
        finding(page, "other one is").last.get_by_role("button", name="Keep").click()
        page.locator(".value.stays").wait_for()
        page.get_by_label("A word or phrase").fill(CUSTOMER)
        page.keyboard.press("Enter")
        page.locator(".terms li").wait_for()
        page.get_by_role("button", name="Leave out turn 2").click()
        page.get_by_role("button", name="Bring back turn 2").wait_for()
        page.get_by_role("button", name="Thinking").click()
        page.locator("#kind-thinking[aria-pressed=true]").wait_for()
        page.goto(f"{address}{where}")
        assert faults(page, script) == []


_SELECT = """(words) => {
  const walker = document.createTreeWalker(document.querySelector("[data-around], main .turn").closest("main"), 4);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(words);
    const held = walker.currentNode.parentElement.closest("[data-around], .turn, .words");
    if (at < 0 || !held || !held.checkVisibility()) continue;
    const range = document.createRange();
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + words.length);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return;
  }
}"""


def test_of_a_long_session_the_review_takes_the_place_of_the_bar_by_itself(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share_files, "LONG", 0)
    with opened(browser, address, viewport=PHONE) as window:
        page = window.go(REVIEW)
        finding(page, "other one is").last.wait_for()
        page.get_by_label("A word or phrase").fill(CUSTOMER)
        page.keyboard.press("Enter")
        page.get_by_text("[redacted:term-1]").first.wait_for()
        assert page.locator("[data-waits]").count() == 0
