"""What every test stands on: a home of its own, the shared folder, the peers to compare with, and how hard to try.

No test sees the real home. What needs something that is not there skips, and says what is missing.
"""

import gc
import importlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from bench import corpus

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("default", max_examples=200, deadline=None, database=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("bench", max_examples=20_000, deadline=None, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")  # what goes in must not depend on luck


_FIRST = (
    *("site/build/test_killed", "store/sync/test_watch", "site/search/test_browser", "cli/test_watch"),
    *("app/test_start_load", "app/browser/test_browse", "app/test_live", "app/browser/test_large"),
    *("site/browser/test_reading", "app/browser/test_reading", "app/test_start", "app/browser/test_find_pages"),
    *("app/browser/test_sharing", "share/test_encrypted_browser", "copies/compress/test_run", "copies/test_real_logs"),
    *("app/browser/test_understand", "site/browser/test_hostile", "store/archive/test_loss", "store/sync/test_kills"),
    *("app/browser/test_windows", "app/browser/test_find_palette", "app/browser/test_ways", "site/browser/test_axe"),
    *("hub/store/test_faults", "hub/browser/test_walk", "hub/sessions/test_scale", "hub/shares/test_browser"),
)
"""The files that take longest; those that wait stand beside those that compute."""


def pytest_configure() -> None:
    """Whoever starts the tests in the background has them ignore Ctrl-C, and so all that they start."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # what is collected stays to the end: looking through it for garbage is in vain


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A long file that comes last has all other workers wait for it."""
    ranks = {(ROOT / "tests" / f"{name}.py"): rank for rank, name in enumerate(_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home; every variable that leads to a user's own files or tastes leads here or is gone."""
    place = tmp_path_factory.mktemp("home")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(place))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(place / name.lower()))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / ".claude"))
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "PAGER", "LESS", "PYTHONWARNINGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield place
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real logs and the corpus maker, beside the repository."""
    place = ROOT.parent / "shared"
    if not place.is_dir():
        pytest.skip("no folder `shared` beside the repository: its logs and corpus maker are needed")
    return place


@pytest.fixture(scope="session")
def made_corpus(shared: Path) -> Callable[[int, int], Path]:
    """`made_corpus(seed, mb)`: a made corpus with its truth.json, written once and kept in `.cache`."""
    return lambda seed, mb: corpus.made(shared, seed, mb)


@pytest.fixture(scope="session")
def ccusage() -> str:
    """The path of ccusage, which scripts/test installs where there is npm."""
    candidates = (os.environ.get("UNSPOOL_CCUSAGE", ""), str(ROOT / "node_modules/.bin/ccusage"))
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return path
    pytest.skip("no ccusage: run scripts/test on a machine that has npm")


@pytest.fixture(scope="session")
def agent_sdk() -> ModuleType:
    """Anthropic's own reader, installed by `scripts/test --with-sdk` and in CI."""
    try:
        return importlib.import_module("claude_agent_sdk")
    except ModuleNotFoundError:
        pytest.skip("no claude-agent-sdk: run scripts/test --with-sdk")
