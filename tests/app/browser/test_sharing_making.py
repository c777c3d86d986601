"""What is made of a reviewed session, as a person makes it: titled, with its chain, sealed, published."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.app.asking import NOW
from tests.app.browser.finding import axe, faults
from tests.app.browser.windows import opened
from tests.app.browsing import browsed, planned
from tests.app.secrets import leaky
from tests.cli.fakes import GIST, gh
from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import DESKTOP, PHONE, drawn, tab, too_wide

WORK, LEAKY, MANY, NONE = "/s/work/share", "/s/leaky/share", "/s/many/share", "/s/none/share"
WORDS = "four tides every day"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with browsed(tmp_path, *planned(), leaky(), _none()) as app:
        yield app.address


def _none() -> LogBuilder:
    log = LogBuilder(session_id="none", seed="none", cwd="/srv/x", start=NOW - timedelta(hours=6))
    return log.prompt("Count to three.").assistant(log.text("One two three."))


def _many() -> LogBuilder:
    """Two thousand values, with a title and words that have no end."""
    log = LogBuilder(session_id="many", seed="many", cwd=f"/home/{'p' * 60}/{'q' * 90}", start=NOW - timedelta(hours=5))
    mails = "\n".join(f"mail person{number}@nordlys-havn.no soon" for number in range(1500))
    log.prompt(mails).assistant(log.text("endless" * 200))
    log.ran("cat hosts", "\n".join(f"host 203.{number // 250}.113.{number % 250} up" for number in range(500)))
    return log.title("Verylongword" * 30)


@pytest.mark.parametrize(("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_a_chain_is_titled_previewed_and_sealed_by_a_key(
    browser: Any, address: str, tmp_path: Path, viewport: dict[str, int], scheme: str
) -> None:
    """And the file opens with the key that the page tells, in a browser that has never seen the app."""
    file = tmp_path / "made.html"
    with opened(browser, address, viewport=viewport, color_scheme=scheme) as window:
        page = window.go(WORK)
        page.get_by_role("button", name="The whole chain").click()
        page.locator("#chain[aria-pressed=true]").wait_for()
        page.get_by_label("Title").fill("A lamp, lit")
        page.keyboard.press("Enter")
        page.locator(".share-title", has_text="A lamp, lit").wait_for()
        assert page.evaluate("document.activeElement.id") == "title"
        page.get_by_role("link", name="Preview the result").click()
        page.get_by_role("heading", name="A lamp, lit", level=1).wait_for()
        page.locator(".chain a").first.click()
        page.get_by_role("heading", name="Plan a lighthouse", level=1).wait_for()
        page.get_by_role("link", name="← Review").click()
        page.get_by_label("Only with a key").check()
        assert not page.get_by_role("button", name="A bundle").is_visible(), "a bundle cannot be sealed"
        page.get_by_role("button", name="One HTML file").click()
        page.get_by_role("heading", name="It is made").wait_for()
        assert too_wide(page) == ""
        key = page.locator("#fragment").inner_text()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download").click()
        download.value.save_as(file)
    with tab(browser) as other:
        page = other.open(file)
        page.get_by_text("This session is encrypted").wait_for()
        page.goto("about:blank")
        page = other.open(file, key.removeprefix("#"))
        page.get_by_role("heading", name="A lamp, lit", level=1).wait_for()


def test_a_passphrase_is_asked_for_twice_and_long_enough(browser: Any, address: str, tmp_path: Path) -> None:
    """The browser says what is wrong before anything is sent."""
    with opened(browser, address) as window:
        page = window.go(WORK)
        first, again = page.get_by_label("Passphrase, at least"), page.get_by_label("Once more")
        assert not first.is_visible()
        page.get_by_label("Only with a passphrase").check()
        make = page.get_by_role("button", name="One HTML file")
        for one, other, fits in (
            ("", "", False),
            ("short", "short", False),
            (WORDS, "else", False),
            (WORDS, WORDS, True),
        ):
            first.fill(one)
            again.fill(other)
            assert page.evaluate("document.querySelector('[data-makes]').checkValidity()") is fits
        first.fill("short")
        make.click()
        assert page.url.endswith(WORK), "nothing was sent"
        first.fill(WORDS)
        with page.expect_download() as download:
            make.click()
        download.value.save_as(tmp_path / "made.html")
        assert "This session is encrypted" in (tmp_path / "made.html").read_text()


def test_what_was_typed_for_a_passphrase_hinders_nothing_else(browser: Any, address: str) -> None:
    with opened(browser, address) as window:
        page = window.go(WORK)
        page.get_by_label("Only with a passphrase").check()
        page.get_by_label("Passphrase, at least").fill("a passphrase")
        page.get_by_label("Whoever has it").check()
        with page.expect_download() as download:
            page.get_by_role("button", name="One HTML file").click()
        assert download.value.suggested_filename == "session-work.html"


def test_a_gist_is_published_in_two_steps(
    browser: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = gh(tmp_path / "gh", monkeypatch)
    with opened(browser, address, viewport=PHONE) as window:
        page = window.go(WORK)
        assert not page.get_by_role("button", name="Publish the gist").is_visible()
        page.get_by_text("A gist on GitHub").click()
        page.get_by_role("button", name="Publish the gist").click()
        page.get_by_role("heading", name="It is published").wait_for()
        assert page.get_by_role("link", name=GIST).get_attribute("href") == GIST
        assert too_wide(page) == ""
    assert "--public" not in (fake / "asked").read_text()


def test_findings_are_judged_by_keys(browser: Any, address: str) -> None:
    """From one to the next, kept and replaced, without a mouse; and the keys are told."""
    with opened(browser, address) as window:
        page = window.go(LEAKY)
        names = page.locator(".value").evaluate_all("(all) => all.map((one) => one.id)")
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.closest('.value').id") == names[1]
        page.keyboard.press("e")
        page.locator(f"#{names[1]}.stays").wait_for()
        page.keyboard.press("r")
        page.locator(f"#{names[1]}:not(.stays)").wait_for()
        page.keyboard.press("k")
        assert page.evaluate("document.activeElement.closest('.value').id") == names[0]
        page.get_by_label("Title").focus()
        page.keyboard.type("jerk")
        assert page.get_by_label("Title").input_value() == "jerk"
        page.keyboard.press("Tab")
        page.keyboard.press("?")
        assert "next finding" in page.locator("dialog[open]").inner_text()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_two_thousand_findings_and_endless_words_fit(browser: Any, tmp_path: Path, viewport: dict[str, int]) -> None:
    """The ways on stay in sight while one scrolls through them."""
    with browsed(tmp_path, _many()) as app, opened(browser, app.address, viewport=viewport) as window:
        page = window.go(MANY)
        assert "values in 2," in page.locator(".share-head p").first.inner_text()
        assert too_wide(page) == ""
        page.keyboard.press("End")
        page.mouse.wheel(0, -4000)
        drawn(page)
        box = page.get_by_role("link", name="Preview the result").bounding_box()
        assert 0 < box["y"] < viewport["height"]
        page.get_by_role("link", name="Make it ↓").click()
        page.get_by_role("button", name="A bundle").click(trial=True)


def test_axe_finds_nothing(browser: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a chain with a passphrase, where nothing is found, and on what tells of a key and of a gist."""
    script = axe()
    gh(tmp_path / "gh", monkeypatch)
    with opened(browser, address, bypass_csp=True) as window:
        page = window.go(NONE)
        assert faults(page, script) == []
        window.go(WORK)
        page.get_by_role("button", name="The whole chain").click()
        page.locator("#chain[aria-pressed=true]").wait_for()
        page.get_by_text("A gist on GitHub").click()
        page.get_by_label("Only with a passphrase").check()
        assert faults(page, script) == []
        page.get_by_label("Only with a key").check()
        page.get_by_role("button", name="One HTML file").click()
        page.get_by_role("heading", name="It is made").wait_for()
        assert faults(page, script) == []
        window.go(WORK)
        page.get_by_text("A gist on GitHub").click()
        page.get_by_role("button", name="Publish the gist").click()
        page.get_by_role("heading", name="It is published").wait_for()
        assert faults(page, script) == []
        window.go(f"{WORK}/preview/")
        page.get_by_text("What comes with it").click()
        assert faults(page, script) == []
