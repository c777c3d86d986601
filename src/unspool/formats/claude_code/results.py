"""Results of tools: text, pictures, structured twin, denials, and output that was spilled to a file."""

import json
import re
from collections.abc import Callable
from typing import Any

from unspool.formats.claude_code.media import KINDS, image
from unspool.formats.claude_code.values import items, mapping, text
from unspool.model import Event, Image, Json, Place, Result

Spills = Callable[[str], str | None]
"""Gives the text of a spilled output by its file name, or None where the file is gone."""

_SPILLED = re.compile(r"Full output saved to: (\S[^\n]*)")
_SAID = "the user said:"
_DENIALS = (
    ("The user doesn't want to proceed with this tool use", "user-rejected"),
    ("The user doesn't want to take this action right now", "user-rejected"),
    ("[Request interrupted by user", "interrupted"),
    ("<tool_use_error>Sibling tool call errored", "cancelled"),
    ("<tool_use_error>Cancelled: parallel tool call", "cancelled"),
    ("Cancelled: parallel tool call", "cancelled"),
    ("Permission to use", "permission-rule"),
)


def result(block: dict[str, Json], line: dict[str, Json], event: Event, spills: Spills) -> Result:
    """A tool_result block; `line` is the whole entry, which carries the structured twin and the denial."""
    words, images, parts = content(block.get("content"), event.place)
    detail = line.get("toolUseResult")
    error = block.get("is_error") is True
    denial = text(line.get("toolDenialKind")) or (_denial(words) if error else "")
    spilled, words, missing = _spill(words, detail, spills)
    return Result(
        event.place,
        text(block.get("tool_use_id")),
        words,
        error,
        images,
        detail,
        parts,
        denial,
        text(line.get("userFeedback")) or (_feedback(words) if denial else ""),
        spilled,
        missing,
        _permission(mapping(line.get("permissionDecision"))),
        event.id,
        event.time,
    )


def _permission(decision: dict[str, Json]) -> str:
    if text(decision.get("source")).startswith("user"):
        return "user for the session" if decision.get("grantScope") == "session" else "user"
    return text(decision.get("reasonType"))


def content(value: Json, place: Place) -> tuple[str, tuple[Image, ...], tuple[Json, ...]]:
    """Content of a result as (text, images, everything else)."""
    if isinstance(value, str):
        return value, (), ()
    if value is None:
        return "", (), ()
    if not isinstance(value, list):
        return "", (), (value,)
    words: list[str] = []
    images: list[Image] = []
    parts: list[Any] = []
    for block in value:
        if isinstance(block, str):
            words.append(block)
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            words.append(block["text"])
        elif isinstance(block, dict) and text(block.get("type")) in KINDS:
            images.append(image(block, place))
        else:
            parts.append(block)
    return "\n".join(words), tuple(images), tuple(parts)


def _denial(words: str) -> str:
    for prefix, kind in _DENIALS:
        if words.startswith(prefix):
            return kind
    return ""


def _feedback(words: str) -> str:
    _, said, rest = words.partition(_SAID)
    return rest.strip() if said else ""


def _spill(words: str, detail: Json, spills: Spills) -> tuple[str, str, bool]:
    """(file name, text, missing): the text read back where the result only points to a file."""
    path = text(detail.get("persistedOutputPath")) if isinstance(detail, dict) else ""
    if not path and words.startswith("<persisted-output>"):
        found = _SPILLED.search(words[:2000])
        path = found[1].strip() if found else ""
    if not path:
        return "", words, False
    name = re.split(r"[\\/]", path)[-1]
    whole = spills(name)
    if whole is None:
        return path, words, True
    return path, _spilled_text(name, whole), False


def _spilled_text(name: str, whole: str) -> str:
    """Output spilled as JSON holds content blocks; any other is the text itself."""
    if not name.endswith(".json"):
        return whole
    try:
        value = json.loads(whole)
    except (ValueError, RecursionError):
        return whole
    words = [text(mapping(block).get("text")) for block in items(value)]
    return "\n".join(words) if words and all(words) else whole
