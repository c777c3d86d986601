"""`unspool search`: what was said and done in any session, from the archive."""

import os
import shlex
import signal
import sys
import threading
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import fresh, options, settings
from unspool.cli.output import print_json
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from unspool.store.archive import ArchiveDatabase
    from unspool.store.index.database import Index
    from unspool.store.index.query import SearchQuery
    from unspool.store.index.results import FoundSession, Hit, SearchResults, Snippet
    from unspool.store.index.search import SearchRequest


_KIND_WIDTH = 8


def result_lines(results: "SearchResults") -> "Iterator[str]":
    for number, session in enumerate(results.sessions):
        if number:
            yield ""
        yield from _session(session)
    if results.sessions:
        yield ""
        yield click.style(_summary(results), dim=True)
    if results.context_files:
        yield from ("",) if results.sessions else ()
        yield from _context_files(results)


def _context_files(results: "SearchResults") -> "Iterator[str]":
    yield click.style("Context files", bold=True)
    for one in results.context_files:
        still = "" if one.current else click.style("  (no longer so)", fg="yellow")
        yield f"  {click.style(one.kind, fg='green')}  {result_line(one.path)}{still}"
        number = f"version {one.version} of {one.versions}" if one.versions > 1 else ""
        about = human.joined(_moment(one.time), result_line(one.project), number)
        yield click.style(f"    {about}", dim=True)
        yield f"    {_snippet(one.snippet)}"
    shown, found = len(results.context_files), human.count(results.context_files_found, "context file")
    rest = f"{shown} of {found}; kind:instructions, kind:plan and so on list more"
    yield click.style(rest if results.context_files_found > shown else found, dim=True)


def _session(session: "FoundSession") -> "Iterator[str]":
    title = result_line(session.title) or session.session
    ghost = click.style("  (deleted; only its prompts survive)", fg="yellow") if session.kind == "ghost" else ""
    yield click.style(title, bold=True) + ghost
    when, where = _moment(session.ended or session.started), map(result_line, (session.project, session.branch))
    yield click.style("  " + human.joined(when, *where, human.count(session.count, "hit")), dim=True)
    for hit in session.hits:
        yield f"  {_label(hit)} {_file(hit) if hit.file else _snippet(hit.snippet)}"
    if session.hits and session.hits[0].link:
        yield click.style(f"  {result_line(session.hits[0].link)}", fg="cyan")
    if session.resume:
        yield click.style(f"  {result_line(session.resume)}", fg="cyan", dim=True)


def _label(hit: "Hit") -> str:
    turn = "" if hit.turn is None else f"{hit.turn} (branch {hit.branch})" if hit.branch else str(hit.turn)
    where = f"{hit.kind:<{_KIND_WIDTH}} {turn:>3}"
    tool = result_line(hit.tool) + ("!" if hit.error else "")
    label = " ".join(filter(None, (where, tool, f"[{result_line(hit.agent)}]" if hit.agent else "")))
    return click.style(label, fg="red" if hit.error else "green")


def _file(hit: "Hit") -> str:
    when = click.style(_moment(None if hit.time is None else hit.time / 1000), dim=True)
    return click.style(f"{hit.how} ", bold=True) + result_line(hit.file) + "  " + when


def _snippet(snippet: "Snippet") -> str:
    """The snippet on one line; each piece is made inert by itself, so that no style of ours is in it."""
    parts, at = [], 0
    for start, end in snippet.marks:
        parts.append(_flat(snippet.text[at:start]))
        parts.append(click.style(_flat(snippet.text[start:end]), fg="yellow", bold=True))
        at = end
    parts.append(_flat(snippet.text[at:]))
    return ("…" if snippet.before else "") + "".join(parts).strip() + ("…" if snippet.after else "")


