"""The JSON of a session keeps its promise: old exports fit today's schema, and today's exports fit the old one."""

import json
import lzma
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tests.old_data.unpacked import HERE, PLAN, RELEASE, WORK, OldData

OLD_SCHEMA = json.loads(lzma.decompress((HERE / "schema.json.xz").read_bytes()))


def fits(document: Any, schema: Any) -> None:
    jsonschema.Draft202012Validator(schema).validate(document)


def test_what_was_exported_fits_the_schema_of_today(unpacked: Callable[..., OldData]) -> None:
    data = unpacked("shared")
    fits(json.loads((data.shared / "export.json").read_text()), json.loads(data.said("schema")))


@pytest.mark.parametrize("session", [PLAN, WORK, RELEASE])
def test_what_is_exported_fits_the_schema_that_programs_were_written_for(
    unpacked: Callable[..., OldData], session: str
) -> None:
    data = unpacked("home")
    fits(json.loads(data.said("export", session, "-f", "json")), OLD_SCHEMA)


def test_what_does_not_fit_is_noticed(unpacked: Callable[..., OldData]) -> None:
    data = unpacked("shared")
    document = json.loads((data.shared / "export.json").read_text())
    document["session"]["turns"] = "many"
    with pytest.raises(jsonschema.ValidationError):
        fits(document, OLD_SCHEMA)
