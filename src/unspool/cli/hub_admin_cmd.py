"""`unspool hub audit`, `erase` and `policy`."""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec

from unspool import human
from unspool.cli import hub_options, options
from unspool.cli.hub_options import ListedRow, listing, operator, row_time, run_audited, store_options
from unspool.cli.output import confirm_typed, print_json, print_result
from unspool.errors import UsageProblem
from unspool.hub.people import erasure, operations
from unspool.hub.people.operations import as_json

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


def _filters(since: datetime | None, until: datetime | None, **words: Any) -> "AuditFilters":
    from unspool.hub.people.audit import AuditFilters

    return AuditFilters(**words, since=_ms(since), until=_ms(until))


_filtered = options.as_argument("filters", _filters, *_FILTERS)


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
@listing("lines", ("Line", "When (UTC)", "Who", "What", "To", "Outcome"), "Nothing of that was done.")
def list_audit_lines(store: "Store", filters: "AuditFilters", limit: int) -> Iterator[ListedRow]:
    """List what was done, newest first."""
    from unspool.hub.people.audit import list_audit

    for one in list_audit(store.db, filters, limit):
        who = one.name or one.person
        yield one.data(), (str(one.seq), row_time(one.at), who, one.what, one.target, one.outcome)


@audit_command.command("export")
@_filtered
@store_options
def export_audit(store: "Store", filters: "AuditFilters") -> None:
    """Print every line, oldest first, as JSON lines."""
    from unspool.hub.people.audit import audit_as_json_lines

    for line in audit_as_json_lines(store.db, filters):
        click.echo(line, nl=False)


@audit_command.command("verify")
@click.option("--known", default="", metavar="DIGEST", help="A head that was kept elsewhere.")
@click.option("--accept", is_flag=True, help="Take a log that was cut as it is, from now on.")
@hub_options.as_json
@store_options
def verify_audit_log(store: "Store", known: str, accept: bool, as_json: bool) -> None:
    """Prove that no line was changed, added or removed.

    The object store has a mark of the head, so that a tail that is removed from the database shows. Where a database
    was brought back from an older copy, --accept makes a new mark, and a line of the log says so.
    """
    from unspool.hub.people.audit import mark_head, verify_audit

    problems = verify_audit(store, known)
    if accept and problems:
        hub_options.write_audit(operator(store), "audit.accept", "", detail={"problems": len(problems)})
    head = mark_head(store, anew=accept)
    lines = problems or [f"The audit log is whole, to line {head.seq:,}. Its head: {head.digest}"]
    print_result({"whole": not problems, "problems": problems, "head": head._asdict()}, lines, as_json=as_json)
    if problems:
        sys.exit(1)


@audit_command.command("trim")
@click.option("--before", callback=options.day, required=True, metavar="WHEN", help="2025-01-01, or an age: 2y.")
@click.option("--yes", is_flag=True, help="Remove them; without this, nothing is removed.")
@store_options
def trim_audit_log(store: "Store", before: datetime, yes: bool) -> None:
    """Remove old lines; what comes after still proves itself. Lines about what is under a legal hold stay."""
    from unspool.hub.people.audit import trim_audit

    if not yes:
        click.echo("Nothing was removed. Add --yes, after `unspool hub audit export`.")
        return
    with store.db.transaction():
        count = trim_audit(store, _ms(before) or 0)
        hub_options.write_audit(operator(store), "audit.trim", "")
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
    and the database's files are searched for what was erased. A tombstone stays, which holds no content.
    """


def _erasing(kind: str, named: str) -> click.Command:

    @click.command(kind, context_settings=hub_options.ANY_ADDRESS, help=f"Erase {named} for good, and print the proof.")
    @click.argument("target", metavar=kind.upper())
    @hub_options.agreed
    @hub_options.as_json
    @store_options
    def erasing(store: "Store", target: str, yes: bool, as_json: bool) -> None:
        at = operator(store)
        which = operations.thing_id(at, kind, target)
        if not yes and not confirm_typed(f"Type {target} to erase this {kind} for good", target):
            click.echo("Nothing was erased. Add --yes to erase it for good.", err=as_json)
            return
        hub_options.write_audit(at, "erase", which, "asked")
        proof = erasure.erase_permanently(store, at.person, kind, which)
        hub_options.write_audit(at, "erase", which, "done" if proof["proved"] else "not proved")
        print_result(proof, _proof_lines(kind, proof), as_json=as_json)
        if not proof["proved"]:
            sys.exit(1)

    return erasing


for _kind, _named in (
    ("share", "a share by its address"),
    ("session", "a session by its id"),
    ("project", "a project by its name or id, with all its sessions"),
    ("person", "a person by their name or id, with all that they shared and pushed"),
):
    erase_command.add_command(_erasing(_kind, _named))


def _proof_lines(kind: str, proof: dict[str, Any]) -> Iterator[str]:
    rows, contents = human.count(sum(proof["rows"].values()), "row"), human.count(len(proof["contents"]), "content")
    others = human.count(proof["kept_for_others"], "content")
    kept = f"; {others} others refer to stay" if proof["kept_for_others"] else ""
    yield f"The {kind} is erased: {rows}, {contents}{kept}."
    searched = proof["searched"]
    size = f" and {human.size(searched['bytes'])} of the database's files" if "bytes" in searched else ""
    yield f"Searched: {human.count(searched['columns'], 'column')}, the object store{size}."
    yield f"Not searched: {'; '.join(proof['not_searched'])}."
    yield from [f"Still there: {found}" for found in proof["found"]] or ["Nothing of it was found."]
    if not proof["cleared"]:
        yield "The database is busy: what it keeps of removed rows goes when it next tidies up."
        yield "A hub that runs tries every minute; `unspool hub erase list` tells when it is proved."


@erase_command.command("list")
@listing("erased", ("When (UTC)", "Kind", "Id", "Proof"), "Nothing was erased.")
def list_erased(store: "Store") -> Iterator[ListedRow]:
    """List what was erased, with its proofs."""
    for one in erasure.list_tombstones(store.db):
        proved = "proved" if one.proof.get("proved") else "not proved"
        yield as_json(one), (row_time(one.at), one.kind, one.target, proved)


@erase_command.command("again")
@click.argument("person")
@click.argument("key")
@store_options
def allow_again(store: "Store", person: str, key: str) -> None:
    """Let a person push a session again that was erased; KEY is the session's own id."""
    click.echo(run_audited(operator(store), operations.allow_push_again, person, key).message)


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
            hub_options.write_audit(operator(store), "policy.set", which)
    fields = msgspec.structs.asdict(policy_of(store.db, which))
    print_json({name: sorted(one) if isinstance(one, frozenset) else one for name, one in fields.items()})
