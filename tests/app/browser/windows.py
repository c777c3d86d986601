"""Windows on the app in which nothing goes wrong unseen: no error, no dialog, no request elsewhere.

A window is used by one test after the other, emptied in between: to make one anew takes longer than most tests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from tests.site.browser.tabs import DESKTOP, Tab
from tests.site.search.chromium import PATIENCE

_IDLE: "WeakKeyDictionary[Any, dict[str, Window]]" = WeakKeyDictionary()
"""By browser, and by what cannot be changed of a window once it is there."""


class Window(Tab):
    """A tab that may ask one server for anything, and nobody else."""

    address = ""

    def go(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page

    def _request(self, request: Any) -> None:
        if not request.url.startswith((f"{self.address}/", "data:", "blob:", "about:")):
            self.faults.append(f"request: {request.url[:200]}")


@contextmanager
def opened(
    browser: Any, address: str, viewport: Any = DESKTOP, color_scheme: str = "light", **context: Any
) -> Iterator[Window]:
    """A window that nobody has looked out of; no fault may be left at the end."""
    key, idle = repr(sorted(context.items())), _IDLE.setdefault(browser, {})
    found = idle.pop(key, None) or Window(browser.new_context(viewport=DESKTOP, **context).new_page())
    found.address, found.faults = address, []
    found.page.set_default_timeout(PATIENCE * 1000)
    found.page.set_viewport_size(viewport)
    found.page.emulate_media(color_scheme=color_scheme)
    found.page.bring_to_front()  # one behind another may not be drawn
    try:
        yield found
        _emptied(found)
        assert not found.faults, "\n".join(found.faults[:9])
    except BaseException:
        found.page.context.close()
        raise
    idle[key] = found


def _emptied(window: Window) -> None:
    """Nothing of what was done in it is left: no page, no cookie, nothing stored, no answer of our own."""
    page, context = window.page, window.page.context
    page.unroute_all(behavior="ignoreErrors")
    for other in context.pages:
        if other is not page:
            other.close()
    page.goto("about:blank")
    context.clear_cookies()
    link = context.new_cdp_session(page)
    link.send("Storage.clearDataForOrigin", {"origin": window.address, "storageTypes": "local_storage,session_storage"})
    link.detach()


@contextmanager
def window(browser: Any, app: str, *, may_fail: bool = False, **context: Any) -> Iterator[Any]:
    """The page of a window. `may_fail`: pictures may not load."""
    with opened(browser, app, **context) as found:
        yield found.page
        found.faults = [fault for fault in found.faults if not (may_fail and "Failed to load resource" in fault)]
