"""What the tests of old data share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.old_data.unpacked import OldData


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OldData]:
    """`unpacked("home", "hub")`: these kinds of old data, in a folder of this test."""
    return lambda *kinds: OldData(tmp_path, monkeypatch, *kinds)
