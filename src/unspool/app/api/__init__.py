"""What the pages show, as JSON under /api, for programs: read only, behind the same guard."""

from typing import Any

from starlette.requests import Request

from unspool.app.api import figures, search, sessions, standing
from unspool.app.api.endpoint import Endpoint
from unspool.app.api.openapi import described

ENDPOINTS: tuple[Endpoint, ...] = (
    *standing.ENDPOINTS,
    *sessions.ENDPOINTS,
    *search.ENDPOINTS,
    *figures.ENDPOINTS,
)
"""Adding one is a declaration in a module here."""


def _openapi(_: Request) -> dict[str, Any]:
    return described(ENDPOINTS)


DESCRIPTION = Endpoint("/api/openapi.json", "The API itself, as OpenAPI 3.1.", _openapi, dict)
ROUTES = [one.route for one in (DESCRIPTION, *ENDPOINTS)]
