"""The shapes a reader sees. Tools and the transcript make them; every document writer knows all of them.

A node is a value without behaviour: what is said, never how it looks. Text in a node is untrusted and
unescaped; the writer that shows it makes it safe for its medium.
"""

from typing import Literal

import msgspec

Tone = Literal["plain", "quiet", "good", "bad", "warn"]


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run of terminal text in one style. Colours are names ("red", "bright_blue") or "#rrggbb"."""

    text: str
    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


class Prose(msgspec.Struct, frozen=True, tag=True):
    """Markdown, as a person or a model wrote it."""

    markdown: str


class Code(msgspec.Struct, frozen=True, tag=True):
    """Source text shown as it is."""

    text: str
    language: str = ""
    caption: str = ""
    start: int = 0
    """Number of the first line; 0 for none."""


class Terminal(msgspec.Struct, frozen=True, tag=True):
    """What a command printed: styled runs, every other control character already made inert."""

    spans: tuple[Span, ...]
    command: str = ""
    exit_code: int | None = None

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


class Hunk(msgspec.Struct, frozen=True):
    """A run of a diff: lines that begin with a space, a minus or a plus."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]


class Diff(msgspec.Struct, frozen=True, tag=True):
    """A change of one file, line by line."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    created: bool = False


class Table(msgspec.Struct, frozen=True, tag=True):
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


class Fields(msgspec.Struct, frozen=True, tag=True):
    """Names with values, in order."""

    items: tuple[tuple[str, str], ...]


class Check(msgspec.Struct, frozen=True):
    """One line of a checklist."""

    text: str
    state: Literal["open", "active", "done", "dropped"]
    note: str = ""


class Checklist(msgspec.Struct, frozen=True, tag=True):
    """Things to do and how far they are."""

    items: tuple[Check, ...]
    caption: str = ""


class Picture(msgspec.Struct, frozen=True, tag=True):
    """An image: its data in base64, or only where it was."""

    media_type: str
    data: str = ""
    url: str = ""
    label: str = ""


class Link(msgspec.Struct, frozen=True, tag=True):
    """Somewhere else: a web address, or `session:<id>` for another session."""

    target: str
    text: str


class Fold(msgspec.Struct, frozen=True, tag=True):
    """A row with an outcome that opens to its children."""

    kind: str
    """What it is, for looks and filters: tool, thinking, agent, notice, plan, todos, question, compaction, ..."""
    summary: str
    outcome: str = ""
    tone: Tone = "plain"
    open: bool = False
    anchor: str = ""
    children: tuple["Node", ...] = ()


class Raw(msgspec.Struct, frozen=True, tag=True):
    """Something nobody knows how to show, as the text of its data."""

    text: str
    caption: str = ""


class Heading(msgspec.Struct, frozen=True, tag=True):
    """Where a part begins: a turn, a branch, a subagent."""

    kind: str
    level: int
    text: str
    anchor: str = ""
    notes: tuple[str, ...] = ()
    """Short facts beside it: time, model, tokens, cost."""


Node = Prose | Code | Terminal | Diff | Table | Fields | Checklist | Picture | Link | Fold | Raw | Heading
