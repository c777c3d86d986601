"""Sessions that attack the reader: nothing runs, nothing is asked for, nothing breaks, on every kind of page."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.site.browser import hostile
from tests.site.browser.making import made
from tests.site.browser.tabs import DESKTOP, PHONE, pages, tab, too_wide


class Sites(NamedTuple):
    """What is made of the hostile sessions, in each way there is."""

    archive: Path
    session: Path
    single_page: Path
    one_file: Path


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Sites:
    folder = tmp_path_factory.mktemp("hostile")
    deck = hostile.write(folder / "source")
    assert deck.at > len(hostile.TEXTS) > 500
    where = ("-s", str(folder / "source"))
    return Sites(
        made(folder / "archive", "all", *where, "--per-page", "30"),
        made(folder / "session", "json", "00000000", *where),
        made(folder / "single", "json", "00000001", *where, "--single-page", "--repo", "owner/name"),
        made(folder / "one.html", "json", "00000002", *where, "--single-page", "--self-contained"),
    )


def test_an_archive_of_hostile_sessions_does_nothing(browser: Any, sites: Sites) -> None:
    names = {path.name.split("-")[0].removesuffix(".html") for path in pages(sites.archive)}
    assert names == {"index", "page", "agent", "branch"}
    _harmless(browser, pages(sites.archive))


def test_a_hostile_session_does_nothing(browser: Any, sites: Sites) -> None:
    _harmless(browser, pages(sites.session))


def test_a_hostile_session_on_one_page_does_nothing(browser: Any, sites: Sites) -> None:
    _harmless(browser, pages(sites.single_page))


def test_a_hostile_single_file_does_nothing(browser: Any, sites: Sites) -> None:
    _harmless(browser, [sites.one_file])


@pytest.mark.parametrize("where", ["archive", "session"])
def test_hostile_words_that_are_searched_and_found_do_nothing(browser: Any, sites: Sites, where: str) -> None:
    with tab(browser) as watched:
        for words in ("script", "onerror", "evil.test", "<img src=x onerror=window.pwned=1>"):
            page = watched.open(getattr(sites, where) / "index.html")
            page.reload()
            page.keyboard.press("/")
            page.locator("dialog[open] input").first.fill(words)
            page.locator("dialog[open] mark").first.wait_for()
            assert page.evaluate(_FOUND) == []


def _harmless(browser: Any, opened: list[Path]) -> None:
    faults: list[str] = []
    with tab(browser) as watched:
        for path in opened:
            watched.page.set_viewport_size(DESKTOP)
            page = watched.open(path)
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
            page.mouse.move(300, 300)
            faults.append(too_wide(page))
            page.set_viewport_size(PHONE)
            faults += [too_wide(page), *page.evaluate(_FOUND)]
    assert not list(filter(None, faults))


_FOUND = r"""() => {
  const found = window.pwned === undefined ? [] : ["pwned"];
  const leads = ["file:", "http:", "https:", "mailto:"];
  const schemes = { A: leads, LINK: ["file:"], SCRIPT: ["file:"], IMG: ["data:", "file:"] };
  const active = ["SCRIPT", "STYLE", "IFRAME", "OBJECT", "EMBED", "FORM", "BASE", "META", "LINK"];
  for (const one of document.querySelectorAll("*")) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on") || name === "srcdoc" || name === "style") found.push(`${one.tagName} ${name}=${value}`);
      if (!["href", "src", "action", "formaction", "xlink:href", "data", "poster"].includes(name)) continue;
      const scheme = URL.canParse(value, location.href) ? new URL(value, location.href).protocol : "https:";
      const fine = (schemes[one.tagName.toUpperCase()] || []).includes(scheme) || (one.download && scheme === "data:");
      if (!fine) found.push(`${one.tagName} ${name}=${value}`);
    }
    if (active.includes(one.tagName) && one.closest("main") && one.type !== "application/json")
      found.push(`${one.tagName} in the text`);
  }
  return found.map((one) => `${location.pathname.split("/").pop()}: ${one.slice(0, 200)}`);
}"""
