"""An agent with as few capabilities as are allowed goes through every command, page and route.

What it lacks is told in one sentence that names it; all else works as for any other.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.made_up import SESSION, MadeUp, write_tale
from unspool.agents import AGENTS


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a session of the made-up agent, which is known while the test lasts."""
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "kept"))
    made_up = MadeUp()
    AGENTS.append(made_up)
    try:
        yield write_tale(tmp_path / "tales").parent
    finally:
        AGENTS.remove(made_up)


WORKS = {
    "list": ("list", "-s", "SOURCE"),
    "info": ("info", SESSION, "-s", "SOURCE"),
    "context": ("context", SESSION, "-s", "SOURCE"),
    "show": ("show", SESSION, "-s", "SOURCE"),
    "export": ("export", SESSION, "-s", "SOURCE"),
    "json": ("json", SESSION, "-s", "SOURCE", "-o", "OUT"),
    "all": ("all", "-s", "SOURCE", "-o", "OUT"),
    "sync": ("sync", "-s", "SOURCE"),
    "watch": ("watch", "--once", "-s", "SOURCE"),
    "search": ("search", "granite"),
    "usage": ("usage",),
    "stats": ("stats",),
    "doctor": ("doctor", "-s", "SOURCE"),
    "verify": ("verify",),
    "restore": ("restore", SESSION, "-o", "OUT"),
    "archive": ("archive", "info"),
    "recommend": ("recommend", SESSION, "-s", "SOURCE"),
    "redact": ("redact", SESSION, "-s", "SOURCE"),
    "forget": ("forget", SESSION, "--yes"),
}
LACKS = {
    "clone": ("clone", SESSION, "-s", "SOURCE"),
    "fork": ("fork", SESSION, "-s", "SOURCE", "--at", "1"),
    "lint": ("lint", SESSION, "-s", "SOURCE"),
    "repair": ("repair", SESSION, "-s", "SOURCE"),
    "move": ("move", SESSION, "-s", "SOURCE", "--to", "OUT"),
    "share": ("share", SESSION, "-s", "SOURCE", "-o", "OUT"),
    "requests": ("requests", SESSION, "-s", "SOURCE"),
}
