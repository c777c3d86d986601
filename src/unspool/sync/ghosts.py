"""Sessions whose logs are gone, as far as the agent's own list of prompts and what else survives can tell.

A ghost has a session's id where the list names one. Prompts of versions that named none are put together by
project and day, which is a guess and marked as one, and only where no session that is still known covers them.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.formats import FORMATS, Format
from unspool.formats.traces import Leaving, Remembered

_BEGINNING, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_MARGIN = timedelta(minutes=10)
"""How far from a session a prompt may lie and still be taken to be its."""


class GhostPrompt(NamedTuple):
    """A prompt of a ghost, and where its line begins in the list of prompts."""

    text: str
    time: datetime | None
    place: int


class Ghost(msgspec.Struct, frozen=True):
    """What is left of a session without a log."""

    key: str
    """The session's id; of an assumed one, a name made of its day and project."""
    project: str
    """Its path; the name of the project's folder where nothing better is known, or empty."""
    started: datetime | None
    ended: datetime | None
    prompts: tuple[GhostPrompt, ...] = ()
    survives: tuple[str, ...] = ()
    """Files and folders below the agent's own that still bear its id."""
    assumed: bool = False
    """Whether it is a guess that these prompts were one session."""


class Span(NamedTuple):
    """When a known session went on, and where."""

    project: str
    started: datetime | None
    ended: datetime | None


Spans = Callable[[], Iterable[Span]]
"""Tells when known sessions went on; asked only where prompts name no session."""


Forgotten = Callable[[str], bool]
"""Whether the file at a path below the agent's folder was removed on purpose."""


def ghosts(
    root: Path, known: Collection[str], spans: Spans = tuple, forgotten: Forgotten = lambda _: False
) -> list[Ghost]:
    """The sessions of a source that left traces, but no log here and none among the `known` ids; oldest first.

    `known` are the ids of all sessions that are in the archive; `spans` tells which prompts without an id belong
    to a known session; what was forgotten on purpose does not come back as a ghost.
    """
    found: list[Ghost] = []
    for format_ in FORMATS:
        home = format_.home(root)
        there = _open(format_, home) if home is not None else None
        if home is not None and there is not None:
            found += _of_agent(format_, home, there.union(known), forgotten, spans)
    return sorted(found, key=lambda ghost: (ghost.started or _END, ghost.key))


def _of_agent(format_: Format, home: Path, there: set[str], forgotten: Forgotten, spans: Spans) -> Iterator[Ghost]:
    named: dict[str, list[Remembered]] = {}
    nameless: list[Remembered] = []
    for prompt in format_.remembered(home):
        if not prompt.session_id:
            nameless.append(prompt)
        elif prompt.session_id not in there:
            named.setdefault(prompt.session_id, []).append(prompt)
    left: dict[str, list[Leaving]] = {}
    for leaving in format_.leavings(home):
        if leaving.session_id not in there:
            left.setdefault(leaving.session_id, []).append(leaving)
    for session, prompts in named.items():
        files = left.pop(session, [])
        if not any(map(forgotten, {prompt.log for prompt in prompts})):
            yield _ghost(session, prompts, files)
    yield from (_traces(session, files) for session, files in left.items() if any(one.files for one in files))
    if nameless:
        yield from _assumed(nameless, spans())


def _open(format_: Format, home: Path) -> set[str] | None:
    """The sessions that have a log or will; None where that cannot be told: logs that cannot be listed are not gone."""
    try:
        logs = {log.session_id for log in format_.discover(home)}
    except OSError:
        return None
    return logs | {one.session_id for one in format_.running(home) if one.alive is not False}


def _ghost(key: str, prompts: Sequence[Remembered], left: Iterable[Leaving], *, assumed: bool = False) -> Ghost:
    ordered = sorted(prompts, key=lambda prompt: (prompt.time or _BEGINNING, prompt.place))
    times = [prompt.time for prompt in ordered if prompt.time is not None]
    project = next((prompt.project for prompt in ordered if prompt.project), "")
    return Ghost(
        key,
        project,
        times[0] if times else None,
        times[-1] if times else None,
        tuple(GhostPrompt(prompt.text, prompt.time, prompt.place) for prompt in ordered),
        _survives(left),
        assumed,
    )


def _traces(session: str, left: Sequence[Leaving]) -> Ghost:
    """A ghost that no prompt names: from when its files are."""
    folder = next((one.folder for one in left if one.folder), "")
    first, last = min(one.first for one in left), max(one.last for one in left)
    return Ghost(session, folder, _time(first), _time(last), (), _survives(left))


def _survives(left: Iterable[Leaving]) -> tuple[str, ...]:
    return tuple(sorted(one.path for one in left if one.files))


def _assumed(prompts: Iterable[Remembered], spans: Iterable[Span]) -> Iterator[Ghost]:
    """Prompts without a session's id, by project and day (UTC)."""
    by_project: dict[str, list[Span]] = {}
    for span in spans:
        by_project.setdefault(span.project, []).append(span)
    days: dict[tuple[str, str], list[Remembered]] = {}
    for prompt in prompts:
        if not _covered(prompt, by_project.get(prompt.project, ())):
            day = prompt.time.astimezone(UTC).date().isoformat() if prompt.time is not None else "undated"
            days.setdefault((prompt.project, day), []).append(prompt)
    for (project, day), group in days.items():
        name = hashlib.sha256(project.encode(errors="surrogatepass")).hexdigest()[:8]
        yield _ghost(f"prompts-{day}-{name}", group, (), assumed=True)


def _covered(prompt: Remembered, spans: Iterable[Span]) -> bool:
    if prompt.time is None:
        return False
    return any(
        span.started is not None
        and span.ended is not None
        and span.started - _MARGIN <= prompt.time <= span.ended + _MARGIN
        for span in spans
    )


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
