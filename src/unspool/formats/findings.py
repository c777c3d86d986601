"""What a log's validator finds and what a repair does: in words that no agent's name is needed for."""

from typing import Literal

import msgspec

Severity = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a log, and where."""

    rule: str
    """The rule that is broken, in kebab case."""
    line: int
    """The number of the line, from 1; 0 where it is the log as a whole."""
    message: str
    """A sentence: what is wrong, and what that means for going on with the session."""
    severity: Severity
    """error: the agent cannot go on with the session, or not with all of it; warning: odd, and harmless to that."""
    where: str = ""
    """The id of the line, message, call or other thing it is about."""


class Deed(msgspec.Struct, frozen=True):
    """One thing that a repair did."""

    rule: str
    """The rule that was broken before."""
    line: int
    """The number of the line in the damaged log, from 1."""
    message: str
    """A sentence: what was done, and why."""
    where: str = ""
    lost: bytes = b""
    """Bytes that the mended log does not hold any more."""


class Mended(msgspec.Struct, frozen=True):
    """The lines of a log after a repair, each with its newline, and what was done to them."""

    lines: list[bytes]
    deeds: tuple[Deed, ...]


def errors(findings: list[Finding]) -> list[Finding]:
    """Those that keep a session from resuming."""
    return [finding for finding in findings if finding.severity == "error"]
