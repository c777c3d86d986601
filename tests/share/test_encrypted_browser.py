"""The encrypted page in a real browser: it opens with its key or passphrase, in no other way, and reads as any page."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.site.browser.making import made
from tests.site.browser.tabs import DESKTOP, PHONE, Tab, tab, too_wide
from tests.site.search.chromium import executable, served, until
from unspool.share.encryption import ShareSecret, encrypted_page, passphrase, random_key

KEY = random_key()
OTHER = random_key()
WORDS = "four tides every day"
LOCKED = "This session is encrypted"


@pytest.fixture
def watched(browser: Any) -> Iterator[Tab]:
    with tab(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The demo's longest session as self-contained pages: two pages, a branch, subagents, images."""
    folder = made(tmp_path_factory.mktemp("plain") / "storm", "json", "57024000", "--demo", "--self-contained")
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.html"))}
    return {**found, "report.json": b'{"redacted": 3}', "before-1/index.html": _elsewhere(found["index.html"])}


def _elsewhere(page: bytes) -> bytes:
    """A page of a folder below, with a link to the one above it."""
    return page.replace(b"<main ", b'<p><a id="up" href="../index.html">The later session</a></p><main ', 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, plain: dict[str, bytes]) -> Path:
    """Both kinds of pages, and one whose ciphertext was changed by one letter."""
    place = tmp_path_factory.mktemp("sealed")
    keyed = encrypted_page(plain, KEY)
    (place / "key.html").write_bytes(keyed)
    (place / "words.html").write_bytes(encrypted_page(plain, passphrase(WORDS)))
    at = keyed.index(b'class="chunk">') + 1000
    (place / "changed.html").write_bytes(keyed[:at] + (b"B" if keyed[at : at + 1] == b"A" else b"A") + keyed[at + 1 :])
    return place


def fragment(secret: ShareSecret) -> str:
    return secret.fragment.removeprefix("#")


def is_open(page: Any) -> None:
    page.locator("main#main h1").wait_for()


def says(page: Any) -> str:
    page.locator("#says.bad").wait_for()
    assert page.locator("h1").inner_text() == LOCKED
    return str(page.locator("#says").inner_text())


def test_it_opens_by_its_link_from_disk(watched: Tab, folder: Path) -> None:
    """With the title, the pictures and the scripts of the page inside; nothing is requested from anywhere."""
    page = watched.open(folder / "key.html", fragment(KEY))
    is_open(page)
    assert page.title() != "Encrypted session"
    page.locator("[data-do=theme]").click()
    until(page, "document.documentElement.dataset.theme !== undefined")


def test_it_opens_by_its_link_from_the_web(browser: Any, folder: Path) -> None:
    """One request for the page, without the key, and none besides."""
    with served(folder) as server:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{server.url}/key.html{KEY.fragment}")
        is_open(page)
        page.close()
        assert set(server.sent) <= {"/key.html", "/favicon.ico"}
        assert not [url for url in asked if not url.startswith(("data:", server.url))]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (fragment(OTHER), "This key does not open this page."),
        ("key=short", "This is no key"),
        ("key=" + "A" * 43, "This key does not open this page."),
    ],
    ids=["another", "short", "zeros"],
)
def test_another_key_is_refused(watched: Tab, folder: Path, given: str, answer: str) -> None:
    """It is said clearly, and the right one can be given then, or the whole link."""
    page = watched.open(folder / "key.html", given)
    assert answer in says(page)
    page.locator("#secret").fill(f"https://example.invalid/key.html{KEY.fragment}")
    page.keyboard.press("Enter")
    is_open(page)


def test_without_a_key_nothing_is_shown(watched: Tab, folder: Path) -> None:
    """The page asks for it; a link put into the same tab opens it."""
    page = watched.open(folder / "key.html")
    page.locator("#secret").wait_for()
    assert page.locator("h1").inner_text() == LOCKED
    watched.open(folder / "key.html", fragment(KEY))
    is_open(page)


def test_changed_bytes_are_refused(watched: Tab, folder: Path) -> None:
    """Even with the right key; nothing of the page is shown."""
    page = watched.open(folder / "changed.html", fragment(KEY))
    assert "changed or damaged" in says(page)


@pytest.mark.parametrize("cut", ["remove", "swap", "header"])
def test_a_page_put_together_otherwise_is_refused(
    watched: Tab, folder: Path, plain: dict[str, bytes], tmp_path: Path, cut: str
) -> None:
    """The last chunk taken away, two exchanged, a parameter changed."""
    noise = {"noise.bin": os.urandom(2 << 20)}
    text = encrypted_page({**plain, **noise}, KEY).decode()
    chunks = re.findall(r'<script type="application/octet-stream".*?</script>\n', text)
    assert len(chunks) >= 3
    changed = {
        "remove": text.replace(chunks[-1], ""),
        "swap": text.replace(chunks[0], "@").replace(chunks[1], chunks[0]).replace("@", chunks[1]),
        "header": text.replace('"chunk":1048576', '"chunk":1048577'),
    }[cut]
    assert changed != text
    (tmp_path / "page.html").write_text(changed, "utf-8")
    assert "changed or damaged" in says(watched.open(tmp_path / "page.html", fragment(KEY)))


