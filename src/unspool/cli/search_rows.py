"""What `unspool search` prints: sessions with their hits, the words found lit up."""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from unspool import human
from unspool.cli import chosen
from unspool.index.results import FoundSession, Hit, Results, Snippet
from unspool.tools.ansi import plain  # not export.inert: that loads every writer, which takes as long as the search

_KIND_WIDTH = 8


def coloured() -> bool:
    """Whether colours are wanted: on a terminal, unless NO_COLOR or a dumb terminal says no."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def lines(results: Results) -> Iterator[str]:
    """The page, line by line, styled."""
    for number, session in enumerate(results.sessions):
        if number:
            yield ""
        yield from _session(session)
    yield ""
    yield click.style(_summary(results), dim=True)


def _session(session: FoundSession) -> Iterator[str]:
    title = one_line(session.title) or session.session
    ghost = click.style("  (deleted; only its prompts survive)", fg="yellow") if session.kind == "ghost" else ""
    yield click.style(title, bold=True) + ghost
    about = (
        _moment(session.ended or session.started),
        one_line(session.project),
        one_line(session.branch),
        human.count(session.count, "hit"),
    )
    yield click.style("  " + human.joined(*about), dim=True)
    for hit in session.hits:
        yield f"  {_label(hit)} {_snippet(hit)}"
    if session.hits and session.hits[0].link:
        yield click.style(f"  {one_line(session.hits[0].link)}", fg="cyan")
    if session.resume:
        yield click.style(f"  {one_line(session.resume)}", fg="cyan", dim=True)


def _label(hit: Hit) -> str:
    where = f"{hit.kind:<{_KIND_WIDTH}} {'' if hit.turn is None else hit.turn:>3}"
    tool = one_line(hit.tool) + ("!" if hit.error else "")
    said = " ".join(filter(None, (where, tool, f"[{one_line(hit.agent)}]" if hit.agent else "")))
    return click.style(said, fg="red" if hit.error else "green")


def _snippet(hit: Hit) -> str:
    if hit.file:
        return click.style(f"{hit.how} ", bold=True) + one_line(hit.file) + "  " + _dated(hit)
    return _lit(hit.snippet)


def _dated(hit: Hit) -> str:
    return click.style(_moment(None if hit.time is None else hit.time / 1000), dim=True)


def _lit(snippet: Snippet) -> str:
    """The snippet on one line; each piece is made inert by itself, so that no style of ours is in it."""
    parts, at = [], 0
    for start, end in snippet.marks:
        parts.append(_flat(snippet.text[at:start]))
        parts.append(click.style(_flat(snippet.text[start:end]), fg="yellow", bold=True))
        at = end
    parts.append(_flat(snippet.text[at:]))
    return ("…" if snippet.before else "") + "".join(parts).strip() + ("…" if snippet.after else "")


def one_line(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    return " ".join(plain(text.replace("\r", "\n")).split())


def _flat(text: str) -> str:
    """One line, with the spaces at its ends kept as one."""
    words = one_line(text)
    before = " " if text[:1].isspace() else ""
    after = " " if words and text[-1:].isspace() else ""
    return f"{before}{words}{after}"


def _moment(time: float | None) -> str:
    try:
        return human.minute(None if time is None else datetime.fromtimestamp(time, UTC), chosen.zone())
    except (OverflowError, OSError, ValueError):
        return ""


def _summary(results: Results) -> str:
    shown = human.count(len(results.sessions), "session")
    if results.sessions_found is None:
        return f"{shown}; there may be more (--limit)"
    hits = human.count(results.hits_found or 0, "hit")
    if results.sessions_found > len(results.sessions):
        return f"{len(results.sessions)} of {human.count(results.sessions_found, 'session')}, {hits} in all (--limit)"
    return f"{shown}, {hits}"
