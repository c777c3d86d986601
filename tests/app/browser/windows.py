"""Windows on the app in which nothing goes wrong unseen: no error, no dialog, no request elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.site.browser.tabs import DESKTOP


@contextmanager
def window(browser: Any, app: str, *, may_fail: bool = False, **context: Any) -> Iterator[Any]:
    """A window of its own context; no fault may be left at the end. `may_fail`: pictures may not load."""
    within = browser.new_context(**{"viewport": DESKTOP, **context})
    page = within.new_page()
    page.set_default_timeout(10_000)
    faults: list[str] = []
    page.on("console", lambda told: faults.append(told.text) if told.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("popup", lambda other: faults.append(f"window opened: {other.url}"))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((app, "data:", "blob:", "about:")) else faults.append(asked.url),
    )
    yield page
    within.close()
    left = [fault for fault in faults if not (may_fail and "Failed to load resource" in fault)]
    assert not left, "\n".join(left[:9])
