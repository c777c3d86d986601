"""`unspool info`: what one session holds, used and cost."""

from pathlib import Path

import click
import msgspec

from unspool.cli import options, terminal
from unspool.cli.facts import fact_rows
from unspool.cli.marked import Mark, marks
from unspool.export.inert import one_line
from unspool.figures import Figures, figures
from unspool.library import Library
from unspool.model import Session


@click.command("info")
@click.argument("session", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(session: str, as_json: bool, library: Library) -> None:
    """Tell what one session holds, used and cost.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`, which is the default.
    """
    found = library.open(session)
    counted = figures(found, library.prices)
    companions = library.companions(found)
    if as_json:
        mark = marks()(found.id)
        said = mark._asdict() if any(mark) else None
        data = {"session": _identity(found), "mark": said, "figures": counted, "companions": companions}
        click.echo(msgspec.json.format(msgspec.json.encode(data)).decode())
        return
    _print(found, counted, [f"{companion.kind} {Path(companion.path).name}" for companion in companions])


def _identity(session: Session) -> dict[str, object]:
    names = ("id", "agent", "kind", "project", "cwd", "branch", "slug", "versions", "entrypoint", "team")
    more = ("started", "ended", "log", "titles", "lines", "links", "todos", "source", "reported_cost")
    return {"title": session.title, **{name: getattr(session, name) for name in (*names, *more)}}


def _print(session: Session, counted: Figures, companions: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = terminal.console()
    mark = marks()(session.id)
    console.print(Text(one_line(mark.title or session.title), "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in (*_said(session, mark), *fact_rows(session, counted, companions)):
        table.add_row(name, "\n".join(one_line(line) for line in value.split("\n")))
    terminal.show(table, console)


def _said(session: Session, mark: Mark) -> list[tuple[str, str]]:
    """What was said about it in the app."""
    rows = [("own title", session.title if mark.title else ""), ("marked", mark.short), ("note", mark.note)]
    return [(name, value) for name, value in rows if value]