def test_a_passphrase_opens_it(watched: Tab, folder: Path) -> None:
    """A wrong one is refused first; a reload does not ask again."""
    page = watched.open(folder / "words.html")
    page.locator("#secret").fill("five tides every day")
    page.keyboard.press("Enter")
    assert says(page) == "This passphrase does not open this page."
    page.locator("#secret").fill(WORDS)
    page.locator("#open").click()
    is_open(page)
    page.reload()
    is_open(page)


def test_its_search_finds_and_leads_to_other_pages(watched: Tab, folder: Path) -> None:
    """From the search to a hit on another page, on to a further one, and back again."""
    page = watched.open(folder / "key.html", fragment(KEY))
    is_open(page)
    first = page.title()
    page.keyboard.press("/")
    page.locator("dialog[open] input").first.fill("surge")
    page.locator("dialog[open] mark").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#(?!search|key)"))
    is_open(page)
    page.reload()
    is_open(page)
    anchor = page.url.partition("#")[2]
    assert page.locator(f"[id='{anchor}']").count() == 1
    page.go_back()
    page.locator("dialog[open] mark").first.wait_for()
    assert page.title() == first


def test_links_lead_to_the_other_pages(watched: Tab, folder: Path) -> None:
    """By click, relative to the page they stand on, and back by the browser's button."""
    page = watched.open(folder / "key.html", fragment(KEY))
    is_open(page)
    assert page.locator("#turn-6").count() == 0
    page.locator("a[href='page-002.html#turn-6']").first.click()
    page.locator("#turn-6").wait_for()
    assert page.url.endswith("key.html#turn-6")
    page.go_back()
    page.locator("a[href='page-002.html#turn-6']").first.wait_for()
    assert page.url.endswith(KEY.fragment)


def test_pictures_are_shown(watched: Tab, folder: Path) -> None:
    """They are inside as everything else."""
    page = watched.open(folder / "key.html", fragment(KEY))
    is_open(page)
    page.locator("a[href='page-001.html']").first.click()
    picture = page.locator("main#main img").first
    picture.wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    picture.scroll_into_view_if_needed()
    until(page, "document.querySelector('main#main img').naturalWidth > 0")


def test_a_page_of_a_folder_below_leads_up(browser: Any, folder: Path) -> None:
    """Links are relative to where the page lies inside."""
    with tab(browser) as watched:
        page = watched.open(folder / "key.html", fragment(KEY))
        is_open(page)
        page.evaluate("""() => {
          const link = Object.assign(document.createElement("a"), { id: "down", textContent: "before" });
          link.setAttribute("href", "before-1/index.html");
          document.querySelector("main").prepend(link);
        }""")
        page.locator("#down").click()
        page.locator("#up").click()
        page.locator("#up").wait_for(state="detached")
        is_open(page)


def test_other_files_are_downloads(browser: Any, folder: Path) -> None:
    """With their name and content."""
    with tab(browser) as watched:
        page = watched.open(folder / "key.html", fragment(KEY))
        is_open(page)
        page.evaluate("""() => {
          const link = Object.assign(document.createElement("a"), { id: "report", textContent: "report" });
          link.setAttribute("href", "report.json");
          document.querySelector("main").prepend(link);
        }""")
        with page.expect_download() as waiting:
            page.locator("#report").click()
        assert waiting.value.suggested_filename == "report.json"
        assert Path(waiting.value.path()).read_bytes() == b'{"redacted": 3}'


def test_what_the_page_inside_forbids_stays_forbidden(browser: Any, folder: Path) -> None:
    """Neither scripts put into it nor requests are possible, before and after it was opened."""
    page = browser.new_page()
    for given in ("", KEY.fragment):
        page.goto("about:blank")
        page.goto((folder / "key.html").as_uri() + given)
        is_open(page) if given else page.locator("#secret").wait_for()
        page.evaluate("""() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = true";
          document.body.append(script);
        }""")
        assert page.evaluate("window.hacked") is None
        refused = "fetch('https://example.invalid/').then(() => 'sent', (error) => error.message)"
        assert "Failed to fetch" in page.evaluate(refused)
        assert page.evaluate(_POLICY) == "blocked"
    page.close()


_POLICY = """() => new Promise((done) => {
  document.addEventListener("securitypolicyviolation", () => done("blocked"), { once: true });
  setTimeout(() => done("let through"), 3000);
  fetch("https://example.invalid/").catch(() => {});
})"""


