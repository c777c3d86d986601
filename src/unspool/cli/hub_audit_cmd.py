"""`unspool hub audit`: who did what, and the proof that nobody changed it."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import hub_rows, keeping, options
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.people.audit import AuditFilters
    from unspool.hub.store.connect import Store

_FILTERS = (
    click.option("--person", default="", metavar="NAME", help="Of this one, by name or id."),
    click.option("--what", default="", metavar="ACT", help="share.delete, or share for all acts on shares."),
    click.option("--target", default="", metavar="ID", help="To this share, session, project or person."),
    click.option("--outcome", default="", metavar="WORD", help="done, or such as `refused 403`."),
    click.option("--since", callback=options.day, metavar="WHEN", help="2026-01-31, or how long ago: 12h, 3d, 2w."),
    click.option("--until", callback=options.day, metavar="WHEN", help="Before this."),
)


def _filtered(command: Any) -> Any:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def _filters(since: datetime | None, until: datetime | None, **words: Any) -> "AuditFilters":
    from unspool.hub.people.audit import AuditFilters

    return AuditFilters(**words, since=_ms(since), until=_ms(until))


def _ms(time: datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1000)


@click.group("audit")
def command() -> None:
    """Tell who read, wrote and deleted what.

    \b
    unspool hub audit list --person ada --since 2w
    unspool hub audit list --what erase
    unspool hub audit export > audit.jsonl
    unspool hub audit verify                  prints the head of the chain: keep it elsewhere
    unspool hub audit verify --known DIGEST   that head is still in it
    unspool hub audit trim --before 2025-01-01 --yes

    Every line is sealed by a digest that covers the line before. It holds ids, never content.
    """


@command.command("list")
@_filtered
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="At most so many.")
@hub_rows.as_json
@store_options
def list_(store: "Store", limit: int, as_json: bool, **asked: Any) -> None:
    """List what was done, newest first."""
    from unspool.hub.people.audit import list_audit

    found = list_audit(store.db, _filters(**asked), limit)
    if as_json:
        keeping.print_json({"lines": [line.data() for line in found]})
        return
    rows = [
        (str(one.seq), hub_rows.when(one.at), one.name or one.person, one.what, one.target, one.outcome)
        for one in found
    ]
    hub_rows.table(("Line", "When (UTC)", "Who", "What", "To", "Outcome"), rows, "Nothing of that was done.")


@command.command("export")
@_filtered
@store_options
def export(store: "Store", **asked: Any) -> None:
    """Print every line, oldest first, as JSON lines."""
    from unspool.hub.people.audit import audit_as_json_lines

    for line in audit_as_json_lines(store.db, _filters(**asked)):
        click.echo(line, nl=False)


@command.command("verify")
@click.option("--known", default="", metavar="DIGEST", help="A head that was kept elsewhere.")
@hub_rows.as_json
@store_options
def verify(store: "Store", known: str, as_json: bool) -> None:
    """Prove that no line was changed, added or removed."""
    from unspool.hub.people.audit import seal_audit, verify_audit

    problems = verify_audit(store.db, known)
    head = seal_audit(store.db)
    if as_json:
        keeping.print_json({"whole": not problems, "problems": problems, "head": head._asdict()})
    else:
        for problem in problems or [f"The audit log is whole, to line {head.seq:,}. Its head: {head.digest}"]:
            keeping.say(problem)
    if problems:
        sys.exit(1)


@command.command("trim")
@click.option("--before", callback=options.day, required=True, metavar="WHEN", help="2025-01-01, or an age: 2y.")
@click.option("--yes", is_flag=True, help="Remove them; without this, nothing is removed.")
@store_options
def trim(store: "Store", before: datetime, yes: bool) -> None:
    """Let go of old lines; what comes after still proves itself. Lines about what is under a legal hold stay."""
    from unspool import human
    from unspool.hub.people.audit import trim_audit

    if not yes:
        click.echo("Nothing was removed. Add --yes, after `unspool hub audit export`.")
        return
    with store.db.transaction():
        count = trim_audit(store.db, _ms(before) or 0)
        hub_rows.noted(store.db, "audit.trim", "")
    click.echo(f"{human.count(count, 'line')} removed.")
