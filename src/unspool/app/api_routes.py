"""The routes of the JSON API, /api/state and the OpenAPI document."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from starlette.requests import Request

from unspool.app import api_sessions, api_stats
from unspool.app.api_endpoint import MAX_VALUE, ApiEndpoint, Parameter, format_time
from unspool.app.background_sync import SyncState
from unspool.app.error_pages import Failure
from unspool.build_info import VERSION
from unspool.store.sync.run import SyncReport

_SCHEMAS = "#/components/schemas/"


def openapi_document(endpoints: Sequence[ApiEndpoint]) -> dict[str, Any]:
    types = [*(one.gives for one in endpoints), Failure]
    shown, components = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    paths = {one.path: {"get": _operation(one, schema)} for one, schema in zip(endpoints, shown, strict=False)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "unspool",
            "version": VERSION,
            "description": "What the app's pages show, as JSON. Nothing can be changed here.",
        },
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token of the address printed."},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "unspool-PORT"},
            },
        },
    }


def _operation(endpoint: ApiEndpoint, schema: dict[str, Any]) -> dict[str, Any]:
    problem = {"content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}Failure"}}}}
    answers = {
        "200": {"description": "As asked.", "content": {"application/json": {"schema": schema}}},
        "400": {"description": "A parameter means nothing.", **problem},
        "401": {"description": "The token is missing or wrong."},
        "503": {"description": "The index is being made, or in use.", **problem},
    }
    if endpoint.missing:
        answers["404"] = {"description": "There is no such thing.", **problem}
    return {
        "operationId": "_".join(part.strip("{}") for part in endpoint.path.split("/")[2:]),
        "summary": endpoint.tells,
        "parameters": [_parameter(one, endpoint.path) for one in endpoint.parameters],
        "responses": dict(sorted(answers.items())),
    }


def _parameter(one: Parameter, path: str) -> dict[str, Any]:
    inside = f"{{{one.name}}}" in path
    schema: dict[str, Any] = {"type": "string", "maxLength": MAX_VALUE}
    if one.kind is int:
        schema = {"type": "integer", "minimum": one.least, "maximum": one.most}
    if one.choices:
        schema["enum"] = list(one.choices)
    if one.default or one.kind is int:
        schema["default"] = one.default
    return {
        "name": one.name,
        "in": "path" if inside else "query",
        "required": inside,
        "description": one.tells,
        "schema": schema,
    }


class Standing(msgspec.Struct, frozen=True):
    """The app and its sync."""

    version: str
    read_only: bool
    state: Literal["idle", "syncing", "done", "failed"]
    done: int
    """Bytes of the running sync that are kept."""
    total: int
    failure: str
    at: str | None
    """When the last sync ended."""
    round: int
    """Another number, and there is something new to show."""
    report: SyncReport | None
    """What the last sync did."""
    missing: tuple[str, ...]
    """Sources that were named and are not there; what was kept of them is shown all the same."""


def _state(request: Request) -> Standing:
    background = request.app.state.background
    state: SyncState = SyncState() if background is None else background.state
    read_only = background is None or request.app.state.read_only
    missing = tuple(str(source) for source in request.app.state.context.sources if not source.is_dir())
    return Standing(
        VERSION, read_only, state.state, state.done, state.total, state.failure, format_time(state.at), state.round,
        state.report, missing,
    )  # fmt: skip


ENDPOINTS: tuple[ApiEndpoint, ...] = (
    ApiEndpoint("/api/state", "How the sync behind the app stands.", _state, Standing),
    *api_sessions.ENDPOINTS,
    *api_stats.ENDPOINTS,
)
"""Adding one is a declaration in a module here."""
DESCRIPTION = ApiEndpoint(
    "/api/openapi.json", "The API itself, as OpenAPI 3.1.", lambda _: openapi_document(ENDPOINTS), dict
)
ROUTES = [one.route for one in (DESCRIPTION, *ENDPOINTS)]
