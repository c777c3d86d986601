"""A session by what a person calls it: id, start of an id, path, URL, `latest`, or a piece of its title."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from unspool.errors import Ambiguous, NotFound
from unspool.formats import Found
from unspool.library.heads import head, last_active
from unspool.library.inputs import is_url
from unspool.model import Overview

_LISTED = 12


def is_input(name: str) -> bool:
    """Whether a name says itself where the log is."""
    return (
        name == "-" or is_url(name) or "/" in name or "\\" in name or name.endswith((".jsonl", ".json", ".gz", ".zst"))
    )


def find(name: str, logs: Sequence[Found], overviews: Callable[[], Iterable[Overview]]) -> Found:
    """The one log meant by `name`; titles are read only where nothing else fits."""
    if not logs:
        raise NotFound("No sessions were found. `unspool list --demo` shows what they look like.")
    if name == "latest":
        recent = sorted(logs, key=lambda log: -last_active(log))
        return next((log for log in recent if _spoken(log)), recent[0])
    exact = [log for log in logs if log.session_id == name]
    started = exact or ([log for log in logs if log.session_id.startswith(name)] if name else [])
    if len(started) == 1:
        return started[0]
    if started:
        listed = tuple(f"{log.session_id}  {log.folder or Path(log.path).parent.name}" for log in started[:_LISTED])
        raise Ambiguous(f"{len(started)} sessions begin with “{name}”:", listed)
    return _titled(name, logs, overviews())


def _spoken(log: Found) -> bool:
    """Whether anything was asked in it: stubs and warm-ups are nobody's latest session."""
    if log.origin:
        return True  # a look into the archive for each would take long, and it keeps few stubs
    begun = head(log)
    return begun is not None and bool(begun.prompt) and begun.prompt.casefold() != "warmup"


def _titled(name: str, logs: Sequence[Found], overviews: Iterable[Overview]) -> Found:
    wanted = name.casefold()
    fitting = [overview for overview in overviews if wanted and wanted in overview.title.casefold()]
    whole = [overview for overview in fitting if overview.title.casefold() == wanted]
    fitting = whole or fitting
    if not fitting:
        raise NotFound(f"No session is called “{name}”: no id begins with it and no title holds it.")
    if len(fitting) > 1:
        listed = tuple(f"{overview.id}  {overview.title[:80]}" for overview in fitting[:_LISTED])
        raise Ambiguous(f"{len(fitting)} sessions have “{name}” in their title:", listed)
    return next(log for log in logs if log.path == fitting[0].log.path)
