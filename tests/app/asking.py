"""A served app over built logs, asked as a browser without scripts would ask it."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.app.serving import served
from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept
from unspool.app.context import AppContext

NOW = datetime.now(UTC).replace(microsecond=0)


class Got(NamedTuple):
    """An answer, and where it came from in the end."""

    status: int
    text: str
    url: str
    headers: dict[str, str]

    @property
    def said(self) -> str:
        """What a reader sees, in one line."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())

    def links(self, holding: str = "") -> list[str]:
        """Addresses on the page that hold a text."""
        return [one for one in map(unescape, re.findall(r'href="([^"]*)"', self.text)) if holding in one]


class Site:
    """A served app."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, where: str, /, **query: str | int) -> Got:
        """A page, redirects followed."""
        url = self.address + where + (f"?{urlencode(query)}" if query else "")
        try:
            with urllib.request.urlopen(url, timeout=90) as answer:  # noqa: S310  our own server
                return Got(answer.status, answer.read().decode(), answer.url, dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Got(error.code, error.read().decode(), error.url, dict(error.headers))

    def json(self, where: str, /, **query: str | int) -> Any:
        return json.loads(self.get(where, **query).text)


@contextmanager
def site(folder: Path, *logs: LogBuilder) -> Iterator[Site]:
    """The app over these logs, synced."""
    archive = kept(folder, *logs)
    with served(AppContext(archive, [folder / "source"])) as address:
        yield Site(address)


def shop() -> LogBuilder:
    """Eight prompts, so two pages; a call with its answer, an edit, a failure."""
    log = LogBuilder(session_id="shop", cwd="/home/dev/shop", branch="main", start=NOW - timedelta(days=40))
    log.prompt("Why is the checkout slow?")
    log.assistant(log.think("Perhaps the invoiceCache misses."), log.text("The invoice_cache is never filled."))
    log.ran("grep -rn checkout src/", "src/pay.py:12: def checkout(cart):\nsrc/pay.py:40: # zanzibar")
    log.edited("/home/dev/shop/src/pay.py", "slow = True\n", "slow = True", "slow = False")
    for number in range(6):
        log.prompt(f"And step {number}?").assistant(log.text("Yes."))
    log.prompt("Is it the quicksilver?")
    log.failed("Bash", {"command": "pytest -q tests/pay"}, "Exit code 1\nAssertionError: totals differ")
    return log.title("Slow <b>checkout</b>")


def harbour() -> LogBuilder:
    """A subagent with words of its own, and a file that the other session touched too."""
    log = LogBuilder(session_id="harbour", cwd="/home/dev/harbour", branch="tides", start=NOW - timedelta(hours=2))
    log.prompt("Show the tides; the checkout of the repository is stale.")
    log.read("/home/dev/shop/src/pay.py", "x = 1")
    use = log.agent_use("Explore", "look around", "Find every lighthouse.")
    log.assistant(use)
    log.subagent(use, "Explore", "look around", lambda child: child.assistant(child.text("One keeperless lighthouse.")))
    log.wrote("/home/dev/harbour/src/board.py", "tides = []\n")
    return log.title("Tides and lighthouses").assistant(log.text("Done."), model="claude-haiku-4-5")
