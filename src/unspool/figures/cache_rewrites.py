"""What was written to the cache again although it had been there, and why: expired, model switched, compacted, other.

A request reads from the cache what the one before it read and wrote, unless something came between. What it wrote
instead of reading was paid for twice.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from unspool.model.usage import CAUSES

EXPIRED, SWITCHED, COMPACTED, UNEXPLAINED = range(len(CAUSES))
LEAST, _MOST = 1024, 10**8
"""Tokens that are worth telling of: less is not cached at all, and more is no window's but a damaged log's."""
_MINUTES, _HOUR = 300.0, 3600.0
"""How long the cache holds, in seconds."""
_SHRUNK = 0.9
"""A window that fell below this part of what it was was cut: what is written then is not the same again."""


class CachedRequest(NamedTuple):
    """A request, as far as the cache is concerned."""

    model: str
    time: float | None
    input: int
    read: int
    write: int
    hour: int
    """The part of `write` that is kept for an hour."""
    compacted: bool = False
    """True where a compaction came just before it."""


class RewrittenTokens(NamedTuple):
    """Tokens that a request wrote again, and why."""

    cause: int
    """Its place in CAUSES."""
    tokens: int
    hour: int
    """The part that is kept for an hour."""


def find_rewrites(requests: Iterable[CachedRequest]) -> Iterator[RewrittenTokens | None]:
    """For each request of one conversation, in order, what it wrote again; None where that is nothing."""
    before: CachedRequest | None = None
    kept = _MINUTES
    for now in requests:
        yield _again(before, now, kept) if before is not None else None
        if now.write:
            kept = _HOUR if now.hour * 2 > now.write else _MINUTES
        if now.read or now.write or now.input:
            before = now


def _again(before: CachedRequest, now: CachedRequest, kept: float) -> RewrittenTokens | None:
    cached = before.read + before.write
    tokens = min(now.write, cached - now.read)
    cut = now.input + now.read + now.write < cached * _SHRUNK
    if not LEAST <= tokens <= _MOST or (cut and not now.compacted):
        return None
    return RewrittenTokens(_cause(before, now, kept), tokens, tokens * min(now.hour, now.write) // now.write)


def _cause(before: CachedRequest, now: CachedRequest, kept: float) -> int:
    if now.compacted:
        return COMPACTED
    if now.model != before.model:
        return SWITCHED
    paused = before.time is not None and now.time is not None and now.time - before.time > kept
    return EXPIRED if paused else UNEXPLAINED
