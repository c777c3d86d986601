"""What tests of sync stand on: a source with a few sessions, and the folder of an archive."""

from pathlib import Path

import pytest

from tests.store.sync.sessions import full, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "source"
    write(place, [full("aa"), full("bb", version="2.0.5"), full("cc", cwd="/home/dev/other")])
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"
