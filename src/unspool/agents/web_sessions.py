"""Sessions that an agent keeps on the web: who offers them, and what every offer looks like.

The command line asks `connect` and never learns whose service it talks to.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

import msgspec


class WebAccount(msgspec.Struct, frozen=True):
    """What a person gave to reach the service; empty fields are looked for where the agent keeps them."""

    token: str = ""
    organization: str = ""
    base: str = ""
    """The service's address, where it is not the usual one."""


class RemoteSession(msgspec.Struct, frozen=True):
    """A session as the service lists it."""

    id: str
    title: str = ""
    repository: str = ""
    """owner/name, or the address of another host's repository."""
    created: datetime | None = None
    updated: datetime | None = None
    status: str = ""


class WebService(Protocol):
    """A service that keeps sessions."""

    def sessions(self) -> Iterator[RemoteSession]:
        """What it lists, in its own order, page by page."""

    def log(self, session: str) -> bytes:
        """One session as JSON lines, each entry with the bytes that came."""


def connect(account: WebAccount) -> WebService:
    """The service for this account; UsageProblem where token or organisation cannot be found."""
    from unspool.agents.claude_code.web_sessions import ClaudeWebApi, complete_account

    return ClaudeWebApi(complete_account(account))
