"""How much a request may bring: long addresses, many headers and large or slow bodies are refused before any handler.

What is sent with POST is read here as a whole, so no handler meets a body that is too large or does not end.
"""

import asyncio
from typing import NamedTuple

from starlette.types import Message, Receive, Scope

ADDRESS = 8 * 1024
"""Bytes of an address with all that follows `?`."""
HEADERS = 32 * 1024
BODY = 256 * 1024
PATIENCE = 10.0
"""Seconds in which a body has come whole."""


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    reason: str


def too_much(scope: Scope, most: int = BODY) -> Refusal | None:
    """What is wrong with the size or shape of a request, as far as its head tells; `most` bytes may be sent."""
    path, query = scope["raw_path"], scope["query_string"]
    if not path.startswith(b"/"):
        return Refusal(400, "The address does not begin with a slash.")
    if b"\0" in scope["path"].encode(errors="replace"):
        return Refusal(400, "The address holds a character that no address has.")
    if len(path) + len(query) > ADDRESS:
        return Refusal(414, f"The address is longer than {ADDRESS:,} bytes.")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS:
        return Refusal(431, f"The headers are longer than {HEADERS:,} bytes.")
    return _body(scope, most if scope["method"] not in ("GET", "HEAD") else 0)


def _body(scope: Scope, most: int) -> Refusal | None:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
    if any(not value.isdigit() or len(value) > 12 or int(value) > most for value in lengths) or (chunked and not most):
        return Refusal(413, f"More than {most:,} bytes were sent." if most else "Nothing may be sent with this.")
    return None


async def whole(receive: Receive) -> Receive | Refusal:
    """A `receive` that gives the body in one piece; a refusal where it is too large, too slow or broken off."""
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return Refusal(400, "What was sent broke off.")
                body += message.get("body", b"")
                if len(body) > BODY:
                    return Refusal(413, f"More than {BODY:,} bytes were sent.")
                if not message.get("more_body"):
                    return _replayed(bytes(body), receive)
    except TimeoutError:
        return Refusal(408, f"What was sent did not come within {PATIENCE:g} seconds.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again
