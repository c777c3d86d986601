"""`unspool hub erase`: what was shared or pushed, removed for good, with the proof."""

import sys
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import hub_rows, keeping
from unspool.cli.hub_store import store_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store


@click.group("erase")
def command() -> None:
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

    @click.command(kind, context_settings=hub_rows.ANY_ADDRESS, help=f"Erase {named} for good, and print the proof.")
    @click.argument("target", metavar=kind.upper())
    @hub_rows.agreed
    @hub_rows.as_json
    @store_options
    def erasing(store: "Store", target: str, yes: bool, as_json: bool) -> None:
        which = _id(store, kind, target)
        if yes or keeping.confirmed(f"Type {target} to erase this {kind} for good", target):
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
    command.add_command(_erasing(_kind, _named))


def _erased(store: "Store", kind: str, which: str, *, as_json: bool) -> None:
    from unspool.hub.people import erasure

    hub_rows.noted(store.db, "erase", which, "asked")
    proof = erasure.erase_permanently(store, hub_rows.operator(), kind, which, deep=True)
    hub_rows.noted(store.db, "erase", which, "done" if proof["proved"] else "not proved")
    if as_json:
        keeping.print_json(proof)
    else:
        _print(kind, proof)
    if not proof["proved"]:
        sys.exit(1)


def _id(store: "Store", kind: str, target: str) -> str:
    from unspool.hub.people import projects, users

    if kind == "person":
        return users.find_user(store.db, target).id
    return projects.find_project(store.db, target) if kind == "project" else target


def _print(kind: str, proof: dict[str, Any]) -> None:
    from unspool import human

    rows = human.count(sum(proof["rows"].values()), "row")
    kept = (
        f"; {human.count(proof['kept_for_others'], 'content')} others refer to stay" if proof["kept_for_others"] else ""
    )
    keeping.say(f"The {kind} is erased: {rows}, {human.count(len(proof['contents']), 'content')}{kept}.")
    searched = proof["searched"]
    size = f" and {human.size(searched['bytes'])} of the database's file" if "bytes" in searched else ""
    keeping.say(f"Searched: {human.count(searched['columns'], 'column')}, the object store{size}.")
    if not proof["cleared"]:
        keeping.say("The database is busy: what it keeps of removed rows goes when it next tidies up.")
    for found in proof["found"] or ["Nothing of it was found."]:
        keeping.say(f"Still there: {found}" if proof["found"] else found)


@command.command("list")
@hub_rows.as_json
@store_options
def list_(store: "Store", as_json: bool) -> None:
    """List what was erased."""
    from unspool.hub.people import erasure

    found = erasure.list_tombstones(store.db)
    if as_json:
        hub_rows.told("erased", found)
        return
    rows = [
        (hub_rows.when(stone.at), stone.kind, stone.target, "proved" if stone.proof.get("proved") else "not proved")
        for stone in found
    ]
    hub_rows.table(("When (UTC)", "Kind", "Id", "Proof"), rows, "Nothing was erased.")


@command.command("again")
@click.argument("person")
@click.argument("key")
@store_options
def again(store: "Store", person: str, key: str) -> None:
    """Let a person push a session again that was erased; KEY is the session's own id."""
    from unspool.hub.people import erasure, users

    with store.db.transaction():
        who = users.find_user(store.db, person).id
        erasure.allow_push_again(store.db, who, key)
        hub_rows.noted(store.db, "erase.again", who)
    click.echo("It can be pushed again.")
