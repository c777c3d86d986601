"""What every browser test of a site stands on: the demo's site, made once."""

from pathlib import Path

import pytest

from tests.site.browser.making import made


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All sessions of the demo."""
    return made(tmp_path_factory.mktemp("archive") / "site", "all", "--demo")


@pytest.fixture(scope="session")
def storm(archive: Path) -> Path:
    """The folder of the demo's longest session: two pages, a branch, subagents, images."""
    return next(archive.glob("*/57024000-*"))


@pytest.fixture(scope="session")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same session as a single file."""
    return made(tmp_path_factory.mktemp("one") / "storm.html", "json", "57024000", "--demo")
