"""What is around the message of a line: ids made new, links to other sessions cut, everything else as it was."""

from collections.abc import Iterator
from typing import Any

import msgspec

from unspool.formats.claude_code.writing import references
from unspool.formats.claude_code.writing.leaving import is_request
from unspool.formats.claude_code.writing.moving import moved
from unspool.formats.writing import Identity, Link

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
_ABOUT = {
    "summary": ("leafUuid",),
    "file-history-snapshot": ("messageId",),
    "file-history-delta": ("messageId", "snapshotMessageId"),
}
"""Lines that say something of other lines, and where they name them."""

_shallow = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.encode


def renewed(raw: bytes, identity: Identity, link: Link) -> bytes:
    """A line of the conversation in its new place."""
    fields: dict[str, Any] = _shallow.decode(moved(raw, identity.paths))
    line = _string(fields.get("uuid"))
    for name in _LOOSE:
        fields.pop(name, None)
    references.rewrite(fields, identity, _SET)
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


def beside(raw: bytes, identity: Identity) -> bytes | None:
    """A line beside the conversation; None for one that must not be copied."""
    fields: dict[str, Any] = _shallow.decode(moved(raw, identity.paths))
    kind = _string(fields.get("type"))
    if not kind or kind in _LATCHES or is_request(kind) or (kind in _HISTORY and not identity.snapshots):
        return None
    if any(_string(fields.get(about)) not in identity.ids for about in _ABOUT.get(kind, ())):
        return None
    references.rewrite(fields, identity, _SET)
    _name(fields, identity, always=False)
    return _encode(fields) + b"\n"


def closing(identity: Identity, title: str) -> Iterator[bytes]:
    """The title, last, where the agent looks for it."""
    yield _encode({"type": "custom-title", "customTitle": title, "sessionId": identity.session}) + b"\n"


def _name(fields: dict[str, Any], identity: Identity, *, always: bool = True) -> None:
    if always or "sessionId" in fields:
        fields["sessionId"] = identity.session
    if "session_id" in fields:
        fields["session_id"] = identity.session


def _string(value: Any) -> str:
    if value is None:
        return ""
    data = msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
    return data if isinstance(data, str) else ""
