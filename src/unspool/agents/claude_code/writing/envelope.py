"""The fields around a message in a copy: new ids, references, and lines that stay behind."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from unspool.agents.lines import sound_value
from unspool.agents.renaming import rename_in_line
from unspool.agents.writing import CopyIdentity, LineLink
from unspool.model import Json

_GONE = object()
"""Stands for a reference to a line that the copy has not."""


def rewrite_references(fields: dict[str, Any], identity: CopyIdentity, skipped: frozenset[str]) -> None:
    """Rewrite every reference to a line of the log, whatever the field is called; those to lines gone are left out."""
    _preserve(fields, identity)
    for name, value in list(fields.items()):
        if name in skipped or not isinstance(value, msgspec.Raw):
            continue
        data = sound_value(value)
        after = _referred(data, identity)
        if after is _GONE:
            del fields[name]
        elif after is not data:
            fields[name] = after


def _preserve(fields: dict[str, Any], identity: CopyIdentity) -> None:
    """Lines that a compaction kept: from the first to the last of them that the copy has."""
    if "compactMetadata" not in fields:
        return
    about = _data(fields["compactMetadata"])
    if not isinstance(about, dict):
        return
    made = dict(_referred({name: value for name, value in about.items() if name != "preservedSegment"}, identity))
    messages = made.get("preservedMessages")
    if isinstance(messages, dict) and not messages.get("uuids"):
        del made["preservedMessages"]  # none of them is in the copy
    segment = about.get("preservedSegment")
    if isinstance(segment, dict):
        ends = {
            "headUuid": _nearest(segment.get("headUuid"), identity, identity.after),
            "anchorUuid": _nearest(segment.get("anchorUuid"), identity, identity.before),
            "tailUuid": _nearest(segment.get("tailUuid"), identity, identity.before),
        }
        if _in_order(ends, identity):
            made["preservedSegment"] = ends
    fields["compactMetadata"] = made


def _in_order(ends: dict[str, str], identity: CopyIdentity) -> bool:
    """Whether there is something between the ends."""
    head, tail = identity.order.get(ends["headUuid"]), identity.order.get(ends["tailUuid"])
    return bool(ends["anchorUuid"]) and head is not None and tail is not None and head <= tail


def _nearest(old: Json, identity: CopyIdentity, beside: Mapping[str, str]) -> str:
    return identity.ids.get(old) or beside.get(old) or "" if isinstance(old, str) else ""


def _data(value: Any) -> Any:
    return sound_value(value) if isinstance(value, msgspec.Raw) else value


def _referred(value: Json, identity: CopyIdentity) -> Any:
    """The value with ids replaced and references to lines gone left out; the same object where it has none."""
    if isinstance(value, str):
        return identity.ids.get(value) or (_GONE if value in identity.before else value)
    if isinstance(value, list):
        made = [_referred(inner, identity) for inner in value]
        same = all(new is old for new, old in zip(made, value, strict=True))
        return value if same else [new for new in made if new is not _GONE]
    if isinstance(value, dict):
        changed = {_referred(key, identity): _referred(inner, identity) for key, inner in value.items()}
        if all(changed.get(key, _GONE) is inner for key, inner in value.items()):
            return value
        return {key: new for key, new in changed.items() if key is not _GONE and new is not _GONE}
    return value


_REQUEST = "api-request"
"""How the types of all lines begin that record what was sent: requests, their messages, system prompt and tools."""
_DIGESTS = frozenset({"resume-head-vouch"})
_ROOTED = frozenset({"credential_org", "deferred_tools_record", "prompt_render_point", "prompt_snapshot"})
_LIKELY = re.compile(rb'"(?:%s|%s)' % (_REQUEST.encode(), "|".join([*_DIGESTS, *_ROOTED]).encode()))


class _Line(msgspec.Struct):
    """What tells the type of a line."""

    type: Any = None
    attachment: Any = None


_decode_leaving = msgspec.json.Decoder(_Line).decode


def is_request(kind: str) -> bool:
    """Whether lines of a type record what was sent."""
    return kind.startswith(_REQUEST)


def is_request_record(raw: bytes) -> bool:
    """Whether a line says again what others say, or gives digests of them."""
    kind = _line(raw).type
    return isinstance(kind, str) and (is_request(kind) or kind in _DIGESTS)


def is_local_record(raw: bytes) -> bool:
    """Whether a line of the conversation records what an agent was told by its own installation and account."""
    held = _line(raw).attachment
    kind = held.get("type") if isinstance(held, dict) else None
    return isinstance(kind, str) and kind in _ROOTED


def _line(raw: bytes) -> _Line:
    """The line, as far as it may be one of these."""
    if not _LIKELY.search(raw):
        return _Line()
    try:
        return _decode_leaving(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Line()


_LATCHES = frozenset(
    {
        "atis-latch", "bridge-session", "continued-in", "cost-state", "custom-title", "dev-mods", "fork-context-ref",
        "isolation-latch", "last-prompt", "queue-operation", "relocated", "resume-head-vouch", "session-owner",
        "tools-used", "worktree-state",
    }
)  # fmt: skip
"""Lines that are true of the session they were written in alone."""
_HISTORY = frozenset({"file-history-snapshot", "file-history-delta"})
_LOOSE = (
    "agentName", "requestHookChanged", "requestNotRecorded", "requestRef", "sessionKind", "slug",
    "sourceToolAssistantUUID", "teamName",
)  # fmt: skip
"""Fields that tie a line to another session, a team, a request of the original or a line that may be gone."""
_SET = frozenset(
    {
        "message", "toolUseResult", "uuid", "parentUuid", "sessionId", "session_id", "forkedFrom", "logicalParentUuid",
        "cwd", "effort", "entrypoint", "gitBranch", "isMeta", "isSidechain", "permissionMode", "requestId", "subtype",
        "timestamp", "type", "userType", "version",
    }
)  # fmt: skip
"""Fields in which no reference to a line is looked for: contents, those that are set anyway, and plain facts."""
_SET_BESIDE = _SET - {"parentUuid", "logicalParentUuid"}
"""The same of a line beside the conversation, for which no link is made."""
_ABOUT = {
    "summary": ("leafUuid",),
    "file-history-snapshot": ("messageId",),
    "file-history-delta": ("messageId", "snapshotMessageId"),
}
"""Lines that say something of other lines, and where they name them."""

_shallow = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.encode


def renew_line(raw: bytes, identity: CopyIdentity, link: LineLink) -> bytes:
    """A line of the conversation in its new place."""
    fields: dict[str, Any] = _shallow.decode(rename_in_line(raw, identity.paths))
    line = _string(fields.get("uuid"))
    for name in _LOOSE:
        fields.pop(name, None)
    rewrite_references(fields, identity, _SET)
    _name(fields, identity)
    fields["uuid"], fields["parentUuid"] = link.line, link.parent
    fields.setdefault("isSidechain", False)
    if identity.session != identity.source:
        fields["forkedFrom"] = {"sessionId": identity.source, "messageUuid": line}
    if "logicalParentUuid" in fields:
        fields["logicalParentUuid"] = link.logical
    if link.last and identity.now:
        fields["timestamp"] = identity.now
    return _encode(fields) + b"\n"


def renew_side_line(raw: bytes, identity: CopyIdentity) -> bytes | None:
    """A line beside the conversation; None for one that must not be copied."""
    fields: dict[str, Any] = _shallow.decode(rename_in_line(raw, identity.paths))
    kind = _string(fields.get("type"))
    if not kind or kind in _LATCHES or is_request(kind) or (kind in _HISTORY and not identity.snapshots):
        return None
    if any(_string(fields.get(about)) not in identity.ids for about in _ABOUT.get(kind, ())):
        return None
    rewrite_references(fields, identity, _SET_BESIDE)
    _name(fields, identity, always=False)
    return _encode(fields) + b"\n"


def closing_lines(identity: CopyIdentity, title: str) -> Iterator[bytes]:
    """The title, last, where the agent looks for it."""
    yield _encode({"type": "custom-title", "customTitle": title, "sessionId": identity.session}) + b"\n"


def _name(fields: dict[str, Any], identity: CopyIdentity, *, always: bool = True) -> None:
    if always or "sessionId" in fields:
        fields["sessionId"] = identity.session
    if "session_id" in fields:
        fields["session_id"] = identity.session


def _string(value: Any) -> str:
    if value is None:
        return ""
    data = sound_value(value) if isinstance(value, msgspec.Raw) else value
    return data if isinstance(data, str) else ""
