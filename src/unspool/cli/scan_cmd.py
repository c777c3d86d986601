"""`unspool scan`: what in sessions a person should look at, with its evidence."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from unspool import human
from unspool.agents import FoundLog
from unspool.cli import options, output
from unspool.cli.output import cut_text, print_json, progress, safe_text

if TYPE_CHECKING:
    from unspool.scanners.base import Scanner
    from unspool.store.library import Library


@click.command("scan")
@click.argument("session", nargs=-1)
@click.option("--flag", "names", multiple=True, metavar="NAME", help="Only flags of this scanner. May be repeated.")
@click.option("--with", "files", multiple=True, type=options.PATH, metavar="FILE", help="A scanner of your own.")
@click.option("--list", "tell", is_flag=True, help="List the scanners.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.sources
def command(
    session: tuple[str, ...],
    names: tuple[str, ...],
    files: tuple[Path, ...],
    tell: bool,
    as_json: bool,
    library: "Library",
) -> None:
    """Find sessions to look at: tests claimed, unclean ends.

    \b
    unspool scan                           all sessions
    unspool scan latest                    one of them
    unspool scan --flag tests-claimed      said that tests pass, and the last run failed or there was none
    unspool scan --with my_scanner.py      with rules of your own
    unspool list --flag unclean-end        the same in a list

    Each flag has its session, turn, why, and the words that it goes by. Flags are found by rules, not by a model: they
    say where to look. A scanner is a Python file with a SCANNER (unspool.scanners.base); installed packages may bring
    some by the entry point `unspool.scanners`. Ends with 1 where something was flagged.
    """
    from unspool.scanners import SCANNERS, own_scanners
    from unspool.store.library.scans import scan_changed, scan_logs

    own = own_scanners(files)
    scanners = (*SCANNERS, *own) if own else SCANNERS
    if tell:
        _list_scanners(scanners, as_json=as_json)
        return
    unknown = [name for name in names if name not in {one.name for one in scanners}]
    if unknown:
        raise click.BadParameter(
            f"there is no scanner {unknown[0]!r}; there are {', '.join(one.name for one in scanners)}.",
            param_hint="--flag",
        )
    logs = [_log(library, name) for name in session] if session else list(library.logs())
    with progress(sum(log.total_size for log in logs), "Scanning") as advance:
        done = list(scan_logs(logs, advance, scanners) if own or session else scan_changed(logs, advance))
    flags = [(one, flag) for one in done for flag in one.flags if not names or flag.scanner in names]
    failures = [one.failure for one in done if one.failure]
    if as_json:
        rows = [{"session": one.session, "path": one.path, **msgspec.structs.asdict(flag)} for one, flag in flags]
        print_json({"flags": rows, "sessions": len(done), "failures": failures})
    else:
        colour, width = output.has_colours(), output.terminal_width()
        for one, flag in flags:
            head = click.style(flag.scanner, fg="yellow")
            click.echo(f"{safe_text(one.session[:8])}  {head}  turn {flag.turn}, {flag.why}", color=colour)
            click.echo(click.style(f"          {cut_text(safe_text(flag.quote), width - 10)}", dim=True), color=colour)
        counts = Counter(flag.scanner for _, flag in flags)
        told = ", ".join(f"{number} {name}" for name, number in counts.most_common()) or "nothing to look at"
        click.echo(f"{human.count(len(done), 'session')}: {told}.", err=True)
        for failure in failures:
            click.echo(f"unspool: {safe_text(failure)}", err=True)
    if flags:
        raise click.exceptions.Exit(1)


def _log(library: "Library", name: str) -> FoundLog:
    found = library.resolve(name)
    if isinstance(found, str):
        raise click.BadParameter(f"{name} is no session that was found.", param_hint="SESSION")
    return found


def _list_scanners(scanners: "tuple[Scanner, ...]", *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": one.name, "about": one.about} for one in scanners])
        return
    for one in scanners:
        click.echo(f"{one.name:<16} {one.about}")
