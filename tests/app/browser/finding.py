"""What axe-core says of a page."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser.tabs import PHONE

SETTLE = """for (const one of document.getAnimations())
    if (Number.isFinite(one.effect.getComputedTiming().endTime)) one.finish()"""
"""Ends what moves, so that colours are those that stay; what moves for ever goes on."""


def axe() -> str:
    """The script of axe-core; skips where there is none."""
    path = os.environ.get("UNSPOOL_AXE", "")
    if not Path(path).is_file():
        pytest.skip("no axe-core: run scripts/test on a machine that has npm")
    return path


def faults(page: Any, script: str) -> list[str]:
    """Rules that a page breaks, light as it is and dark on a phone, each with the first places that break it."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=script)
    found, size = _broken(page, "light"), page.viewport_size
    page.set_viewport_size(PHONE)
    found += _broken(page, "dark")
    page.set_viewport_size(size)
    return found


def _broken(page: Any, scheme: str) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SETTLE)
    found = page.evaluate("axe.run({ preload: false, resultTypes: ['violations'] }).then((told) => told.violations)")
    return [
        f"{scheme}: {one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found
    ]
