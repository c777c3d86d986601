"""The API described in its own declarations: /api/openapi.json."""

from collections.abc import Sequence
from typing import Any

import msgspec

from unspool import __version__
from unspool.app.api.endpoint import LONGEST, Endpoint, Parameter
from unspool.app.trouble import Failure

_SCHEMAS = "#/components/schemas/"


def described(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """An OpenAPI 3.1 document."""
    types = [*(one.gives for one in endpoints), Failure]
    shown, components = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    paths = {one.path: {"get": _operation(one, schema)} for one, schema in zip(endpoints, shown, strict=False)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "unspool",
            "version": __version__,
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


def _operation(endpoint: Endpoint, schema: dict[str, Any]) -> dict[str, Any]:
    problem = {"content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}Failure"}}}}
    answers = {
        "200": {"description": "As asked.", "content": {"application/json": {"schema": schema}}},
        "400": {"description": "A parameter means nothing.", **problem},
        "401": {"description": "The token is missing or wrong."},
        "503": {"description": "The index is being made, or in use.", **problem},
    }
    if endpoint.missing:
        answers["404"] = {"description": "There is no such thing.", **problem}
    name = "_".join(part.strip("{}") for part in endpoint.path.split("/")[2:])
    return {
        "operationId": name,
        "summary": endpoint.tells,
        "parameters": [_parameter(one, endpoint.path) for one in endpoint.parameters],
        "responses": dict(sorted(answers.items())),
    }


def _parameter(one: Parameter, path: str) -> dict[str, Any]:
    inside = f"{{{one.name}}}" in path
    return {
        "name": one.name,
        "in": "path" if inside else "query",
        "required": inside,
        "description": one.tells,
        "schema": _schema(one),
    }


def _schema(one: Parameter) -> dict[str, Any]:
    if one.kind is int:
        return {"type": "integer", "minimum": one.least, "maximum": one.most, "default": one.default}
    schema: dict[str, Any] = {"type": "string", "maxLength": LONGEST}
    if one.choices:
        schema["enum"] = list(one.choices)
    return {**schema, "default": one.default} if one.default else schema
