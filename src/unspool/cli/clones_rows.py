"""The copies made, as `unspool list --clones` shows them."""

from pathlib import Path

import click

from unspool.cli import keeping
from unspool.cli.grid import Column, lines, show, width
from unspool.clone.lineage import Record, records


def show_clones(limit: int, *, as_json: bool) -> None:
    """List the copies, the newest first."""
    found = list(records())
    shown = found[:limit] if limit else found
    if as_json:
        keeping.print_json({"clones": [_row(record) for record in shown], "all": len(found)})
    elif shown:
        show(lines(_columns(shown), width()))
    else:
        click.echo("No copy was made yet. `unspool clone SESSION` makes one.")


def _row(record: Record) -> dict[str, object]:
    from msgspec import to_builtins

    return {**to_builtins(record), "there": _there(record)}


def _there(record: Record) -> bool:
    return bool(record.files) and Path(record.files[0].path).exists()


def _columns(shown: list[Record]) -> list[Column]:
    return [
        Column("made", [record.made[:16].replace("T", " ") for record in shown], right=False),
        Column("id", [record.session[:8] for record in shown], right=False),
        Column("by", [record.command for record in shown], right=False, rank=2),
        Column("from", [record.source[:8] for record in shown], right=False),
        Column("tokens", [f"{record.before.tokens:,} → {record.after.tokens:,}" for record in shown], rank=3),
        Column("", ["" if _there(record) else "gone" for record in shown], right=False),
        Column("title", [record.title for record in shown], right=False, least=20),
    ]