def test_where_browsers_decrypt_nothing_it_says_so(browser: Any, folder: Path) -> None:
    """Over plain http from another machine there is no WebCrypto."""
    arguments = ["--no-sandbox", "--host-resolver-rules=MAP share.test 127.0.0.1"]
    elsewhere = browser.browser_type.launch(executable_path=executable(), args=arguments)
    with served(folder) as server:
        page = elsewhere.new_page()
        page.goto(f"{server.url.replace('127.0.0.1', 'share.test')}/key.html{KEY.fragment}")
        assert page.evaluate("isSecureContext") is False
        assert "https" in says(page)
        assert not page.locator("#ask").is_visible()
    elsewhere.close()


def test_without_scripts_it_says_what_it_needs(browser: Any, folder: Path) -> None:
    """And shows no form that would do nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "key.html").as_uri())
    assert "needs JavaScript" in page.locator("noscript").inner_text()
    assert not page.locator("#ask").is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits(browser: Any, folder: Path, viewport: dict[str, int], scheme: str) -> None:
    """Locked, with a complaint, and opened; where UNSPOOL_SHOTS names a folder, pictures are left there."""
    with tab(browser, viewport=viewport, color_scheme=scheme) as watched:
        page = watched.open(folder / "words.html")
        page.locator("summary").click()
        page.locator("#secret").fill("not this one, surely")
        page.locator("#open").click()
        says(page)
        assert too_wide(page) == ""
        _shot(page, f"locked-{viewport['width']}-{scheme}")
        watched.open(folder / "key.html", fragment(KEY))
        is_open(page)
        assert too_wide(page) == ""
        _shot(page, f"open-{viewport['width']}-{scheme}")


def _shot(page: Any, name: str) -> None:
    if place := os.environ.get("UNSPOOL_SHOTS"):
        page.screenshot(path=str(Path(place) / f"{name}.png"))


def test_nothing_serious_is_found_by_axe(browser: Any, folder: Path) -> None:
    """The page before it is opened, with a complaint on it."""
    axe = os.environ.get("UNSPOOL_AXE", "")
    if not Path(axe).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    for scheme in ("light", "dark"):
        with tab(browser, color_scheme=scheme, bypass_csp=True) as watched:
            page = watched.open(folder / "key.html", fragment(OTHER))
            says(page)
            page.locator("summary").click()
            page.add_script_tag(path=axe)
            found = page.evaluate("axe.run({ preload: false, resultTypes: ['violations'] })")
            assert [one["id"] for one in found["violations"]] == []


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder as `unspool share --site --encrypt --chain` makes it, and what is put behind its address."""
    place = tmp_path_factory.mktemp("folder") / "talk"
    done = run("share", "b0a75000", "--demo", "--chain", "--site", "-o", str(place), "--encrypt", "--yes")
    assert done.code == 0, done.err
    return place, re.findall(r"(#key=[\w-]{43})\n", done.out)[0]


def test_an_encrypted_folder_opens_with_its_key_and_not_without(browser: Any, talk: tuple[Path, str]) -> None:
    """Served as a folder: one request, whatever is read in it; another key is said to be another."""
    folder, key = talk
    with served(folder.parent) as server:
        page = browser.new_page()
        page.goto(f"{server.url}/talk/")
        page.locator("#secret").wait_for()
        assert page.locator("h1").inner_text() == LOCKED
        page.goto(f"{server.url}/talk/{OTHER.fragment}")
        assert "This key does not open this page." in says(page)
        page.goto("about:blank")
        page.goto(f"{server.url}/talk/{key}")
        is_open(page)
        page.locator("a[href='before-1/index.html']").first.click()
        page.locator("a[href='../index.html']").first.wait_for()
        page.go_back()
        page.locator("a[href='before-1/index.html']").first.wait_for()
        assert set(server.sent) <= {"/talk/", "/talk/index.html", "/favicon.ico"}
        page.close()


def test_an_encrypted_folder_is_searched_and_shows_its_pictures(browser: Any, tmp_path: Path) -> None:
    """From disk, like any page."""
    done = run("share", "50adf00d", "--demo", "--site", "-o", str(tmp_path / "talk"), "--encrypt", "--yes")
    assert done.code == 0, done.err
    key = re.findall(r"#(key=[\w-]{43})\n", done.out)[0]
    with tab(browser) as watched:
        page = watched.open(tmp_path / "talk" / "index.html", key)
        is_open(page)
        page.keyboard.press("/")
        page.locator("dialog[open] input").first.fill("curve")
        page.locator("dialog[open] mark").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"#(?!search|key)"))
        is_open(page)
        picture = page.locator("main#main img").first
        picture.wait_for(state="attached")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        until(page, "document.querySelector('main#main img').naturalWidth > 0")
