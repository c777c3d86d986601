"""How long a service asks to wait, and where secrets are sent."""

import time
from email.utils import formatdate

import pytest

from unspool.errors import UsageProblem
from unspool.http import checked_address, pause


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
