"""A share in a browser: sent by the command, seen on a app and on a phone, locked, changed, ended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.cli.running import run, source
from tests.hub.running import running
from tests.hub.shares.bundles import SESSION, log, packed
from tests.hub.shares.conftest import Place, place
from tests.site.browser import hostile
from tests.site.browser.tabs import DESKTOP, PHONE, Tab, tab, too_wide
from unspool.hub.store.connect import Store

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def at(files_store: Store, tmp_path: Path) -> Iterator[Place]:
    """A hub where Ann is signed in by the command."""
    with running(files_store) as client:
        here = place(files_store, client)
        (tmp_path / "token").write_text(here.ann.token)
        assert run("login", client.address, "--token-file", str(tmp_path / "token")).code == 0
        source(tmp_path / "logs", log())
        yield here


def share(tmp_path: Path, *more: str) -> str:
    """The link that the command prints."""
    done = run("share", SESSION, "--source", str(tmp_path / "logs"), "--hub", "--yes", *more)
    assert done.code == 0, done.err
    return done.out.strip()


def calm(one: Tab, at: Place, *more: str) -> None:
    """Nothing went wrong but what was meant to, and nothing was asked for elsewhere."""
    one.page.goto("about:blank")  # icons come late
    kept = [fault for fault in one.faults if not fault.startswith(f"request: {at.ann.address}/")]
    one.faults[:] = [fault for fault in kept if not any(word in fault for word in more)]


@SIZES
def test_a_link_opens_and_is_copied(at: Place, tmp_path: Path, browser: Any, size: Any) -> None:
    link = share(tmp_path, "--raw")
    with tab(browser, viewport=size, bypass_csp=True) as one:
        page = one.page
        page.goto(link)
        assert page.title() == "Make a tide table"
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("Link copied").wait_for()
        assert pasted(page) == link
        assert too_wide(page) == ""
        assert faults(page, axe()) == []
        with page.expect_download() as download:
            page.get_by_role("link", name="Download").click()
        assert download.value.suggested_filename == "Make a tide table.tar.gz"
        calm(one, at)


def pasted(page: Any) -> str:
    """What the clipboard holds, which no script of ours may read."""
    page.keyboard.press("/")
    field = page.locator("dialog[open] input").first
    field.press("Control+V")
    text = str(field.input_value())
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    return text


@SIZES
def test_scripts_run_only_as_the_policy_lets_them(at: Place, tmp_path: Path, browser: Any, size: Any) -> None:
    link = share(tmp_path)
    with tab(browser, viewport=size) as one:
        page = one.page
        page.goto(link)
        page.get_by_role("link", name="Read from the start →").click()
        page.get_by_text("The tide table is ready.").wait_for()
        page.go_back()
        page.keyboard.press("/")
        page.locator("dialog[open] input").first.fill("tide")
        page.locator("dialog[open] mark").first.wait_for()
        assert page.evaluate("fetch('/api/me').then(() => 'asked', () => 'kept')") == "kept"
        calm(one, at, "Content Security Policy")


@SIZES
def test_a_password_is_asked_for(at: Place, tmp_path: Path, browser: Any, size: Any) -> None:
    (tmp_path / "word").write_text("öffne dich & 5%\n")
    link = share(tmp_path, "--password-file", str(tmp_path / "word"))
    with tab(browser, viewport=size, bypass_csp=True) as one:
        page = one.page
        page.goto(link)
        assert "tide" not in page.content()
        assert too_wide(page) == ""
        assert faults(page, axe()) == []
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Open").click()
        page.get_by_role("alert").wait_for()
        assert faults(page, axe()) == []
        page.get_by_label("Password").fill("öffne dich & 5%")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Make a tide table").wait_for()
        page.reload()
        assert page.title() == "Make a tide table"
        calm(one, at, "status of 401", "status of 403")


def test_an_update_shows_and_an_end_ends(at: Place, tmp_path: Path, browser: Any) -> None:
    link = share(tmp_path)
    with tab(browser) as one:
        page = one.page
        page.goto(f"{link}/page-001.html")
        page.get_by_text("The tide table is ready.").wait_for()
        source(tmp_path / "logs", log("The harbour is closed."))
        assert share(tmp_path, "--update", link) == link
        page.goto(f"{link}/page-001.html")
        page.get_by_text("The harbour is closed.").wait_for()
        assert run("shares", "update", link, "--expires", "1m").code == 0
        at.store.db.run("UPDATE share SET expires = expires - 60000")
        assert page.goto(link).status == 404
        assert "There is nothing at this address." in page.content()
        assert run("shares", "update", link, "--expires", "never").code == 3
        other = share(tmp_path)
        assert page.goto(other).status == 200
        assert run("shares", "delete", other).code == 0
        assert page.goto(other).status == 404
        calm(one, at, "status of 404")


def test_hostile_sessions_do_nothing_to_a_reader(at: Place, tmp_path: Path, browser: Any) -> None:
    hostile.write(tmp_path / "bad")
    with tab(browser) as one:
        for path in sorted((tmp_path / "bad").rglob("????????-bad0-*.jsonl"))[:1]:
            sent = packed({"session.jsonl": path.read_bytes()}.items())
            answer = at.ann.ask("POST", "/api/shares", sent, {"Content-Type": "application/gzip"})
            assert answer.status == 201, answer
            for (name,) in at.store.db.rows("SELECT name FROM share_file"):
                if not name.endswith(".html"):
                    continue
                one.page.goto(f"{at.ann.address}/{answer.json['address']}/{name}")
                one.page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
                assert one.page.evaluate("window.pwned") is None
        calm(one, at)


@SIZES
def test_a_share_that_grows_is_followed(at: Place, tmp_path: Path, browser: Any, size: Any) -> None:
    link = share(tmp_path)
    with tab(browser, viewport=size, bypass_csp=False) as one, tab(browser, viewport=size) as other:
        for reader in (one.page, other.page):
            reader.clock.install()
            reader.goto(f"{link}/page-001.html")
            reader.get_by_role("button", name="Follow").wait_for()
        one.page.get_by_role("button", name="Follow").click()
        grown = log().prompt("And the moon?")
        grown.assistant(grown.text("The moon is full."))
        source(tmp_path / "logs", grown)
        share(tmp_path, "--update", link)
        for reader in (one.page, other.page):
            reader.clock.fast_forward(30_000)
        one.page.get_by_text("The moon is full.").wait_for()
        assert one.page.get_by_role("button", name="Follow").get_attribute("aria-pressed") == "true"
        new = other.page.get_by_role("button", name="New below")
        new.wait_for()
        assert "The moon is full." not in other.page.inner_text("main")
        assert too_wide(other.page) == ""
        new.click()
        other.page.get_by_text("The moon is full.").wait_for()
        calm(one, at)
        calm(other, at)
