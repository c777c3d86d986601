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
        if self.kind is int:
            return self._number(text)
        if self.choices and text not in self.choices:
            raise UsageProblem(f"{self.name} is one of {', '.join(self.choices)}.")
        return text

    def _number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12 and self.least <= int(text) <= self.most):
            raise UsageProblem(f"{self.name} is a number from {self.least} to {self.most}.")
        return int(text)


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
        values = {one.name: one.read(self._given(request, one.name)) for one in self.parameters}
        made = self.answer(request, **values)
        body = made if isinstance(made, bytes) else msgspec.json.encode(made)
        return Response(body, media_type="application/json")

    def _given(self, request: Request, name: str) -> str | None:
        if name in request.path_params:
            return str(request.path_params[name])
        values = request.query_params.getlist(name)
        if len(values) > 1:
            raise UsageProblem(f"{name} is given more than once.")
        return values[0] if values else None


SINCE = Parameter("since", "From this day or moment on: 2026-01-31, or 3d, 2w ago.")
UNTIL = Parameter("until", "To the end of this day, or to this moment.")
ZONE = Parameter("tz", "Where days begin, as Europe/Berlin or UTC; without it, as the settings have it.")


def parse_zone(name: str | None) -> tzinfo | None:
    """A time zone, the settings' where none is named; None: this machine's."""
    try:
        return named_zone(name) if name else current_settings().zone
    except ValueError:
        raise UsageProblem(f"{name} is no time zone, such as Europe/Berlin, UTC or +05:30.") from None


def parse_since(text: str | None, where: tzinfo | None) -> float | None:
    """The first second asked for."""
    return None if not text else _moment(text, where, 0)


def parse_until(text: str | None, where: tzinfo | None) -> float | None:
    """The first second no longer asked for."""
    return None if not text else _moment(text, where, 1)


def _moment(text: str, where: tzinfo | None, days: int) -> float:
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=days), where)
    except (ValueError, OverflowError):
        found = parse_moment(text, where)
    if found is None:
        raise UsageProblem(f"{text} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).")
    return found


def format_time(seconds: float | None) -> str | None:
    """2026-01-05T10:00:00Z; null where it is not known."""
    return None if seconds is None else written_time(seconds)
