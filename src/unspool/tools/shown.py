"""What a renderer says of one call, and the shape of a renderer.

A renderer tells the summary, the outcome of a call that went well, and the nodes of input and good output.
Failures, refusals, pictures and pieces nobody knows are the same for every tool: `fold` adds them.
"""

from typing import Protocol

import msgspec

from unspool.doc import Node, Tone
from unspool.model import ToolCall


class Shown(msgspec.Struct, frozen=True):
    """One call, as its renderer shows it."""

    summary: str
    outcome: str = ""
    nodes: tuple[Node, ...] = ()
    tone: Tone | None = None
    """Where the state of the call does not tell how it went."""
    settled: bool = False
    """True where outcome and nodes already say what became of the call, a failure or a refusal included."""
    parts: bool = False
    """True where the nodes already show the pieces of the answer that are neither text nor image."""


class Renderer(Protocol):
    """A module or object that shows the tools it names; a name that ends in `*` stands for all that begin so."""

    NAMES: tuple[str, ...]

    def describe(self, call: ToolCall) -> Shown:
        """What is shown of the call. KeyError, TypeError and the like: this call has another shape."""
        ...
