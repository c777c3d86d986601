"""What is shown where something went wrong: the reason, a way on, and a server that goes on."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import apsw
import pytest
from starlette.requests import Request
from starlette.routing import Route

from tests.app import serving
from tests.app.serving import served
from unspool.app.background_sync import SyncState
from unspool.app.context import AppContext
from unspool.app.server import create_app
from unspool.errors import Ambiguous, Busy, NoRoom, NotFound, Unreadable, UsageProblem

FAILURES = {
    "crash": (ZeroDivisionError("division by <b>zero</b>"), 500),
    "silent": (KeyError(), 500),
    "missing": (NotFound("There is no session 7."), 404),
    "several": (Ambiguous("Several fit:", ("one", "two")), 404),
    "meaningless": (UsageProblem("That means nothing."), 400),
    "busy": (Busy("It is in use."), 503),
    "locked": (apsw.BusyError("database is locked"), 503),
    "full": (NoRoom("No room is left."), 507),
    "full-disk": (apsw.FullError("database or disk is full"), 507),
    "full-system": (OSError(errno.ENOSPC, "No space left on device"), 507),
    "unreadable": (Unreadable("It cannot be read."), 500),
    "gone": (FileNotFoundError(errno.ENOENT, "No such file", "/somewhere"), 500),
}


class Standing:
    """A background that stands as it is told to."""

    def __init__(self, state: SyncState) -> None:
        self.state = state


@pytest.fixture
def context(tmp_path: Path) -> AppContext:
    return AppContext(tmp_path / "archive")


@contextmanager
def failing(context: AppContext, monkeypatch: pytest.MonkeyPatch, background: SyncState | None = None) -> Iterator[str]:
    """An app with pages that fail, each in its own way; the API has the same."""

    def fail(request: Request) -> Any:
        if request.path_params["how"] == "index":
            with context.index():
                return None
        raise FAILURES[request.path_params["how"]][0]

    def made(given: AppContext) -> Any:
        app = create_app(given)
        app.router.routes[:0] = [Route("/fail/{how}", fail), Route("/api/fail/{how}", fail)]
        if background is not None:
            app.state.background, app.state.read_only = Standing(background), False
        return app

    monkeypatch.setattr(serving, "create_app", made)
    with served(context) as address:
        yield address.removeprefix("http://")


def asked(address: str, path: str) -> tuple[int, dict[str, str], str]:
    connection = HTTPConnection(address, timeout=90)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn tells of a crash besides; the app as it is started has that switched off."""
    monkeypatch.setattr("logging.Logger.error", lambda *_, **__: None)


@pytest.mark.parametrize("how", FAILURES)
def test_each_failure_has_a_page_with_its_reason_and_a_way_on(
    context: AppContext, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    error, status = FAILURES[how]
    with failing(context, monkeypatch) as address:
        found, headers, body = asked(address, f"/fail/{how}")
        assert (found, headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert 'href="/"' in body
        assert "<b>zero</b>" not in body
        words = str(error).splitlines()[0] if str(error) else "KeyError"
        assert words.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in body
        assert asked(address, "/api/state")[0] == 200, "the server goes on"


@pytest.mark.parametrize("how", FAILURES)
def test_the_api_says_the_same_as_data(context: AppContext, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    import json

    with failing(context, monkeypatch) as address:
        status, headers, body = asked(address, f"/api/fail/{how}")
        assert (status, headers["content-type"]) == (FAILURES[how][1], "application/json")
        assert json.loads(body)["status"] == status


def test_a_crash_says_where_it_happened_in_the_package(tmp_path: Path) -> None:
    """For a report of it: our own lines, and no path of the machine."""
    from unspool.app.error_pages import _details

    try:
        AppContext(tmp_path).found("nobody")
    except NotFound as error:
        said = _details(error)
    assert said.startswith("app/context.py:")
    assert str(Path.home()) not in said


def test_a_crash_is_told_where_the_app_was_started(
    context: AppContext, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with failing(context, monkeypatch) as address:
        asked(address, "/fail/crash?token=secret")
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "secret" not in said


def test_a_page_that_is_not_there(context: AppContext, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(context, monkeypatch) as address:
        status, _, body = asked(address, "/no/such/%3Cpage%3E")
    assert status == 404
    assert "/no/such/&lt;page&gt;" in body


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (SyncState(), "is being made"),
        (SyncState("syncing", 1_000_000, 4_000_000), "1.0 MB of 4.0 MB"),
        (SyncState("failed", failure="No room is left."), "No room is left."),
    ],
)
def test_a_missing_index_is_waited_for(
    context: AppContext, monkeypatch: pytest.MonkeyPatch, state: SyncState, said: str
) -> None:
    """While the sync makes it, the page says how far that is and asks again by itself, without any script."""
    with failing(context, monkeypatch, state) as address:
        status, headers, body = asked(address, "/fail/index")
    assert (status, headers["refresh"], headers["retry-after"]) == (503, "3", "3")
    assert said in body


def test_an_index_of_another_version_is_waited_for(context: AppContext, monkeypatch: pytest.MonkeyPatch) -> None:
    context.folder.mkdir()
    (context.folder / "index.db").write_bytes(b"no database" * 1000)
    with failing(context, monkeypatch, SyncState("syncing")) as address:
        assert asked(address, "/fail/index")[0] == 503
    with failing(context, monkeypatch, SyncState("done")) as address:
        status, _, body = asked(address, "/fail/index")
    assert status == 500
    assert "makes it anew" in body


def test_without_a_sync_a_missing_index_is_missing(context: AppContext, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(context, monkeypatch) as address:
        status, _, body = asked(address, "/fail/index")
    assert status == 404
    assert "unspool sync" in body
