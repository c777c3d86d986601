"""Tabs in which nothing goes wrong unseen: errors, dialogs and requests are kept, and told at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.site.search.chromium import PATIENCE
from tests.waiting import until

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
LOCAL = {"file", "data", "blob", "about"}


class Tab:
    """A page of the browser, and everything it complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.on("popup", lambda other: self.faults.append(f"window opened: {other.url}"))

    def open(self, path: Path, fragment: str = "") -> Any:
        """Go to a file, by its address on disk."""
        self.page.goto(path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        return self.page

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type} on {Path(urlsplit(self.page.url).path).name}: {message.text}")

    def _request(self, request: Any) -> None:
        if urlsplit(request.url).scheme not in LOCAL:
            self.faults.append(f"request: {request.url[:200]}")

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def tab(browser: Any, **context: Any) -> Iterator[Tab]:
    """A tab of its own context; no fault may be left at the end."""
    within = browser.new_context(**{"viewport": DESKTOP, **context})
    opened = Tab(within.new_page())
    opened.page.set_default_timeout(PATIENCE * 1000)
    yield opened
    within.close()
    assert not opened.faults, "\n".join(opened.faults[:9])


def too_wide(page: Any) -> str:
    """Says which elements push a page wider than its window; empty when none does."""
    return str(page.evaluate(_TOO_WIDE))


def drawn(page: Any) -> None:
    """Wait until a page has been drawn twice: what its scripts do after an event, they have done then."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")


def settled(page: Any, expression: str | Callable[[], Any]) -> Any:
    """What an expression of the page, or a function here, says, once it says the same several times."""

    def ask() -> Any:
        return page.evaluate(expression) if isinstance(expression, str) else expression()

    said = [ask()]

    def same() -> bool:
        drawn(page)
        said.append(ask())
        return len(said) > 9 and len(set(said[-9:])) == 1

    until(same, lambda: said[-9:])
    return said[-1]


def click_still(page: Any, button: Any) -> None:
    """Click on something far down once it stands still: turns that come near are laid out only then, and a button that
    moves while it is held down is not clicked."""
    button.scroll_into_view_if_needed()
    held = button.element_handle()
    settled(page, lambda: str(held.bounding_box()))
    button.click()


def pages(site: Path) -> list[Path]:
    """Every page of a site."""
    return sorted(site.rglob("*.html"))


_TOO_WIDE = """() => {
  const root = document.scrollingElement, width = window.innerWidth;
  if (root.scrollWidth <= width) return "";
  const right = (one) => Math.round(one.getBoundingClientRect().right);
  const held = (one) => getComputedStyle(one).overflowX !== "visible";
  const scrolls = (one) => one && one !== document.body && (held(one) || scrolls(one.parentElement));
  const wide = Array.from(document.body.querySelectorAll("*")).filter((one) => right(one) > width && !scrolls(one));
  const told = wide.slice(0, 3).map((one) => `${one.outerHTML.slice(0, 80)} to ${right(one)}`);
  return `${location.pathname} is ${root.scrollWidth} wide in ${width}: ${told.join(" | ")}`;
}"""
