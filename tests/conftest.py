"""What every test stands on: a home of its own, the shared folder, the peers to compare with, and how hard to try.

No test sees the real home. What needs something that is not there skips, and says what is missing.
"""

import asyncio
import gc
import importlib
import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from bench import corpus
from tests.site.search.chromium import chromium
from tests.thorough import EXAMPLES, THOROUGH

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("default", max_examples=EXAMPLES, deadline=None, database=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("bench", max_examples=20_000, deadline=None, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")  # what goes in must not depend on luck

_OURS = (
    *("UNSPOOL_AXE", "UNSPOOL_CCUSAGE", "UNSPOOL_CHROMIUM", "UNSPOOL_POSTGRES"),
    *("UNSPOOL_LIVE", "UNSPOOL_LIVE_CLAUDE", "UNSPOOL_LIVE_CODEX", "UNSPOOL_LIVE_KEEP"),
    *("UNSPOOL_SHOTS", "UNSPOOL_THOROUGH", "UNSPOOL_UPDATE_SNAPSHOTS"),
)
"""Variables that are the tests' own; all others of this kind are a user's settings."""
_TASTES = (
    *("UNSPOOL_", "GIT_", "LC_", "LANG", "XDG_", "CLAUDE", "ANTHROPIC_", "OPENAI_", "SSH_"),
    *(
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "COLUMNS",
        "LINES",
        "PAGER",
        "LESS",
        "EDITOR",
        "VISUAL",
        "BROWSER",
        "DISPLAY",
    ),
    *("PYTHONWARNINGS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONUTF8", "PYTHONIOENCODING"),
)
"""What the names of variables begin with that tell of a user's files, tastes or surroundings."""

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


def pytest_configure(config: pytest.Config) -> None:
    """What is started from here finds the same surroundings everywhere, whoever starts the tests, and how."""
    config.addinivalue_line("markers", "thorough: only with scripts/test --thorough")
    if hasattr(config, "workerinput") or config.getoption("dist", "no") == "no":  # the one that hands out runs no test
        _heed_signals()
    for name in [name for name in os.environ if name.startswith(_TASTES) and name not in _OURS]:
        del os.environ[name]
    os.environ["LC_ALL"] = "C.UTF-8"
    os.umask(0o022)
    sys.dont_write_bytecode = False  # tests and what they start are compiled once, not each time
    gc.disable()  # what is collected stays to the end: looking through it for garbage is in vain


def _heed_signals() -> None:
    """In the background Ctrl-C is ignored, under nohup a hangup, and so by all that is started from there."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # we go on not to mind it; a program that is started begins anew


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    if "duckdb" in sys.modules:
        gc.unfreeze()  # it complains of what is left at the end


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for a thorough run; and a long file that comes last has all other workers wait for it."""
    if not THOROUGH and (left := [item for item in items if item.get_closest_marker("thorough")]):
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    ranks = {(ROOT / "tests" / f"{name}.py"): rank for rank, name in enumerate(_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """What a command that runs in this process tells those that it starts is forgotten with the test."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """`homes()`: one more empty folder; numbered here, for pytest looks through all folders before it makes one."""
    base, numbers = tmp_path_factory.mktemp("homes"), itertools.count()

    def made() -> Path:
        place = base / str(next(numbers))
        place.mkdir()
        return place

    return made


@pytest.fixture(autouse=True)
def home(homes: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home; every variable that leads to a user's own files leads here."""
    place = homes()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(place))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(place / name.lower()))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / ".claude"))
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
def started_browser() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """Chromium, started when the first test asks for it, and the loop that playwright runs for it."""
    with chromium() as started:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def browser(started_browser: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """The one browser; each test opens windows of its own. Modules without it can run loops of their own."""
    started, loop = started_browser
    asyncio._set_running_loop(loop)
    assert started.is_connected(), "the browser ended in a test before this one"
    yield started
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def agent_sdk() -> ModuleType:
    """Anthropic's own reader, installed by `scripts/test --with-sdk` and in CI."""
    try:
        return importlib.import_module("claude_agent_sdk")
    except ModuleNotFoundError:
        pytest.skip("no claude-agent-sdk: run scripts/test --with-sdk")
