"""The beginning of a log: enough to tell whether its session continues another."""

from contextlib import AbstractContextManager
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from unspool.errors import UnspoolError
from unspool.formats import Found, by_id
from unspool.formats.lines import Cursor, Lines
from unspool.library.inputs import held, opened
from unspool.library.read import Reader
from unspool.model import Prompt
from unspool.turns.assemble import prompt_title
from unspool.turns.skim import plan_key

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions

_LINES = 80
_TAIL = 16 * 1024


class Head(msgspec.Struct, frozen=True):
    """What the first lines of a session say."""

    id: str
    slug: str
    prompt: str
    """The first prompt, in short."""
    implements: bool
    plan: str = ""
    accepted: int = 0
    """The key of the plan it implements."""
    source: str = ""
    started: datetime | None = None
    summaries: dict[str, str] = {}
    """Summaries it holds, by the id of a line of the session they describe."""


def beginning(found: Found, kept: "KeptSessions | None" = None) -> AbstractContextManager[BinaryIO]:
    """A log at its beginning: itself, or its copy in an archive, of which there is enough for a head."""
    return held(kept.beginning(found)) if kept is not None and found.origin else opened(found.path)


def head(found: Found, kept: "KeptSessions | None" = None) -> Head | None:
    """The head of a log, or of its copy in an archive; None where it cannot be read."""
    parser = by_id(found.format).parser(None)
    prompts = list[Prompt]()
    try:
        with beginning(found, kept) as stream:
            for entry in islice(Reader().entries(stream), _LINES):
                event = parser.event(entry)
                if event.prompt is not None and not event.sidechain:
                    prompts.append(event.prompt)
                if any(prompt.kind in ("text", "plan") for prompt in prompts):
                    break
    except (UnspoolError, OSError):
        return None
    first = prompts[0] if prompts else None
    plan = first.plan if first is not None else None
    facts = parser.facts
    return Head(
        found.session_id,
        facts.slug,
        prompt_title(prompts),
        plan is not None,
        plan.text if plan is not None else "",
        plan_key(plan) if plan is not None else 0,
        first.source if first is not None else "",
        facts.started,
        facts.summaries,
    )


def last_active(found: Found) -> float:
    """When the last line of a log was written, as the line says; copying a file does not change it."""
    parser = by_id(found.format).parser(None)
    try:
        with Path(found.path).open("rb") as stream:
            stream.seek(max(0, found.size - _TAIL))
            data = stream.read(_TAIL)
    except OSError:
        return found.modified
    for entry in Lines(msgspec.json.Decoder()).entries(BytesIO(data), Cursor()):
        parser.event(entry)
    return parser.facts.ended.timestamp() if parser.facts.ended is not None else found.modified
