"""`unspool hub policy`: what must not come in."""

from typing import TYPE_CHECKING

import click

from unspool.cli import hub_rows, keeping
from unspool.cli.hub_store import store_options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from typing import TextIO

    from unspool.hub.store.connect import Store


@click.command("policy")
@click.option("--project", default="", metavar="NAME", help="Of this project; else of the whole hub.")
@click.option("--set", "given", type=click.File("r"), metavar="FILE", help="Have this policy hold; - reads it here.")
@click.option(
    "--reset", is_flag=True, help="Have the hub's own hold for a project again, or the usual one for the hub."
)
@store_options
def command(store: "Store", project: str, given: "TextIO | None", reset: bool) -> None:
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
            hub_rows.noted(store.db, "policy.set", which)
    policy = policy_of(store.db, which)
    keeping.print_json({name: _plain(getattr(policy, name)) for name in policy.__struct_fields__})


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value
