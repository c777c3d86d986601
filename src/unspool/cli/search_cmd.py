"""`unspool search`: what was said and done in any session, from the archive."""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli import chosen, options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from pathlib import Path

    from unspool.archive import Archive
    from unspool.index.query import Filter, Query
    from unspool.index.results import Results
    from unspool.index.search import Wanted
    from unspool.index.store import Index

_PATIENCE = 60
_FILTERS = ("project", "role", "tool", "model", "branch", "kind", "since", "until", "cost", "session")
_MODES = ("substring", "regex", "file", "command")


@click.command("search")
@click.argument("query", nargs=-1)
@click.option("--substring", metavar="TEXT", help="Find TEXT as it stands, in code and output too.")
@click.option("--regex", metavar="RE", help="Find what a regular expression fits, within a minute.")
@click.option("--file", metavar="PATH", help="Which sessions touched a file last, and how.")
@click.option("--command", metavar="TEXT", help="Which sessions ran a shell command that holds TEXT.")
@click.option("-p", "--project", multiple=True, metavar="TEXT", help="Only projects whose path holds TEXT.")
@click.option("--role", multiple=True, metavar="ROLE", help="Only what this one said: user, assistant, tool.")
@click.option("--tool", multiple=True, metavar="NAME", help="Only calls and results of this tool.")
@click.option("-m", "--model", multiple=True, metavar="TEXT", help="Only turns answered by such a model.")
@click.option("--branch", multiple=True, metavar="NAME", help="Only sessions on this git branch.")
@click.option("-k", "--kind", multiple=True, metavar="KIND",
              help="Only title, prompt, answer, thinking, call, result, notice; or a kind of session.")  # fmt: skip
@click.option("--errors", is_flag=True, help="Only results that failed.")
@click.option("--since", metavar="WHEN", help="Since 2026-01-31, or 3d, 2w ago.")
@click.option("--until", metavar="WHEN", help="Before a date or an age.")
@click.option("--cost", metavar="USD", help="Only sessions that cost >1, <0.5 or 1..5 dollars.")
@click.option("--session", multiple=True, metavar="ID", help="Only this session, by the start of its id.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Sessions; 0: all.")
@click.option("--hits", type=click.IntRange(min=1), default=3, show_default=True, help="Hits shown of each.")
@click.option("--context", type=click.IntRange(min=20), default=160, show_default=True, help="Characters of a hit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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

    In the QUERY, words must all be there; OR, NOT and parentheses work, in capitals. Filters, also as options:
    project: role: tool: model: file: branch: kind: is:error since: until: cost:>1 session:, with a minus to exclude.
    Names are found in either spelling (read_file, readFile). --substring and --regex heed capitals where they have
    some. The archive is what `unspool sync` has kept. Ends with 1 where nothing is found.
    """
    from unspool.archive import Archive
    from unspool.index.query import parse
    from unspool.index.search import Wanted
    from unspool.index.store import Index

    asked = parse(" ".join(query), _filters(given), chosen.zone())
    wanted = Wanted(given["limit"], given["hits"], given["context"])
    key = options.key_of(archive)
    with Archive.open(archive, key=key, readonly=True) as kept, Index.open(archive, key=key, readonly=True) as index:
        results = _results(index, kept, asked, wanted, given)
    _print(results, as_json=as_json)
    if not results.sessions:
        raise click.exceptions.Exit(1)


def _filters(given: dict[str, Any]) -> "list[Filter]":
    from unspool.index.query import Filter

    found = [Filter("is", "error")] if given["errors"] else []
    for name in _FILTERS:
        values = given[name]
        found += [Filter(name, value) for value in ((values,) if isinstance(values, str) else values or ())]
    return found


def _results(index: "Index", archive: "Archive", query: "Query", wanted: "Wanted", given: dict[str, Any]) -> "Results":
    modes = [mode for mode in _MODES if given[mode] is not None]
    if len(modes) > 1:
        raise UsageProblem(f"--{modes[0]} and --{modes[1]} exclude each other.")
    if not modes:
        from unspool.index.search import search

        if query.tree is None and not query.filters:
            raise UsageProblem(" ".join((*query.notes, "Say what to look for; `unspool search --help` shows how.")))
        return search(index.db, archive, query, wanted)
    if modes == ["file"]:
        from unspool.index.touches import touches

        return touches(index.db, archive, given["file"], query, wanted)
    from unspool.cli.patience import patience

    with patience(_PATIENCE, f"The search took longer than {_PATIENCE} seconds; a simpler pattern may do."):
        return _exact(index, archive, query, wanted, (modes[0], given[modes[0]]))


def _exact(index: "Index", archive: "Archive", query: "Query", wanted: "Wanted", asked: tuple[str, str]) -> "Results":
    from unspool.index import exact, pattern

    mode, text = asked
    sought = pattern.regular(text) if mode == "regex" else pattern.substring(text)
    more = [exact.shell_calls(index.db)] if mode == "command" else []
    return exact.exact(index.db, archive, sought, query, wanted, more)


def _print(results: "Results", *, as_json: bool) -> None:
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(results)).decode())
        return
    from unspool.cli import search_rows

    for note in results.notes:
        click.echo(f"unspool: {search_rows.one_line(note)}", err=True)
    if not results.sessions:
        click.echo("Nothing was found.", err=True)
        return
    colour = search_rows.coloured()
    for line in search_rows.lines(results):
        click.echo(line, color=colour)
