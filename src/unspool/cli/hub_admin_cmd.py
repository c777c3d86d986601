"""`unspool hub audit`, `erase` and `policy`."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import archive_helpers, hub_options, options
from unspool.cli.hub_options import store_options
from unspool.errors import UsageProblem
from unspool.hub.people import erasure, operations
from unspool.hub.people.operations import Actor, rows_as_json

if TYPE_CHECKING:
    from typing import TextIO

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
def audit_command() -> None:
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


@audit_command.command("list")
@_filtered
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="At most so many.")
@hub_options.as_json
@store_options
def list_audit_lines(store: "Store", limit: int, as_json: bool, **asked: Any) -> None:
    """List what was done, newest first."""
    from unspool.hub.people.audit import list_audit

    found = list_audit(store.db, _filters(**asked), limit)
    if as_json:
        archive_helpers.print_json({"lines": [line.data() for line in found]})
        return
    rows = [
        (str(one.seq), hub_options.row_time(one.at), one.name or one.person, one.what, one.target, one.outcome)
        for one in found
    ]
    hub_options.print_table(("Line", "When (UTC)", "Who", "What", "To", "Outcome"), rows, "Nothing of that was done.")


@audit_command.command("export")
@_filtered
@store_options
def export_audit(store: "Store", **asked: Any) -> None:
    """Print every line, oldest first, as JSON lines."""
    from unspool.hub.people.audit import audit_as_json_lines

    for line in audit_as_json_lines(store.db, _filters(**asked)):
        click.echo(line, nl=False)


@audit_command.command("verify")
@click.option("--known", default="", metavar="DIGEST", help="A head that was kept elsewhere.")
@hub_options.as_json
@store_options
def verify_audit_log(store: "Store", known: str, as_json: bool) -> None:
    """Prove that no line was changed, added or removed."""
    from unspool.hub.people.audit import seal_audit, verify_audit

    problems = verify_audit(store.db, known)
    head = seal_audit(store.db)
    if as_json:
        archive_helpers.print_json({"whole": not problems, "problems": problems, "head": head._asdict()})
    else:
        for problem in problems or [f"The audit log is whole, to line {head.seq:,}. Its head: {head.digest}"]:
            archive_helpers.say_line(problem)
    if problems:
        sys.exit(1)


@audit_command.command("trim")
@click.option("--before", callback=options.day, required=True, metavar="WHEN", help="2025-01-01, or an age: 2y.")
@click.option("--yes", is_flag=True, help="Remove them; without this, nothing is removed.")
@store_options
def trim_audit_log(store: "Store", before: datetime, yes: bool) -> None:
    """Let go of old lines; what comes after still proves itself. Lines about what is under a legal hold stay."""
    from unspool import human
    from unspool.hub.people.audit import trim_audit

    if not yes:
        click.echo("Nothing was removed. Add --yes, after `unspool hub audit export`.")
        return
    with store.db.transaction():
        count = trim_audit(store.db, _ms(before) or 0)
        hub_options.audit_from_cli(store.db, "audit.trim", "")
    click.echo(f"{human.count(count, 'line')} removed.")


@click.group("erase")
def erase_command() -> None:
    """Erase a share, a session, or all of a project or a person, and prove that it is gone.

    \b
    unspool hub erase session 3f2a… --yes
    unspool hub erase person ada --yes
    unspool hub erase list --json                  what was erased, with the proofs
    unspool hub erase again ada KEY                let her push that session again

    Rows, words, pages and every content that nothing else refers to go at once. Then every table, the object store
    and the database's file are searched for what was erased. A tombstone stays, which holds no content.
    """


def _erasing(kind: str, named: str) -> click.Command:
    """The command that erases something of one kind."""

    @click.command(kind, context_settings=hub_options.ANY_ADDRESS, help=f"Erase {named} for good, and print the proof.")
    @click.argument("target", metavar=kind.upper())
    @hub_options.agreed
    @hub_options.as_json
    @store_options
    def erasing(store: "Store", target: str, yes: bool, as_json: bool) -> None:
        which = operations.thing_id(Actor(store.db, hub_options.operator_person(), by_name=True), kind, target)
        if yes or archive_helpers.confirm_typed(f"Type {target} to erase this {kind} for good", target):
            _erased(store, kind, which, as_json=as_json)
        else:
            click.echo("Nothing was erased. Add --yes to erase it for good.", err=as_json)

    return erasing


for _kind, _named in (
    ("share", "a share by its address"),
    ("session", "a session by its id"),
    ("project", "a project by its name or id, with all its sessions"),
    ("person", "a person by their name or id, with all that they shared and pushed"),
):
    erase_command.add_command(_erasing(_kind, _named))


def _erased(store: "Store", kind: str, which: str, *, as_json: bool) -> None:
    hub_options.audit_from_cli(store.db, "erase", which, "asked")
    proof = erasure.erase_permanently(store, hub_options.operator_person(), kind, which, deep=True)
    hub_options.audit_from_cli(store.db, "erase", which, "done" if proof["proved"] else "not proved")
    if as_json:
        archive_helpers.print_json(proof)
    else:
        _print(kind, proof)
    if not proof["proved"]:
        sys.exit(1)


def _print(kind: str, proof: dict[str, Any]) -> None:
    from unspool import human

    rows = human.count(sum(proof["rows"].values()), "row")
    kept = (
        f"; {human.count(proof['kept_for_others'], 'content')} others refer to stay" if proof["kept_for_others"] else ""
    )
    archive_helpers.say_line(f"The {kind} is erased: {rows}, {human.count(len(proof['contents']), 'content')}{kept}.")
    searched = proof["searched"]
    size = f" and {human.size(searched['bytes'])} of the database's file" if "bytes" in searched else ""
    archive_helpers.say_line(f"Searched: {human.count(searched['columns'], 'column')}, the object store{size}.")
    if not proof["cleared"]:
        archive_helpers.say_line("The database is busy: what it keeps of removed rows goes when it next tidies up.")
    for found in proof["found"] or ["Nothing of it was found."]:
        archive_helpers.say_line(f"Still there: {found}" if proof["found"] else found)


@erase_command.command("list")
@hub_options.as_json
@store_options
def list_erased(store: "Store", as_json: bool) -> None:
    """List what was erased, with its proofs."""
    found = erasure.list_tombstones(store.db)
    rows = [
        (hub_options.row_time(one.at), one.kind, one.target, "proved" if one.proof.get("proved") else "not proved")
        for one in found
    ]
    heads = ("When (UTC)", "Kind", "Id", "Proof")
    hub_options.print_listing(rows_as_json("erased", found), heads, rows, "Nothing was erased.", as_json=as_json)


@erase_command.command("again")
@click.argument("person")
@click.argument("key")
@store_options
def allow_again(store: "Store", person: str, key: str) -> None:
    """Let a person push a session again that was erased; KEY is the session's own id."""
    wanted = operations.PushAgain(person, key)
    with store.db.transaction():
        done = operations.allow_push_again(Actor(store.db, hub_options.operator_person(), by_name=True), wanted)
        hub_options.audit_from_cli(store.db, "erase.again", done.target)
    click.echo(done.message)


