"""`unspool hub project`: projects of the team archive, and who may what in them."""

from typing import TYPE_CHECKING

import click

from unspool.cli import archive_helpers, hub_options
from unspool.cli.hub_options import store_options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store


@click.group("project")
def command() -> None:
    """Make projects, and give rights on them.

    \b
    unspool hub project add shop --owner ada
    unspool hub project grant shop --team crew write
    unspool hub project grant shop --person bob none     not even what his teams may
    unspool hub project rights shop
    unspool hub project let admins                       only admins make new ones

    A right is none, read, write (push) or own (give rights, erase). A person's own right counts before those of
    their teams. Whoever pushes to a new project owns it, unless only admins may make them.
    """


@command.command("list")
@hub_options.as_json
@store_options
def list_(store: "Store", as_json: bool) -> None:
    """List projects."""
    from unspool.hub.people import projects, users

    found = projects.list_projects(store.db, hub_options.operator_person())
    if as_json:
        hub_options.print_rows_json("projects", found)
        return
    alone = dict(users.projects_without_owner(store.db))
    rows = [
        (
            one.name,
            f"{one.sessions:,}",
            hub_options.row_time(one.created),
            "no owner" if one.id in alone else "",
            one.id,
        )
        for one in found
    ]
    hub_options.print_table(("Name", "Sessions", "Since", "", "Id"), rows, "There is no project.")


@command.command("add")
@click.argument("name")
@click.option("--owner", default="", metavar="NAME", help="A person who owns it.")
@store_options
def add(store: "Store", name: str, owner: str) -> None:
    """Make a project."""
    from unspool.hub.people import projects
    from unspool.hub.people import projects as permits
    from unspool.hub.people.projects import Right

    with store.db.transaction():
        made = projects.create_project(store.db, hub_options.operator_person(), name)
        if owner:
            permits.grant_right(store.db, made, "person", owner, Right.OWN)
        hub_options.audit_from_cli(store.db, "project.make", made)
    archive_helpers.say_line(f"There is a project {name} now.")


@command.command("rights")
@click.argument("project")
@hub_options.as_json
@store_options
def rights(store: "Store", project: str, as_json: bool) -> None:
    """List who may what in a project."""
    from unspool.hub.people import projects
    from unspool.hub.people import projects as permits

    found = permits.list_grants(store.db, projects.find_project(store.db, project))
    if as_json:
        hub_options.print_rows_json("permits", found)
        return
    rows = [(one.level, one.kind, one.name, one.subject) for one in found]
    hub_options.print_table(("Right", "Kind", "Name", "Id"), rows, "Nobody but admins may see it.")


@command.command("grant")
@click.argument("project")
@click.argument("level", type=click.Choice(["none", "read", "write", "own", "nothing"]))
@click.option("--person", default="", metavar="NAME", help="To a person.")
@click.option("--team", default="", metavar="NAME", help="To a team.")
@store_options
def grant(store: "Store", project: str, level: str, person: str, team: str) -> None:
    """Give a person or a team a right, in place of what they had; `nothing` takes it back."""
    from unspool.hub.people import projects
    from unspool.hub.people import projects as permits

    if bool(person) == bool(team):
        raise UsageProblem("Name one person or one team: --person NAME or --team NAME.")
    kind, named = ("person", person) if person else ("team", team)
    with store.db.transaction():
        which = projects.find_project(store.db, project)
        if level == "nothing":
            permits.revoke_right(store.db, which, kind, named)
        else:
            permits.grant_right(store.db, which, kind, named, permits.parse_right(level))
        hub_options.audit_from_cli(store.db, "permit.take" if level == "nothing" else "permit.give", which)
    archive_helpers.say_line(f"{named} in {project}: {level}.")


@command.command("let")
@click.argument("who", type=click.Choice(["everybody", "admins"]))
@store_options
def let(store: "Store", who: str) -> None:
    """Say who may make projects, by pushing to a new one."""
    from unspool.hub.people import projects

    with store.db.transaction():
        projects.let_anyone_create(store.db, everybody=who == "everybody")
        hub_options.audit_from_cli(store.db, "project.let", who)
    click.echo(f"New projects are made by {who}.")
