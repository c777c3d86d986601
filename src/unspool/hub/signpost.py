"""Which way a request takes: found by how its path begins, for to try a hundred of them one by one takes a while."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_TAKEN = "unspool.way"


class Signpost(BaseRoute):
    """All ways as one; of those that fit a path the first one is taken, as if they were tried in order."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._open = tuple(route for route in routes if _beginning(route.path) is None)
        self._named = {
            name: tuple(route for route in routes if _beginning(route.path) in (name, None))
            for name in {_beginning(route.path) for route in routes}
            if name is not None
        }

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first way that fits; where none does, the first that only the method does not fit."""
        half: Scope | None = None
        first = scope["path"].split("/", 2)[1:2]
        for route in self._named.get(first[0] if first else "", self._open):
            match, child = route.matches(scope)
            if match is Match.FULL:
                return match, {**child, _TAKEN: route}
            if match is Match.PARTIAL and half is None:
                half = {**child, _TAKEN: route}
        return (Match.NONE, {}) if half is None else (Match.PARTIAL, half)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Go the way that was found."""
        taken: Any = scope[_TAKEN]
        await taken.handle(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Nothing: ways have no names."""
        raise NotImplementedError


def _beginning(path: str) -> str | None:
    """How the paths of a way begin, up to their second slash; None where they begin with anything."""
    first = path.split("/", 2)[1]
    return None if "{" in first else first
