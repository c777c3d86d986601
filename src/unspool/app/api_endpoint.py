"""Declarations of API endpoints and their parameters, times among them."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta, tzinfo
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.config.settings import current_settings
from unspool.errors import UsageProblem
from unspool.store.index.times import day_start, parse_moment, written_time
from unspool.store.index.times import parse_zone as named_zone

MAX_VALUE = 2000
"""Characters of any value."""


class Parameter(NamedTuple):
    """A value that may stand behind `?`, or, where it stands in braces there, in the path."""

    name: str
    tells: str
    kind: type[str] | type[int] = str
    default: str | int | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    """The largest number."""

    def read(self, text: str | None) -> str | int | None:
        """The value of a text; UsageProblem where it is none."""
        if text is None:
            return self.default
        if len(text) > MAX_VALUE:
            raise UsageProblem(f"{self.name} is longer than {MAX_VALUE:,} characters.")
        if self.choices and text not in self.choices:
            raise UsageProblem(f"{self.name} is one of {', '.join(self.choices)}.")
        if self.kind is str:
            return text
        number = parse_number(text, self.most)
        if number is None or number < self.least:
            raise UsageProblem(f"{self.name} is a number from {self.least} to {self.most}.")
        return number


def parse_number(text: str, most: int = 10**8) -> int | None:
    """A number as an address has it; None where it is none, or a larger one than may be."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
    return number if number is None or number <= most else None


class ApiEndpoint(NamedTuple):
    """One address of the API."""

    path: str
    tells: str
    answer: Callable[..., Any]
    """Called with the request and the values of the parameters by name; returns what `gives` says."""
    gives: Any
    parameters: Sequence[Parameter] = ()
    missing: bool = False
    """Whether what is asked for may not be there."""

    @property
    def route(self) -> Route:
        return Route(self.path, self._respond)

    def _respond(self, request: Request) -> Response:
        values = {}
        for one in self.parameters:
            given = request.query_params.getlist(one.name)
            if one.name in request.path_params:
                given = [str(request.path_params[one.name])]
            if len(given) > 1:
                raise UsageProblem(f"{one.name} is given more than once.")
            values[one.name] = one.read(given[0] if given else None)
        made = self.answer(request, **values)
        body = made if isinstance(made, bytes) else msgspec.json.encode(made)
        return Response(body, media_type="application/json")


SINCE = Parameter("since", "From this day or moment on: 2026-01-31, or 3d, 2w ago.")
UNTIL = Parameter("until", "To the end of this day, or to this moment.")
ZONE = Parameter("tz", "Where days begin, as Europe/Berlin or UTC; without it, as the settings have it.")


def parse_zone(name: str | None) -> tzinfo | None:
    """A time zone, the settings' where none is named; None: this machine's."""
    try:
        return named_zone(name) if name else current_settings().zone
    except ValueError:
        raise UsageProblem(f"{name} is no time zone, such as Europe/Berlin, UTC or +05:30.") from None


def parse_since(text: str | None, zone: tzinfo | None, days: int = 0) -> float | None:
    """The first second asked for; of a date, so many days after it."""
    if not text:
        return None
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=days), zone)
    except (ValueError, OverflowError):
        found = parse_moment(text, zone)
    if found is None:
        raise UsageProblem(f"{text} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).")
    return found


def parse_until(text: str | None, zone: tzinfo | None) -> float | None:
    """The first second no longer asked for."""
    return parse_since(text, zone, 1)


def format_time(seconds: float | None) -> str | None:
    """2026-01-05T10:00:00Z; null where it is not known."""
    return None if seconds is None else written_time(seconds)
