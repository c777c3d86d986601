"""How long a service asks to wait, where secrets are sent, and where an address of others may lead."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from unspool.errors import FetchFailed, UsageProblem
from unspool.http import checked_address, fetch, pause


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), (" 0 ", 0.0), ("1.5", 1.5)])
def test_a_pause_in_seconds(header: str, seconds: float) -> None:
    assert pause(header) == seconds


def test_a_pause_until_a_date() -> None:
    """One that has passed is none."""
    assert pause(formatdate(time.time() + 60, usegmt=True)) == pytest.approx(60, abs=3)
    assert pause(formatdate(time.time() - 60, usegmt=True)) == 0.0


@pytest.mark.parametrize("header", ["", "soon", "-3", "1e3", "٣", "Mon, 99 Foo 2026 00:00:00 GMT", ".", "1.2.3"])
def test_a_pause_that_says_nothing(header: str) -> None:
    assert pause(header) is None


def test_endless_digits_are_no_trouble() -> None:
    assert pause("9" * 10_000) == float("9" * 12)


@pytest.mark.parametrize("base", ["https://example.org/v1/", "http://localhost:11434/v1", "http://[::1]:80"])
def test_an_address_that_keeps_a_secret(base: str) -> None:
    assert checked_address(base) == base.rstrip("/")


@pytest.mark.parametrize(
    "base",
    [
        "http://example.org",
        "http://127.0.0.1.example.org",
        "https://",
        "https://[",
        "https://a b",
        "https://h:99999",
        "https://u:p@example.org",
        "http://localhost@example.org",
        "https://example.org/\r\nX: y",
        "",
    ],
)
def test_an_address_that_does_not(base: str) -> None:
    with pytest.raises(UsageProblem):
        checked_address(base)


NAMES = {"inside.example": "127.0.0.2", "loop.example": "127.0.0.1", "elsewhere.example": "127.0.0.1"}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that lead to this machine."""
    found = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *more, **named: found(NAMES.get(host, host), *more, **named)
    )


@contextmanager
def serving(host: str = "127.0.0.1", moved: str = "") -> Iterator[tuple[int, list[str]]]:
    """A server that says `here`, or that it moved: its port, and who was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302 if moved else 200)
            if moved:
                self.send_header("Location", moved)
            self.end_headers()
            self.wfile.write(b"here")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.2", "inside.example"])
def test_nobody_is_led_to_an_address_within(names: None, host: str) -> None:
    """By a redirect to it, or to a name that leads there: it is not even asked."""
    with serving("127.0.0.2") as (port, asked), serving(moved=f"http://{host}:{port}/secret") as (first, _):
        with pytest.raises(FetchFailed, match=r"127\.0\.0\.2"):
            fetch(f"http://127.0.0.1:{first}/talk")
        assert asked == []
        assert fetch(f"http://127.0.0.2:{port}/mine") == b"here"


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:192.168.0.1]/"]
)
def test_a_redirect_to_a_private_address_is_not_followed(place: str) -> None:
    with serving(moved=place) as (port, _), pytest.raises(FetchFailed, match="name it yourself"):
        fetch(f"http://127.0.0.1:{port}/talk")


def test_a_name_that_leads_to_this_machine_is_not_asked(names: None) -> None:
    """It may be anybody's; who means this machine says so."""
    with serving() as (port, asked):
        with pytest.raises(FetchFailed, match=r"loop\.example leads to 127\.0\.0\.1"):
            fetch(f"http://loop.example:{port}/talk")
        assert asked == []
        assert fetch(f"http://localhost:{port}/talk") == b"here"


def test_an_address_that_was_named_may_lead_on_to_itself(names: None) -> None:
    with serving() as (port, _), serving(moved=f"http://elsewhere.example:{port}/") as (first, _):
        assert fetch(f"http://127.0.0.1:{first}/talk") == b"here"


def test_behind_a_proxy_an_address_within_is_not_asked_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy looks names up; an address that a redirect says is judged here."""
    with serving(moved="http://169.254.169.254/latest") as (port, asked):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        with pytest.raises(FetchFailed, match="name it yourself"):
            fetch("http://public.example/talk")
        assert asked == ["http://public.example/talk"]