def result_line(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    from unspool.tools.ansi import strip_ansi  # not `sanitize`, which loads every writer

    return " ".join(strip_ansi(text.replace("\r", "\n")).split())


def _flat(text: str) -> str:
    """One line, with the spaces at its ends kept as one."""
    words = result_line(text)
    before = " " if text[:1].isspace() else ""
    after = " " if words and text[-1:].isspace() else ""
    return f"{before}{words}{after}"


def _moment(time: float | None) -> str:
    try:
        return human.minute(None if time is None else datetime.fromtimestamp(time, UTC), settings.chosen_zone())
    except (OverflowError, OSError, ValueError):
        return ""


def _summary(results: "SearchResults") -> str:
    shown = human.count(len(results.sessions), "session")
    if results.sessions_found is None:
        return f"{shown}; there may be more (--limit)"
    hits = human.count(results.hits_found or 0, "hit")
    if results.sessions_found > len(results.sessions):
        return f"{len(results.sessions)} of {human.count(results.sessions_found, 'session')}, {hits} in all (--limit)"
    return f"{shown}, {hits}"


@contextmanager
def patience(seconds: float, message: str) -> "Iterator[None]":
    """UnspoolError with this message once so many seconds have passed; no limit where the system has no alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_: int, __: "FrameType | None") -> None:
        raise UnspoolError(message)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_PATIENCE = 60
_FILTERS = ("project", "agent", "role", "tool", "model", "branch", "kind", "since", "until", "cost", "session")
_MODES = ("substring", "regex", "file", "command")


@click.command("search")
@click.argument("query", nargs=-1)
@click.option("--substring", metavar="TEXT", help="Find TEXT as it stands, in code and output too.")
@click.option("--regex", metavar="RE", help="Find what a regular expression fits, within a minute.")
@click.option("--file", metavar="PATH", help="Which sessions touched a file last, and how.")
@click.option("--command", metavar="TEXT", help="Which sessions ran a shell command that holds TEXT.")
@click.option("-p", "--project", multiple=True, metavar="TEXT", help="Only projects whose path holds TEXT.")
@options.agents
@click.option("--role", multiple=True, metavar="ROLE", help="Only what this one said: user, assistant, tool.")
@click.option("--tool", multiple=True, metavar="NAME", help="Only calls and results of this tool.")
@click.option("-m", "--model", multiple=True, metavar="TEXT", help="Only turns answered by such a model.")
@click.option("--branch", multiple=True, metavar="NAME", help="Only sessions on this git branch.")
@click.option(
    "-k",
    "--kind",
    multiple=True,
    metavar="KIND",
    help="Only title, prompt, answer, thinking, call, result, notice; or a kind of session or file.",
)
@click.option("--errors", is_flag=True, help="Only results that failed.")
@click.option("--since", metavar="WHEN", help="Since 2026-01-31, or 3d, 2w ago.")
@click.option("--until", metavar="WHEN", help="Before a date or an age.")
@click.option("--cost", metavar="USD", help="Only sessions that cost >1, <0.5 or 1..5 dollars.")
@click.option("--session", multiple=True, metavar="ID", help="Only this session, by the start of its id.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Sessions; 0: all.")
@click.option("--hits", type=click.IntRange(min=1), default=3, show_default=True, help="Hits shown of each.")
@click.option("--context", type=click.IntRange(min=20), default=160, show_default=True, help="Characters of a hit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.named_sources
@options.demo
@fresh.no_sync
@options.archive
def command(query: tuple[str, ...], archive: "Path", as_json: bool, **given: Any) -> None:
    """Find what was said and done in any session.

    \b
    unspool search tide table              both words, the best session first
    unspool search '"tide table" OR moon*' a phrase, or words that begin so
    unspool search 'timeout -test'         one word without the other
    unspool search 'deploy role:user since:2w project:shop'
    unspool search is:error tool:bash      what failed, the newest first
    unspool search --regex 'TODO\\(\\w+\\)'  exact, in code
    unspool search --file tides.py         who touched it last
    unspool search --command 'git rebase'  where it was run
    unspool search kind:plan harbour       in plans; so memory, instructions, settings, skill, agent, command
    unspool search deploy -s /backup/old   in logs elsewhere, or in another archive

    In the QUERY, words must all be there; OR, NOT and parentheses work, in capitals. Filters, also as options:
    project: agent: role: tool: model: file: branch: kind: is:error since: until: cost:>1 session:, with a minus to
    exclude. Names are found in either spelling (read_file, readFile). --substring and --regex heed capitals where they
    have some. Context files, which sessions ran under, follow the sessions: a few, or by their kind: all that fit;
    kind:prompt-history finds prompts of deleted sessions. What is new is kept first, in your usual archive (--no-sync,
    or the setting `sync`, leaves that out). Ends with 1 where nothing is found.
    """
    from unspool.store.index.query import Filter, parse_query
    from unspool.store.index.search import SearchRequest

    filters = [Filter("is", "error")] if given["errors"] else []
    for name in _FILTERS:
        values = given[name]
        filters += [Filter(name, value) for value in ((values,) if isinstance(values, str) else values or ())]
    parsed = parse_query(" ".join(query), filters, settings.chosen_zone())
    wanted = SearchRequest(given["limit"], given["hits"], given["context"])
    sources = (options.demo_folder(),) if given["demo"] else given["source"]
    with fresh.archive_of(sources) if sources else nullcontext(archive) as place:
        if not sources:
            fresh.keep_fresh(place, no_sync=given["no_sync"])
        with options.open_index(place) as index, options.open_archive(place, readonly=True) as kept:
            results = _results(index, kept, parsed, wanted, given)
    if sources:
        where = ["--demo"] if given["demo"] else [f"-s {shlex.quote(str(folder))}" for folder in sources]
        results = _found_in(results, " ".join(where))
    if as_json:
        print_json(results)
    else:
        _print(results)
    if results.is_empty:
        raise click.exceptions.Exit(1)


def _results(
    index: "Index", archive: "ArchiveDatabase", query: "SearchQuery", wanted: "SearchRequest", given: dict[str, Any]
) -> "SearchResults":
    modes = [mode for mode in _MODES if given[mode] is not None]
    if len(modes) > 1:
        raise UsageProblem(f"--{modes[0]} and --{modes[1]} exclude each other.")
    if not modes:
        from unspool.store.index.search import search_index

        if query.tree is None and not query.filters:
            raise UsageProblem(" ".join((*query.notes, "Say what to look for; `unspool search --help` shows how.")))
        return search_index(index.db, archive, query, wanted)
    if modes == ["file"]:
        from unspool.store.index.search import sessions_touching

        return sessions_touching(index.db, archive, given["file"], query, wanted)

    from unspool.store.index import exact_search

    with patience(_PATIENCE, f"The search took longer than {_PATIENCE} seconds; a simpler pattern may do."):
        make = exact_search.regex_pattern if modes == ["regex"] else exact_search.substring_pattern
        more = [exact_search.shell_calls(index.db)] if modes == ["command"] else []
        return exact_search.exact_search(index.db, archive, make(given[modes[0]]), query, wanted, more)


def _found_in(results: "SearchResults", where: str) -> "SearchResults":
    """The results, with the commands that show them looking where they were found."""
    from msgspec.structs import replace

    sessions = (
        replace(one, hits=tuple(replace(hit, link=f"{hit.link} {where}" if hit.link else "") for hit in one.hits))
        for one in results.sessions
    )
    return replace(results, sessions=tuple(sessions))


def _print(results: "SearchResults") -> None:
    for note in results.notes:
        click.echo(f"unspool: {result_line(note)}", err=True)
    if results.is_empty:
        click.echo("Nothing was found.", err=True)
        return
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = not plain and (bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty())
    for line in result_lines(results):
        click.echo(line, color=colour)
