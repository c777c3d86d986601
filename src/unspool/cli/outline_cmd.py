"""`unspool outline` and `unspool solved`: a session prompt by prompt, and how an error was solved before."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import fresh, options
from unspool.cli.output import cut_text, has_colours, print_json, safe_text, say_line, terminal_width

if TYPE_CHECKING:
    from unspool.store.library import Library
    from unspool.store.library.solved_errors import FoundSolution


@click.command("outline")
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.sources
def outline_command(session: str, library: "Library", as_json: bool) -> None:
    """Tell a session prompt by prompt: what was asked, done and said last.

    \b
    unspool outline latest
    unspool outline 3f2a --json
    """
    from unspool.figures.outline import outline_session

    opened = library.open(session)
    found = outline_session(opened)
    if as_json:
        print_json({"session": opened.id, "title": opened.title, "project": opened.project, "prompts": found})
        return
    say_line(safe_text(human.joined(opened.title, human.last_part(opened.project), opened.id[:8])))
    for one in found:
        lines = f"+{one.added:,} −{one.removed:,}" if one.files else ""
        failed = f"{one.failed:,} failed" if one.failed else ""
        done = human.joined(human.count(one.calls, "call"), failed, lines, *map(human.last_part, one.files[:8]))
        _say(f"{one.number:>4}  ", one.asked or "before the first prompt", bold=True)
        _say("      ", done)
        if one.outcome:
            _say("      → ", one.outcome)


@click.command("solved")
@click.argument("error", nargs=-1, required=True)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=5, show_default=True, help="Errors that are told.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def solved_command(error: tuple[str, ...], archive: Path, as_json: bool, limit: int, no_sync: bool) -> None:
    """Tell how an error was solved in earlier sessions.

    \b
    unspool solved "ModuleNotFoundError: No module named 'tides'"

    It looks for results that failed with the like words, whatever their numbers and paths, and tells what was said
    and done after that until the same call went well. What is new is kept first, in your usual archive (--no-sync,
    or the setting `sync`, leaves that out). Ends with 1 where nothing is found.
    """
    from unspool.store.library import session_opener
    from unspool.store.library.solved_errors import ErrorSources, find_solutions

    fresh.keep_fresh(archive, no_sync=no_sync)
    opened = session_opener(options.kept_library(archive))
    with options.open_index(archive) as index, options.open_archive(archive, readonly=True) as held:
        found = find_solutions(ErrorSources(index.db, held, opened), " ".join(error))
    if as_json:
        print_json({"found": found[:limit], "all": len(found)})
    else:
        for one in found[:limit]:
            _tell(one)
        if len(found) > limit:
            click.echo(f"unspool: {len(found) - limit:,} more (--limit).", err=True)
    if not found:
        click.echo("No session that is kept met such an error.", err=True)
        raise click.exceptions.Exit(1)


def _tell(one: "FoundSolution") -> None:
    error = one.error
    end = "solved" if error.solved else "not solved there"
    where = human.joined(one.title, one.session[:8], f"prompt {error.turn}", human.day(one.ended), end)
    _say("", where, bold=True)
    _say("  failed   ", f"{error.command} → {error.line}", fg="red")
    for step in error.steps:
        _say(f"  {step.kind:<8} ", step.text, fg="red" if step.failed else "green" if step.kind == "worked" else None)
    say_line("")


def _say(before: str, text: str, **style: Any) -> None:
    """One line, what is from the log cut to the width and inert."""
    words = cut_text(" ".join(safe_text(text[:4_000]).split()), max(20, terminal_width() - len(before)))
    click.echo(before + click.style(words, **style), color=has_colours())
