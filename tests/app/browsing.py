"""A served app in which forms can be sent, with sessions enough to browse."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.app.asking import NOW, Got, Site, harbour, shop
from tests.app.serving import served
from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept
from unspool.app.context import AppContext


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirects are answers to look at."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Browsed(Site):
    """A served app, whose forms are sent as a browser without scripts sends them."""

    def post(self, where: str, /, *more: tuple[str, str], json_: bool = False, **form: str) -> Got:
        """The answer to a form itself, not the page that it leads to."""
        body = urlencode([*form.items(), *more], errors="surrogatepass").encode()
        headers = {"Accept": "application/json"} if json_ else {}
        request = urllib.request.Request(self.address + where, body, headers)  # noqa: S310  our own server
        try:
            with urllib.request.build_opener(_Stay).open(request, timeout=60) as answer:
                return Got(answer.status, answer.read().decode(), answer.url, dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Got(error.code, error.read().decode(), error.url, {k.lower(): v for k, v in error.headers.items()})

    def keys(self, where: str = "/sessions", /, **query: str | int) -> list[str]:
        """The sessions that a page lists, in its order."""
        return [part.split('"')[0] for part in self.get(where, **query).text.split('data-key="')[1:]]

    def sent(self, where: str, /, **form: str) -> Any:
        """The data that a script gets."""
        return json.loads(self.post(where, json_=True, **form).text)


def planned() -> tuple[LogBuilder, LogBuilder]:
    """A plan, and the session that carries it out."""
    plan = "# Light the lamp\n\n1. Buy oil."
    first = LogBuilder(session_id="plan", seed="plan", cwd="/home/dev/lamp", start=NOW - timedelta(days=3))
    first.prompt("Plan a lighthouse").plan(plan, "cleared")
    later = LogBuilder(
        session_id="work", seed="work", cwd="/home/dev/lamp", start=NOW - timedelta(days=3) + timedelta(hours=1)
    )
    later.implement(plan, first).assistant(later.text("Done."))
    return first, later


@contextmanager
def browsed(folder: Path, *logs: LogBuilder) -> Iterator[Browsed]:
    """The app over these logs, or over four sessions of three projects."""
    archive = kept(folder, *(logs or (shop(), harbour(), *planned())))
    with served(AppContext(archive, [folder / "source"])) as address:
        yield Browsed(address)
