"""A window on the served app in which nothing goes wrong unseen, and what axe-core says of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser.tabs import DESKTOP, Tab


class Window(Tab):
    """A tab that may ask one server for anything, and nobody else."""

    def __init__(self, page: Any, address: str) -> None:
        super().__init__(page)
        self.address = address

    def go(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page

    def _request(self, request: Any) -> None:
        if not request.url.startswith(f"{self.address}/"):
            self.faults.append(f"request: {request.url[:200]}")


@contextmanager
def window(browser: Any, address: str, **context: Any) -> Iterator[Window]:
    """A window of its own context; no fault may be left at the end."""
    within = browser.new_context(**{"viewport": DESKTOP, **context})
    opened = Window(within.new_page(), address)
    opened.page.set_default_timeout(10_000)
    yield opened
    within.close()
    assert not opened.faults, "\n".join(opened.faults[:9])


def axe() -> str:
    """The script of axe-core; skips where there is none."""
    path = os.environ.get("UNSPOOL_AXE", "")
    if not Path(path).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    return path


def serious(page: Any, script: str) -> list[str]:
    """Rules that a page breaks, each with the first places that break it."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=script)
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    found = page.evaluate("axe.run({ preload: false }).then((told) => told.violations)")
    return [
        f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
