"""What a handler asks of its request."""

from typing import cast

from starlette.requests import Request

from unspool.hub.hub import Hub
from unspool.hub.people.person import Person


def hub(request: Request) -> Hub:
    """The hub that is asked."""
    return cast("Hub", request.app.state.hub)


def person(request: Request) -> Person:
    """Who asks."""
    return cast("Person", request.state.person)


def sent(request: Request) -> bytes:
    """What was sent, which `door` has read whole."""
    return cast("bytes", getattr(request.state, "body", b""))
