"""What the API can be asked, declared once: the routes and the OpenAPI document are both made of it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.errors import UsageProblem

LONGEST = 2000
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
        if len(text) > LONGEST:
            raise UsageProblem(f"{self.name} is longer than {LONGEST:,} characters.")
        if self.kind is int:
            return self._number(text)
        if self.choices and text not in self.choices:
            raise UsageProblem(f"{self.name} is one of {', '.join(self.choices)}.")
        return text

    def _number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12 and self.least <= int(text) <= self.most):
            raise UsageProblem(f"{self.name} is a number from {self.least} to {self.most}.")
        return int(text)


class Endpoint(NamedTuple):
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
