"""What a sync hands to the index of one session."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from unspool.index.requests import Request
from unspool.model import Overview, Todo

Doc = tuple[int, int, int, str, bool, str]
"""Which of the turns, kind, place, tool, whether it failed, text."""


class LogRows(NamedTuple):
    """The rows of one log. Turns are meant by their place in `turns`."""

    path: str
    agent: str
    size: int
    turns: list[tuple[int, int | None, int, str]]
    """Number, milliseconds, place, model."""
    docs: list[Doc]
    touches: list[tuple[int, str, int, float | None, int]]
    """Turn, file, how, time, place of the call."""
    commits: list[tuple[int, str, str, str, float | None]]
    """Turn, hash, branch, message, time."""
    plans: list[tuple[int, str, str]]
    """Turn, title, status."""
    calls: Mapping[str, int]
    errors: Mapping[str, int]


class Rows(NamedTuple):
    """The rows of one session: its own log first, then its subagents'."""

    overview: Overview
    ids: bytes
    logs: list[LogRows]
    requests: Sequence[Request]
    todos: Sequence[Todo]
    failures: list[str]
    named: Sequence[str] = ()
    """Files that are no single session's, and that were looked for on its behalf."""
    filled: Mapping[tuple[int, str], int] = MappingProxyType({})
    """Tokens that were put into its windows, estimated, by kind and tool."""
