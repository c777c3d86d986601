"""What the commands about a hub's people print, and how they are written down."""

import getpass
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import grid, keeping

if TYPE_CHECKING:
    from unspool.hub.people.users import Person
    from unspool.hub.store.database import Database

_TIMES = frozenset({"at", "created", "ended", "expires", "taken", "used"})
ANY_ADDRESS = {"ignore_unknown_options": True}
"""For commands that take a share's address, which may begin with a hyphen."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
everything = click.option("--all", "everything", is_flag=True, help="Also what has ended.")
agreed = click.option("--yes", is_flag=True, help="Do it without asking.")


def operator() -> "Person":
    """Whoever works on the store itself: they may do everything, and the audit log says who it was."""
    from unspool.hub.people.users import Person

    return Person("", f"{getpass.getuser()} at the command line", admin=True, by="command")


def noted(db: "Database", what: str, target: str, outcome: str = "done") -> None:
    """Write down what was done from the command line."""
    from unspool.hub.people.audit import write_audit

    write_audit(db, operator(), what, target, outcome)


def told(name: str, found: Iterable[Any]) -> None:
    """Print rows as JSON, their times as text."""
    keeping.print_json({name: [data(one) for one in found]})


def data(found: Any) -> dict[str, Any]:
    """A row as JSON has it."""
    said: dict[str, Any] = found._asdict()
    return {key: _iso(value) if key in _TIMES else value for key, value in said.items()}


def _iso(value: int | None) -> str | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")


def when(value: int | None, never: str = "") -> str:
    """A time as people read it."""
    from unspool import human

    return never if value is None else human.minute(datetime.fromtimestamp(value / 1000, UTC))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    """Print a table; where it would be empty, a sentence."""
    if not rows:
        click.echo(none)
        return
    cells = list(zip(*rows, strict=True))
    columns = [grid.Column(head, column, right=False, least=8) for head, column in zip(heads, cells, strict=True)]
    grid.show(grid.lines(columns, grid.width()))


def secret(what: str, value: str) -> None:
    """Print something that is told this once: alone on standard output, so that it can be piped."""
    click.echo(f"{what}, told this once:", err=True)
    click.echo(value)
