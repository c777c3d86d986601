"""Sessions to be read in the app: the demo's, written once, and a app over them."""

import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from unspool.app.context import AppContext
from unspool.demo import write_demo

STORM = "57024000-0e55-4d0c-8e55-000000000005"
"""The demo's longest session: two pages, a branch, subagents, images."""
CHAIN = "a1a7e000-0c33-4d0c-8e33-000000000003"
"""The plan of the demo that another session carries out."""


class Got(NamedTuple):
    """An answer of the server."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def text(self) -> str:
        return self.body.decode()


def get(address: str) -> Got:
    """What is at an address, whatever its status; redirects are followed."""
    try:
        with urllib.request.urlopen(address, timeout=90) as answer:  # noqa: S310
            return Got(answer.status, answer.read(), {name.lower(): value for name, value in answer.headers.items()})
    except urllib.error.HTTPError as error:
        with error:
            return Got(error.code, error.read(), {name.lower(): value for name, value in error.headers.items()})


@cache
def demo_source() -> Path:
    """The demo's logs; nobody writes to them."""
    return write_demo(Path(mkdtemp())) / "projects"


def desk_of(*sources: Path) -> AppContext:
    """A app over sources of which nothing has been archived yet."""
    return AppContext(Path(mkdtemp()), sources)