@click.command("policy")
@click.option("--project", default="", metavar="NAME", help="Of this project; else of the whole hub.")
@click.option("--set", "given", type=click.File("r"), metavar="FILE", help="Have this policy hold; - reads it here.")
@click.option(
    "--reset", is_flag=True, help="Have the hub's own hold for a project again, or the usual one for the hub."
)
@store_options
def policy_command(store: "Store", project: str, given: "TextIO | None", reset: bool) -> None:
    """Tell or change what must not come in, and what is replaced before it is sent.

    \b
    unspool hub policy                              what holds, as JSON
    unspool hub policy --project shop --set shop.json
    unspool hub policy --project shop --reset

    \b
    {"replaced": ["secret", "personal", "term"],    kinds that are replaced before something is pushed
     "refused": ["secret", "term"],                 kinds that keep out what holds one
     "terms": ["Acme"],                             words of your own
     "without": ["ipv4"],                           rules that do not hold
     "rules": [{"id": "ticket", "kind": "secret", "about": "a ticket", "pattern": "TIDE-[0-9]{4}", "keys": ["tide-"]}]}

    What is left out is as usual. What was taken in before stays as it is.
    """
    from unspool.hub.people import projects
    from unspool.hub.policy import policy_of, save_policy

    if given is not None and reset:
        raise UsageProblem("Either --set or --reset.")
    which = projects.find_project(store.db, project) if project else ""
    if given is not None or reset:
        with store.db.transaction():
            save_policy(store.db, given.read() if given is not None else "", which)
            hub_options.audit_from_cli(store.db, "policy.set", which)
    policy = policy_of(store.db, which)
    archive_helpers.print_json({name: _plain(getattr(policy, name)) for name in policy.__struct_fields__})


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value
