"""Lines that stay behind: what was sent, and what an agent was told by its own installation and account."""

import re
from typing import Any

import msgspec

_REQUEST = "api-request"
"""How the types of all lines begin that record what was sent: requests, their messages, system prompt and tools."""
_DIGESTS = frozenset({"resume-head-vouch"})
_ROOTED = frozenset({"credential_org", "deferred_tools_record", "prompt_render_point", "prompt_snapshot"})
_LIKELY = re.compile(rb'"(?:%s|%s)' % (_REQUEST.encode(), "|".join([*_DIGESTS, *_ROOTED]).encode()))


class _Line(msgspec.Struct):
    """What tells the type of a line."""

    type: Any = None
    attachment: Any = None


_decode = msgspec.json.Decoder(_Line).decode


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
        return _decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Line()
