"""Every address of a hub: what answers it, and what one needs to be let in. There is no other way in.

A part of the hub is a module with WAYS; adding one is a module and a name in PARTS. `door` asks for what a way needs
before its handler runs, and writes what was done to the audit log after it.
"""

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import Any, NamedTuple

PARTS = ("health", "assets", "web.ways", "people.api", "sessions", "shares.ways")
"""Modules of this package with WAYS, in the order they are asked: shares last, whose addresses begin with anything."""


class Needs(StrEnum):
    """What a person needs for a way."""

    NOTHING = "nothing"
    """Anybody; what the handler shows is open, or it asks for more itself (an address of 128 bits, a password)."""
    SHARING = "sharing"
    """A person, or anybody where the hub lets anybody share."""
    PERSON = "person"
    ADMIN = "admin"
    READ = "read"
    """On the project that the path names as {project}, or on that of its {session}."""
    WRITE = "write"
    OWN = "own"
    MINE = "mine"
    """To own the share that the path names as {address}, or to be an admin."""


class Way(NamedTuple):
    """One address."""

    path: str
    """As Starlette has it: `/api/shares/{address}`. Paths below `/api/` answer trouble in JSON, others as a page."""
    handler: Callable[..., Any]
    """`def` or `async def`, of a request. What it may raise is in `trouble`; NotFound is 404."""
    needs: Needs
    act: str = ""
    """For the audit log, such as `share.delete`; empty: nothing worth a line."""
    method: str = "GET"
    scopes: tuple[str, ...] = ("all", "read")
    """Tokens that are good for it; a way that changes something says ("all",) or ("all", "push")."""
    body: int = 256 * 1024
    """Bytes that may be sent. Up to this size `door` reads them whole; 0: the handler streams them itself."""
    free: bool = False
    """Whether it counts against nobody's pace."""


def ways() -> tuple[Way, ...]:
    """All of them."""
    return tuple(way for part in PARTS for way in import_module(f"unspool.hub.{part}").WAYS)
