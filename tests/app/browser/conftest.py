"""What every test of the app in a browser stands on: one browser a module."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.site.search.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One at a time: playwright allows no second one beside the first."""
    with chromium() as started:
        yield started
