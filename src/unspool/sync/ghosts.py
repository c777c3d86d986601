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

from unspool.archive.graves import Graves
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


class Known(NamedTuple):
    """What is known besides traces: the ids of sessions that are in the archive, when sessions went on, and what was
    forgotten on purpose and does not come back as a ghost."""

    sessions: Collection[str] = ()
    spans: Spans = tuple
    graves: Graves = Graves()


def ghosts(root: Path, known: Known) -> list[Ghost]:
    """The sessions of a source that left traces, but no log here and none that is known; oldest first."""
    found: list[Ghost] = []
    for format_ in FORMATS:
        home = format_.home(root)
        if home is not None:
            found += conjured(format_, format_.remembered(home), home, known)
    return sorted(found, key=lambda ghost: (ghost.started or _END, ghost.key))


def conjured(format_: Format, prompts: Iterable[Remembered], home: Path | None, known: Known) -> list[Ghost]:
    """The ghosts of one agent: from prompts, and from what lies in its own folder, where that is there."""
    there = set[str]() if home is None else _open(format_, home)
    if there is None:
        return []
    there |= set(known.sessions)
    named, nameless = _sorted(prompts, there)
    left: dict[str, list[Leaving]] = {}
    for leaving in () if home is None else format_.leavings(home):
        if leaving.session_id not in there:
            left.setdefault(leaving.session_id, []).append(leaving)
    found = [_ghost(session, some, left.pop(session, [])) for session, some in named.items()]
    found += [_traces(session, files) for session, files in left.items() if any(one.files for one in files)]
    logs = {session: {prompt.log for prompt in some} for session, some in named.items()}
    found = [ghost for ghost in found if not _forgotten(format_, ghost.key, logs.get(ghost.key, ()), known.graves)]
    return [*found, *_assumed(nameless, known.spans())] if nameless else found


def _sorted(prompts: Iterable[Remembered], there: set[str]) -> tuple[dict[str, list[Remembered]], list[Remembered]]:
    """Prompts by their session, of sessions that are not there; and those that name none."""
    named: dict[str, list[Remembered]] = {}
    nameless: list[Remembered] = []
    for prompt in prompts:
        if not prompt.session_id:
            nameless.append(prompt)
        elif prompt.session_id not in there:
            named.setdefault(prompt.session_id, []).append(prompt)
    return named, nameless


def _forgotten(format_: Format, session: str, logs: Iterable[str], graves: Graves) -> bool:
    return graves.hold_lines(format_.prompts, session) or any(map(graves.hold, logs))


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
