"""What was found, as the page and the palette show it: pieces of text, some lit, and where they lead."""

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

import msgspec

from unspool import human
from unspool.app.find.asked import Asked
from unspool.export.html.escape import visible
from unspool.index.results import FoundSession, Hit, Results, Snippet
from unspool.tools.ansi import plain


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a text, and whether it is what was asked for."""

    text: str
    lit: bool = False


class ShownHit(msgspec.Struct, frozen=True):
    """One place."""

    kind: str
    label: str
    pieces: tuple[Piece, ...]
    href: str
    error: bool = False
    agent: str = ""


class ShownSession(msgspec.Struct, frozen=True):
    """A session with its best places."""

    key: str
    title: str
    project: str
    place: str
    """The project's whole path."""
    branch: str
    kind: str
    when: datetime | None
    href: str
    count: int
    more: int
    """Places that are not shown."""
    hits: tuple[ShownHit, ...]
    resume: str = ""


class Shown(msgspec.Struct, frozen=True):
    """All of an answer."""

    sessions: tuple[ShownSession, ...] = ()
    summary: str = ""
    more: bool = False
    """Whether there are, or may be, more sessions."""
    notes: tuple[str, ...] = ()
    problem: str = ""
    """Why nothing was looked for."""
    all: str = ""
    """The address of the page with all of it."""
    completions: tuple[str, ...] = ()
    """What the text that is being typed could become."""


def shown(results: Results, asked: Asked) -> Shown:
    """An answer to show."""
    sessions = tuple(_session(one) for one in results.sessions)
    more = results.sessions_found is None or results.sessions_found > len(sessions)
    return Shown(sessions, summary(results), more, tuple(map(_page_words, results.notes)), all=asked.href)


def folder_name(path: str) -> str:
    """The last folder of a path, on whatever system; the path itself where it has none."""
    return visible(path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path)


def session_href(key: str) -> str:
    """The address of a session."""
    return f"/s/{quote(key, safe='', errors='replace')}/"


def place_href(key: str, anchor: str, agent: str = "", place: int | None = None) -> str:
    """The address that leads to a block, by its anchor and by where its line is in its log."""
    exact: list[tuple[str, str]] = [] if place is None else [("place", str(place))]
    exact += [("agent", agent)] if agent else []
    more = f"?{urlencode(exact, errors='replace')}" if exact else ""
    return f"{session_href(key)}at/{quote(anchor, safe='')}{more}"


def summary(results: Results) -> str:
    """How much was found, exactly where that is known."""
    here = len(results.sessions)
    if results.sessions_found is None:
        return f"the newest {human.count(here, 'session')}; there may be more"
    hits, found = human.count(results.hits_found or 0, "place"), results.sessions_found
    return f"{hits} in {human.count(found, 'session')}" + (f", the best {here:,} shown" if found > here else "")


def moment(seconds: float | None) -> datetime | None:
    """A time of the index; none where the calendar does not reach."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def pieces(snippet: Snippet) -> tuple[Piece, ...]:
    """The snippet on one line, cut at its marks."""
    found, at = [Piece("…")] if snippet.before else [], 0
    for start, end in snippet.marks:
        found += [Piece(_flat(snippet.text[at:start])), Piece(_flat(snippet.text[start:end]), True)]
        at = end
    found += [Piece(_flat(snippet.text[at:])), Piece("…" if snippet.after else "")]
    return tuple(one for one in found if one.text)


def _session(one: FoundSession) -> ShownSession:
    ghost = one.kind == "ghost"
    return ShownSession(
        one.session,
        _flat(one.title).strip() or one.session,
        folder_name(one.project),
        visible(one.project),
        visible(one.branch),
        one.kind if one.kind != "interactive" else "",
        moment(one.ended if one.ended is not None else one.started),
        "" if ghost else session_href(one.session),
        one.count,
        max(0, one.count - len(one.hits)),
        tuple(_hit(hit, one.session, ghost=ghost) for hit in one.hits),
        visible(one.resume),
    )


def _hit(hit: Hit, key: str, *, ghost: bool) -> ShownHit:
    href = place_href(key, hit.anchor, hit.agent, hit.place) if hit.anchor else session_href(key)
    label = visible(hit.tool) if hit.tool and hit.kind in ("call", "result") else hit.kind
    return ShownHit(hit.kind, label, pieces(hit.snippet), "" if ghost else href, hit.error, visible(hit.agent))


def _flat(text: str) -> str:
    """One line without anything that acts unseen; spaces at its ends are kept as one."""
    words = " ".join(visible(plain(text)).split())
    before = " " if text[:1].isspace() else ""
    return f"{before}{words}{' ' if words and text[-1:].isspace() else ''}"


def _page_words(note: str) -> str:
    """A note of the search in the words of the page instead of the command line's."""
    return visible(note.replace("--substring finds such text", "“Exact text” finds it"))
