"""A real browser for the search, on disk and served; skips where there is none, and counts what is loaded."""

import functools
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

_WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),  # pages of the browser's own, made for each window and never seen
    *("DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay", "MediaRouter", "OptimizationHints"),
    *("PaintHolding", "ThirdPartyStoragePartitioning", "Translate"),
)
"""Features that cost time and that no page needs; the latter ones playwright would leave out as well."""
_PLAIN = ("--no-sandbox", "--disable-gpu", "--disable-software-rasterizer")
"""No graphics card is imitated: a quarter of the time went into that."""
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The one without windows is the same engine, and takes half of the time."""
PATIENCE = 120
"""Seconds that anything may take on a machine that does much else; what never comes is told only then."""


def executable() -> str | None:
    """The browser that tests open; None where there is none."""
    return os.environ.get("UNSPOOL_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser started once; skips, saying why, where playwright or chromium is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pages are not opened in a browser")
    path = executable()
    if path is None:
        pytest.skip("no chromium: pages are not opened in a browser")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=[*_PLAIN, f"--disable-features={','.join(_WITHOUT)}"]
        )
        yield browser
        browser.close()


def until(tab: Any, condition: str) -> None:
    """Wait for an expression to be true; playwright's own way evaluates text in the page, which the policy forbids."""
    end = time.monotonic() + PATIENCE
    while not tab.evaluate(condition):
        assert time.monotonic() < end, f"never came true: {condition}"
        time.sleep(0.02)


class Served(SimpleHTTPRequestHandler):
    """Files of a folder; the bytes that were sent are added up on the server."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has in the base class
        """Say nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        content = source.read()
        self.server.sent[self.path] = len(content)  # type: ignore[attr-defined]
        outputfile.write(content)


class Server(ThreadingHTTPServer):
    """A loopback server."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path) -> None:
        self.sent: dict[str, int] = {}
        super().__init__(("127.0.0.1", 0), functools.partial(Served, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
