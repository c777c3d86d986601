"""The hub as people use it, in a browser: coming in, sharing, finding, and no longer being let in."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.finding import axe, faults
from tests.hub.browser.conftest import Used
from tests.hub.shares.bundles import bundle, log
from tests.site.browser.tabs import DESKTOP, PHONE, Tab, tab, too_wide

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])


def come_in(hub: Used, one: Tab, token: str) -> Any:
    """Sign in by the form; the page that follows."""
    page = one.page
    page.goto(f"{hub.client.address}/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{hub.client.address}/")
    return page


def calm(one: Tab, hub: Used, *more: str) -> None:
    """The end: nothing went wrong but what was meant to, and nothing was asked for elsewhere."""
    one.page.close()  # what it still asks for comes before
    one.faults[:] = [
        fault for fault in one.faults
        if not fault.startswith(f"request: {hub.client.address}") and not any(word in fault for word in more)
    ]  # fmt: skip


@SIZES
def test_somebody_is_invited_comes_in_and_is_revoked(hub: Used, browser: Any, size: Any) -> None:
    name = f"Grace {size['width']}"
    with tab(browser, viewport=size) as admin, tab(browser, viewport=size) as guest:
        page = come_in(hub, admin, hub.owner)
        page.goto(f"{hub.client.address}/people")
        page.get_by_label("Invite somebody").fill(name)
        page.get_by_role("button", name="Make a link").click()
        link = page.locator("code.secret").inner_text()
        guest.page.goto(link)
        assert name in guest.page.inner_text("main")
        guest.page.get_by_role("button", name="Join").click()
        guest.page.wait_for_url(f"{hub.client.address}/")
        guest.page.goto(f"{hub.client.address}/me")
        guest.page.get_by_label("New token, for").fill("laptop")
        guest.page.get_by_role("button", name="Make it").click()
        token = guest.page.locator("code.secret").inner_text()
        assert hub.client.as_(token).get("/api/me").json["name"] == name
        page.goto(f"{hub.client.address}/people")
        with page.expect_navigation():
            page.get_by_role("button", name=f"Revoke {name}", exact=True).click()
        assert hub.client.as_(token).get("/api/me").status == 401
        assert guest.page.goto(f"{hub.client.address}/me").status == 401
        assert guest.page.goto(link).status == 404
        calm(admin, hub)
        calm(guest, hub, "status of 401", "status of 404")


@SIZES
def test_a_share_is_sent_seen_closed_and_ended(hub: Used, browser: Any, size: Any, tmp_path: Path) -> None:
    sent = tmp_path / "session.tar.gz"
    sent.write_bytes(bundle(log(f"The tide table of {size['width']} is ready.")))
    with tab(browser, viewport=size) as owner, tab(browser, viewport=size) as reader:
        page = come_in(hub, owner, hub.ada.token)
        page.goto(f"{hub.client.address}/shares")
        page.get_by_label("A bundle").set_input_files(sent)
        page.get_by_role("button", name="Share it").click()
        board = page.locator("section.board").first
        link = board.locator("code.secret").inner_text()
        reader.page.goto(link)
        assert "tide table" in reader.page.content().lower()
        assert not too_wide(reader.page)

        board.locator("summary").click()
        board.get_by_label("Password", exact=True).fill("open sesame")
        with page.expect_navigation():
            board.get_by_role("button", name="Change").click()
        reader.page.goto(link)
        assert "tide table" not in reader.page.content().lower()
        reader.page.locator("input[type=password]").fill("open sesame")
        with reader.page.expect_navigation():
            reader.page.keyboard.press("Enter")
        assert "tide table" in reader.page.content().lower()

        board = page.locator("section.board").first
        board.locator("summary").click()
        with page.expect_navigation():
            board.get_by_role("button", name="End").click()
        assert reader.page.goto(link).status == 404
        calm(owner, hub)
        calm(reader, hub, "status of 404", "status of 401", "status of 403")


def test_what_holds_a_secret_is_refused_and_told_without_it(hub: Used, browser: Any, tmp_path: Path) -> None:
    sent = tmp_path / "session.tar.gz"
    sent.write_bytes(bundle(log(f"The token is {KEY}, keep it.")))
    with tab(browser) as one:
        page = come_in(hub, one, hub.ada.token)
        page.goto(f"{hub.client.address}/shares")
        page.get_by_label("A bundle").set_input_files(sent)
        page.get_by_role("button", name="Share it").click()
        told = page.get_by_role("alert").inner_text()
        assert "github" in told.lower()
        assert "session.jsonl" in told
        assert KEY not in page.content()
        calm(one, hub, "status of 422")


def test_an_expired_share_is_not_there(hub: Used, browser: Any) -> None:
    client = hub.client.as_(hub.ada.token)
    made = client.ask("POST", "/api/shares?expires=7d", bundle(log("soon gone")), {"Content-Type": "application/gzip"})
    address = str(made.json["address"])
    with tab(browser) as one:
        assert one.page.goto(f"{hub.client.address}/{address}/").status == 200
        hub.store.db.run("UPDATE share SET expires = 1 WHERE address = ?", address)
        assert one.page.goto(f"{hub.client.address}/{address}/").status == 404
        page = come_in(hub, one, hub.ada.token)
        page.goto(f"{hub.client.address}/shares")
        assert "expired" in page.locator(f"[id='{address}']").inner_text()
        calm(one, hub, "status of 404")


@SIZES
def test_what_was_pushed_is_found_and_read(hub: Used, browser: Any, size: Any) -> None:
    with tab(browser, viewport=size) as one:
        page = come_in(hub, one, hub.ada.token)
        assert page.locator("ol.rows li").count() > 0
        assert "The last day on which there was something" in page.inner_text("main")
        page.goto(f"{hub.client.address}/search")
        page.get_by_label("What to look for").fill("tide")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=tide")
        hit = page.locator("a.hit").first
        assert hit.locator("mark").count() > 0
        hit.click()
        page.wait_for_url("**/sessions/*/**")
        assert page.locator("mark, .turn, main").count() > 0
        assert not too_wide(page)
        page.goto(f"{hub.client.address}/usage?by=model")
        assert "$" in page.inner_text("main")
        calm(one, hub)


@SIZES
def test_a_pushed_session_is_shared_from_its_page(hub: Used, browser: Any, size: Any) -> None:
    with tab(browser, viewport=size) as one, tab(browser, viewport=size) as reader:
        page = come_in(hub, one, hub.ada.token)
        page.locator("ol.rows a.title").first.click()
        page.wait_for_url("**/sessions/*/")
        title = page.locator("h1").inner_text()
        page.get_by_role("link", name="Share", exact=True).click()
        page.get_by_label("Ends in").select_option("a day")
        page.get_by_label("listed for everybody here").check()
        assert not too_wide(page)
        page.get_by_role("button", name="Share it").click()
        page.wait_for_url("**/shares#*")
        board = page.locator("section.board").first
        assert "listed" in board.inner_text()
        reader.page.goto(board.locator("code.secret").inner_text())
        assert reader.page.locator("h1").inner_text() == title
        board.locator("summary").click()
        with page.expect_navigation():
            board.get_by_role("button", name="End").click()
        calm(one, hub)
        calm(reader, hub)


def test_the_audit_log_reads_as_sentences_that_lead_on(hub: Used, browser: Any) -> None:
    with tab(browser) as one:
        page = come_in(hub, one, hub.owner)
        page.goto(f"{hub.client.address}/audit?what=session.push")
        first = page.locator(".deeds li").first
        assert first.inner_text().startswith("Ada pushed “")
        first.locator("a").nth(1).click()
        page.wait_for_url("**/sessions/*/")
        calm(one, hub)


def test_every_page_is_usable_by_everybody(hub: Used, browser: Any) -> None:
    script = axe()
    (session,) = hub.store.db.row("SELECT id FROM session ORDER BY source DESC LIMIT 1") or ("",)
    (project,) = hub.store.db.row("SELECT id FROM project LIMIT 1") or ("",)
    made = hub.client.as_(hub.owner).ask(
        "POST", "/api/shares", bundle(log("of the owner")), {"Content-Type": "application/gzip"}
    )
    paths = [
        "/", "/sessions", "/search?q=tide", "/search", "/usage", "/shares", "/me", "/people", "/audit",
        f"/sessions/{session}/", f"/sessions/{session}/story", f"/sessions/{session}/share",
        f"/projects/{project}/rights", "/?days=7", "/usage?by=day", "/usage?by=person",
        f"/{made.json['address']}/", "/sign-in",
    ]  # fmt: skip
    with browser.new_context(bypass_csp=True, viewport=DESKTOP) as context:
        page = context.new_page()
        page.goto(f"{hub.client.address}/sign-in")
        found = [f"/sign-in: {fault}" for fault in faults(page, script)]
        page.get_by_label("Token").fill(hub.owner)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{hub.client.address}/")
        for path in paths:
            assert page.goto(hub.client.address + path).status == 200, path
            page.set_viewport_size(PHONE)
            found += [wide] if (wide := too_wide(page)) else []
            page.set_viewport_size(DESKTOP)
            found += [f"{path}: {fault}" for fault in faults(page, script)]
    assert not found, "\n".join(found)
