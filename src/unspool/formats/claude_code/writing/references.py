"""References from one line to another, rewritten for a copy in which lines have new ids and some are gone."""

from collections.abc import Mapping
from typing import Any

import msgspec

from unspool.formats.writing import Identity, Preserved
from unspool.model import Json

_decode = msgspec.json.Decoder().decode
_GONE = object()
"""Stands for a reference to a line that the copy has not."""


def rewrite(fields: dict[str, Any], identity: Identity, skipped: frozenset[str]) -> None:
    """Rewrite every reference to a line of the log, whatever the field is called; those to lines gone are left out."""
    _preserve(fields, identity)
    for name, value in list(fields.items()):
        if name in skipped or not isinstance(value, msgspec.Raw):
            continue
        data = _decode(value)
        after = _referred(data, identity)
        if after is _GONE:
            del fields[name]
        elif after is not data:
            fields[name] = after


def preserved(raw: bytes) -> Preserved:
    """The earlier lines that a compaction let stay."""
    data = _decode(raw)
    about = data.get("compactMetadata") if isinstance(data, dict) else None
    if not isinstance(about, dict):
        return Preserved()
    segment, messages = about.get("preservedSegment"), about.get("preservedMessages")
    ends = segment if isinstance(segment, dict) else {}
    listed = messages.get("uuids") if isinstance(messages, dict) else None
    lines = tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    return Preserved(str(ends.get("headUuid", "")), str(ends.get("tailUuid", "")), lines)


def _preserve(fields: dict[str, Any], identity: Identity) -> None:
    """Lines that a compaction kept: from the first to the last of them that the copy has."""
    if "compactMetadata" not in fields:
        return
    about = _data(fields["compactMetadata"])
    segment = about.get("preservedSegment") if isinstance(about, dict) else None
    if not isinstance(about, dict) or not isinstance(segment, dict):
        return
    ends = {
        "headUuid": _nearest(segment.get("headUuid"), identity, identity.after),
        "anchorUuid": _nearest(segment.get("anchorUuid"), identity, identity.before),
        "tailUuid": _nearest(segment.get("tailUuid"), identity, identity.before),
    }
    rest = {name: value for name, value in about.items() if name != "preservedSegment"}
    made = _referred(rest, identity)
    fields["compactMetadata"] = {**made, "preservedSegment": ends} if _in_order(ends, identity) else made


def _in_order(ends: dict[str, str], identity: Identity) -> bool:
    """Whether there is something between the ends."""
    head, tail = identity.order.get(ends["headUuid"]), identity.order.get(ends["tailUuid"])
    return bool(ends["anchorUuid"]) and head is not None and tail is not None and head <= tail


def _nearest(old: Json, identity: Identity, beside: Mapping[str, str]) -> str:
    return identity.ids.get(old) or beside.get(old) or "" if isinstance(old, str) else ""


def _data(value: Any) -> Any:
    return _decode(value) if isinstance(value, msgspec.Raw) else value


def _referred(value: Json, identity: Identity) -> Any:
    """The value with ids replaced and references to lines gone left out; the same object where it has none."""
    if isinstance(value, str):
        return identity.ids.get(value) or (_GONE if value in identity.before else value)
    if isinstance(value, list):
        made = [_referred(inner, identity) for inner in value]
        same = all(new is old for new, old in zip(made, value, strict=True))
        return value if same else [new for new in made if new is not _GONE]
    if isinstance(value, dict):
        pairs = [(key, _referred(inner, identity)) for key, inner in value.items()]
        same = all(new is value[key] for key, new in pairs)
        return value if same else {key: new for key, new in pairs if new is not _GONE}
    return value
