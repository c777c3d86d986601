"""Sessions that attack the reader, on every screen of the app: nothing runs, nothing is asked for, nothing breaks."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from tests.app.browser.windows import window
from tests.app.serving import served
from tests.log_builder.builder import LogBuilder
from tests.site.browser import hostile
from tests.site.browser.tabs import PHONE, drawn, too_wide
from tests.site.search.chromium import until
from tests.thorough import tries
from unspool.app.context import AppContext
from unspool.cli.group import cli

KEYS = [f"{number:08x}-bad0-4000-8000-000000000000" for number in range(hostile.SESSIONS)]
PLAN, WORK = (f"{number:08x}-c4a1-4000-8000-000000000000" for number in (1, 2))
SCREENS = (
    "", "live", "sessions", "projects", "search?q=script", "search?q=onerror", "stats", "files", "settings",
    f"s/{PLAN}/", f"s/{PLAN}/story", f"s/{WORK}/story", f"s/{WORK}/story/1.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    deal = hostile.write(folder)
    plan = f"# {deal()}\n\n{deal()}"
    planning = LogBuilder(session_id=PLAN, slug=deal()[:80])
    planning.prompt(deal()).plan(plan, "cleared").title(deal()).write(folder)
    work = LogBuilder(session_id=WORK, start=planning.start.replace(year=planning.start.year + 1))
    work.implement(plan, planning).assistant(work.text(deal())).prompt(deal()).title(deal()).write(folder)
    for path in (folder / "projects").rglob("*.jsonl"):
        os.utime(path)
    made = CliRunner().invoke(cli, ["sync", "--archive", str(folder / "kept"), "-s", str(folder / "projects")])
    assert made.exit_code == 0, made.output
    with served(AppContext(folder / "kept", [folder / "projects"])) as address:
        yield address


def test_screens_that_tell_of_hostile_sessions_do_nothing(browser: Any, app: str) -> None:
    with window(browser, app, may_fail=True) as page:
        for screen in SCREENS:
            _harmless(page, f"{app}/{screen}")
        assert page.locator("[data-session]").count() >= 1


@pytest.mark.parametrize("key", KEYS)
def test_every_way_to_read_a_hostile_session_does_nothing(browser: Any, app: str, key: str) -> None:
    base = f"{app}/s/{key}/"
    with window(browser, app, may_fail=True) as page:
        page.goto(base)
        asides = page.evaluate("Array.from(document.querySelectorAll('main a[href^=agent-]'), (one) => one.href)")
        page.goto(f"{base}page-001.html")
        raws = page.evaluate("Array.from(document.querySelectorAll('.behind'), (one) => one.href)")
        assert raws
        assert asides
        for place in ("", "last", "page-001.html", "branches", "branches?left=1&right=0", "branch-1.html"):
            _harmless(page, base + place)
        for place in (*asides[:3], *raws[::5][: tries(5, 16)]):
            _harmless(page, place)


@pytest.mark.parametrize("key", KEYS[:2])
def test_a_hostile_session_is_presented_and_searched_harmlessly(browser: Any, app: str, key: str) -> None:
    with window(browser, app, may_fail=True) as page:
        page.goto(f"{app}/s/{key}/present")
        for pressed in ["ArrowRight"] * 25 + ["ArrowDown"] * 6:
            page.keyboard.press(pressed)
            drawn(page)
        assert page.evaluate(_FOUND) == []
        page.goto(f"{app}/s/{key}/page-001.html")
        page.keyboard.press("Control+f")
        page.keyboard.type("script")
        for number in range(1, 14):
            until(page, f"document.querySelector('.find output').textContent.startsWith('{number} of ')")
            drawn(page)
            assert page.evaluate(_FOUND) == []
            page.keyboard.press("Enter")


def _harmless(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    assert page.locator("main").count() == 1, address
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.mouse.move(300, 300)
    drawn(page)
    assert not too_wide(page), address
    page.set_viewport_size(PHONE)
    assert not too_wide(page), address
    assert page.evaluate(_FOUND) == [], address


_FOUND = r"""() => {
  const found = window.pwned === undefined ? [] : ["pwned"];
  const schemes = { A: ["http:", "https:", "mailto:"], IMG: ["data:", "http:"], FORM: ["http:"] };
  const active = ["SCRIPT", "STYLE", "IFRAME", "OBJECT", "EMBED", "BASE", "META", "LINK"];
  for (const one of document.querySelectorAll("main *, .rail *, .crumbs *")) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on") || name === "srcdoc") found.push(`${one.tagName} ${name}=${value}`);
      if (name === "style" && !one.matches(".window")) found.push(`${one.tagName} style=${value}`);
      if (!["href", "src", "action", "formaction", "xlink:href", "data", "poster"].includes(name)) continue;
      const known = schemes[one.tagName.toUpperCase()] || [];
      const url = URL.canParse(value, location.href) ? new URL(value, location.href) : null;
      const fine = url && (known.includes(url.protocol) || (one.download && url.protocol === "data:"));
      if (!fine) found.push(`${one.tagName} ${name}=${value}`);
      if (one.tagName === "IMG" && url?.protocol === "http:" && url.host !== location.host) found.push(`IMG ${value}`);
    }
    if (active.includes(one.tagName)) found.push(`${one.tagName} in the text`);
  }
  return found.map((one) => one.slice(0, 200));
}"""
