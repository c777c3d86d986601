"""The guard as a browser meets it: the way in, the app's own forms, and pages of others that try theirs."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.app.opened import Opened, opened
from tests.cli.running import talk
from tests.site.browser.tabs import drawn
from tests.site.search.chromium import until
from unspool.app.render import PUBLIC_URLS

KEY = "11111111-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    place = tmp_path_factory.mktemp("guarded")
    talk("Waves", KEY).write(place / "agent")
    home = {name: str(place / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    with opened("-s", str(place / "agent"), "--archive", str(place / "archive"), **home) as running:
        running.synced()
        yield running


@pytest.fixture
def tab(browser: Any, app: Opened) -> Iterator[Any]:
    """A tab of somebody who came in by the address that was printed."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://{app.own}/?token={app.token}")
    yield page
    context.close()


def test_the_address_leads_in_and_forgets_the_token(tab: Any, app: Opened) -> None:
    assert tab.url == f"http://{app.own}/"
    (cookie,) = tab.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (f"unspool-{app.port}", True, "Strict")
    assert tab.evaluate("document.cookie") == ""
    assert tab.goto(f"http://{app.own}/api/sessions").status == 200


def test_without_the_address_there_is_a_page_that_says_how(browser: Any, app: Opened) -> None:
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    assert page.goto(f"http://{app.own}/s/{KEY}/").status == 401
    assert "Waves" not in page.content()
    assert page.get_by_role("heading").inner_text() == "This needs the token of the running app."
    assert errors == []
    context.close()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_form_of_ours_is_taken(browser: Any, app: Opened, script: bool) -> None:
    """Though our pages tell nobody where they come from, and so send `null` as their origin."""
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(f"http://{app.own}/?token={app.token}")
    page.goto(f"http://{app.own}/settings")
    with page.expect_response(lambda answer: answer.request.method == "POST") as sent:
        page.locator("form[action='/settings'] button[type=submit]").first.click()
    assert sent.value.status in (200, 303)
    context.close()


def test_nothing_is_wrong_on_the_console(tab: Any, app: Opened) -> None:
    """The policy stops nothing that the app's own pages need."""
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    for path in ("/", "/sessions", "/projects", "/search?q=waves", "/stats", "/live", "/settings", f"/s/{KEY}/"):
        assert tab.goto(f"http://{app.own}{path}").status == 200, path
    assert said == []


# --- pages of others ---------------------------------------------------------------------------------

EVIL = """<!doctype html><title>evil</title><body><script>
const app = %s, results = [];
const attempt = (name, promise) => promise.then(value => results.push([name, value]), () => results.push([name, null]));
const loaded = (element, address) => new Promise((good, bad) => {
  element.onload = () => good("loaded"); element.onerror = bad;
  element.src = address; document.body.append(element);
});
const text = answer => answer.type === "opaque" ? null : answer.text();
Promise.all([
  attempt("read", fetch(app + "/api/sessions", {credentials: "include"}).then(text)),
  attempt("read blindly", fetch(app + "/api/sessions", {credentials: "include", mode: "no-cors"}).then(text)),
  attempt("change", fetch(app + "/marks/%s", {method: "POST", credentials: "include", mode: "no-cors",
    headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "star=1&note=evil"}).then(text)),
  attempt("change as json", fetch(app + "/marks/%s", {method: "POST", credentials: "include",
    headers: {"Content-Type": "application/json"}, body: "{}"}).then(text)),
  attempt("script", loaded(document.createElement("script"), app + "/api/sessions")),
  attempt("image", loaded(document.createElement("img"), app + "/api/sessions")),
  attempt("beacon", Promise.resolve(navigator.sendBeacon(app + "/marks/%s", "star=1") && null)),
]).then(() => { window.results = results; });
const frame = document.createElement("iframe"); frame.src = app + "/"; document.body.append(frame);
</script><form method="post" action="%s/marks/%s"><input name="note" value="evil"><button>Win</button></form>"""


@pytest.fixture(scope="module")
def evil(app: Opened) -> Iterator[int]:
    """The port of another server of the same machine, with a page that tries everything."""
    base = f"http://{app.own}"
    content = (EVIL % (json.dumps(base), KEY, KEY, KEY, base, KEY)).encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "cross site"])
def test_pages_of_others_get_and_change_nothing(tab: Any, app: Opened, evil: int, host: str) -> None:
    """Even those of another port of this machine, with which the browser sends the cookie along."""
    before = app.get(f"/marks/{KEY}").body
    statuses: list[tuple[str, int]] = []
    tab.goto("about:blank")
    drawn(tab)  # for what our own page still loads
    tab.on("response", lambda answer: statuses.append((answer.url, answer.status)) if app.own in answer.url else None)
    tab.goto(f"http://{host}:{evil}/")
    until(tab, "window.results !== undefined")
    results = dict(tab.evaluate("window.results"))
    assert set(results) == {"read", "read blindly", "change", "change as json", "script", "image", "beacon"}
    assert not any(results.values()), results
    with tab.expect_navigation():
        tab.get_by_role("button", name="Win").click()
    assert "Waves" not in tab.content()
    assert statuses
    private = [(url, status) for url, status in statuses if urlsplit(url).path not in PUBLIC_URLS]
    assert private
    assert all(status in (401, 403, 405) for _, status in private), statuses
    assert app.get(f"/marks/{KEY}").body == before


def test_a_link_of_others_leads_in_with_one_more_click(tab: Any, app: Opened, evil: int) -> None:
    """A Strict cookie does not come along from another site; from the page that says so it does."""
    tab.goto(f"http://localhost:{evil}/")
    tab.evaluate(f"location.href = 'http://{app.own}/sessions'")
    tab.wait_for_url(f"http://{app.own}/sessions")
    assert "token of the running app" in tab.content()
    with tab.expect_navigation():
        tab.get_by_role("link", name="go on from here").click()
    assert tab.url.rstrip("?") == f"http://{app.own}/sessions"
    assert "token of the running app" not in tab.content()


def test_pictures_of_trouble(tab: Any, app: Opened, tmp_path: Path) -> None:
    """A page that is not there is readable on a phone: nothing is wider than the screen."""
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.goto(f"http://{app.own}/no/such/{'page' * 60}").status == 404
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.screenshot(path=str(tmp_path / "trouble.png"))


def test_a_bookmark_from_before_a_restart_says_what_to_do(browser: Any, app: Opened) -> None:
    """With the look of all other pages; and nothing of it is missing, though nobody was let in."""
    context = browser.new_context(viewport={"width": 390, "height": 700})
    page, wrong = context.new_page(), list[str]()
    page.on("response", lambda answer: wrong.append(answer.url) if answer.status != 200 else None)
    page.goto(f"http://{app.own}/s/{KEY}/")
    assert page.locator("pre").text_content() == "unspool open"
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).position") == "sticky"
    assert wrong == [f"http://{app.own}/s/{KEY}/"]
    context.close()


def test_a_browser_finds_nothing_that_keeps_it_from_installing_the_app(tab: Any, app: Opened) -> None:
    devtools = tab.context.new_cdp_session(tab)
    told = devtools.send("Page.getAppManifest")
    assert (told["url"], told["errors"]) == (f"http://{app.own}/manifest.webmanifest", [])
    found = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [one["errorId"] for one in found if one["errorId"] != "in-incognito"] == []
