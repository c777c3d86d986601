"""`unspool login`, `logout`, `shares` and `push`: what goes to and from a hub."""

import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import hub_options, options
from unspool.cli.output import Column, is_interactive, print_json, print_result, print_table, progress_bar, say_line
from unspool.config import config_folder
from unspool.errors import Declined, NotFound, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unspool.hub_client.client import HubClient, UploadedShare
    from unspool.hub_client.login import Folders
    from unspool.hub_client.push import PushResult, PushTask
    from unspool.store.library import Library


@click.command("login")
@click.argument("url")
@click.option("--token-file", default="-", metavar="FILE", help="Read the token from its first line, and ask nothing.")
@click.option("--insecure", is_flag=True, help="Send the token without encryption, over a network that you trust.")
def login_command(url: str, token_file: str, insecure: bool) -> None:
    """Sign in to a hub, which later commands use.

    \b
    unspool login https://hub.example                      asks for your token, which is not shown
    unspool login https://hub.example --token-file token   for scripts

    The hub is asked whether it knows the token before it is kept, in a file that only you can read. The last hub
    signed in to is the one that is meant where none is named. UNSPOOL_HUB and UNSPOOL_HUB_TOKEN come before the file.
    """
    from unspool.hub_client.client import HubClient
    from unspool.hub_client.login import HubEntry, check_token, parse_address, save_login

    address = parse_address(url)
    entry = HubEntry(check_token(options.read_secret(token_file, f"Token for {address.url}")), insecure=insecure)
    me = hub_options.closing_client(HubClient(address, entry)).ask("GET", "/api/me")
    name = str(me.get("name", "")) if isinstance(me, dict) else ""
    save_login(config_folder(), address, HubEntry(entry.token, name, insecure))
    say_line(f"Signed in to {address.url} as {name or 'nobody in particular'}.")


@click.command("logout")
@click.argument("url", default="")
@click.option("--all", "every", is_flag=True, help="Sign out of every hub.")
def logout_command(url: str, every: bool) -> None:
    """Sign out of a hub: its token is forgotten here.

    \b
    unspool logout                        of the hub that is meant where none is named
    unspool logout https://hub.example    of this one
    unspool logout --all                  of every one

    The token itself still holds; whoever has the right to revokes it on the hub.
    """
    from unspool.hub_client.login import forget_login, load_hubs

    named = "" if every else url or load_hubs(config_folder()).usual
    gone = forget_login(config_folder(), named) if named or every else []
    if not gone:
        raise NotFound(f"You are not signed in to {named or 'any hub'}.")
    for address in gone:
        say_line(f"Signed out of {address}.")


_HUB = click.option("--hub", "url", default="", metavar="URL", help="The hub.  [default: the one signed in to last]")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("shares", invoke_without_command=True)
@click.pass_context
def shares_command(ctx: click.Context) -> None:
    """List what you share through a hub; change or delete it.

    \b
    unspool shares                                      what you share, newest first
    unspool shares list --json
    unspool shares update ADDRESS --expires 7d          end it in a week
    unspool shares update ADDRESS --password-file -     ask for a password from now on
    unspool shares delete ADDRESS                       end it now, for good

    An ADDRESS is the end of a link, or the link. `unspool share SESSION --hub` makes one; with --update ADDRESS it
    shows something else at the same address.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@shares_command.command("list")
@_HUB
@_JSON
def list_(url: str = "", as_json: bool = False) -> None:
    """List what you share, newest first."""
    from unspool.hub_client.client import list_shares

    shares = list(list_shares(hub_options.hub_client(url)))
    if as_json:
        print_json(shares)
        return
    if not shares:
        say_line("You share nothing here.")
        return

    columns = [
        Column("created", [_day(one.created) for one in shares], right=False, rank=2),
        Column("title", [one.title or "–" for one in shares], right=False, least=12),
        Column("state", [_share_state(one) for one in shares], right=False, rank=1),
        Column("link", [one.url for one in shares], right=False),
    ]
    print_table(columns)


@shares_command.command("delete")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...")
@_HUB
def delete_(addresses: tuple[str, ...], url: str) -> None:
    """End shares now; what they showed is removed from the hub."""
    from unspool.hub_client.client import delete_share, share_name

    names = [share_name(one) for one in addresses]
    client = hub_options.hub_client(url)
    for name in names:
        delete_share(client, name)
        say_line(f"{name} is deleted.")


@shares_command.command("update")
@click.argument("address")
@click.option("--title", metavar="TEXT", help="What it is called; empty for the session's own title.")
@click.option("--password-file", metavar="FILE", help="Ask for the password in its first line; -: typed.")
@click.option("--no-password", is_flag=True, help="Ask for no password any more.")
@click.option("--expires", metavar="WHEN", help="When it ends: 12h, 7d, 2030-01-31, never.")
@click.option("--raw/--no-raw", default=None, help="Whether the session itself can be downloaded.")
@click.option("--listed/--unlisted", default=None, help="Whether everybody of the hub finds it.")
@_HUB
@_JSON
def update_(address: str, url: str, as_json: bool, **given: Any) -> None:
    """Change how a share is shown; what it shows stays."""
    from unspool.hub_client.client import UploadOptions, change_share, share_name

    password_file, no_password = given.pop("password_file"), given.pop("no_password")
    if password_file and no_password:
        raise UsageProblem("--password-file and --no-password contradict each other.")
    password = "" if no_password else None
    if password_file:
        password = hub_options.read_new_password(password_file)
    changes = UploadOptions(**given, password=password)
    if not changes.given():
        raise UsageProblem("Say what is to change: --title, --password-file, --expires, --raw or --listed.")
    shared = change_share(hub_options.hub_client(url), share_name(address), changes)
    print_result(shared, [shared.url], as_json=as_json)
    if not as_json:
        say_line(_share_state(shared), err=True)


def _share_state(one: "UploadedShare") -> str:
    if one.state != "live":
        return one.state
    ends = f"until {_day(one.expires)}" if one.expires is not None else "live"
    parts = (ends, "password" if one.password else "", "download" if one.raw else "", "listed" if one.listed else "")
    return human.joined(*parts)


def _day(moment: int) -> str:
    return human.minute(datetime.fromtimestamp(moment / 1000, UTC))


_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}
_LISTED = 12


def _parse_rate(_: click.Context, __: click.Parameter, value: str) -> int:
    found = re.fullmatch(r"(\d{1,9})([KMG]?)", value.strip().upper())
    if value and (found is None or not int(found[1])):
        raise click.BadParameter(f"{value!r} is no rate, such as 500K or 2M (bytes a second).")
    return int(found[1]) * _UNITS[found[2]] if found else 0


@click.command("push")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--project", "chosen", multiple=True, metavar="NAME=FOLDER", help="Push what ran in this folder, now and later."
)
@click.option("--no-project", "gone", multiple=True, metavar="NAME", help="Push nothing more to this project.")
@click.option("--hub", "url", default="", metavar="URL", help="The hub; else UNSPOOL_HUB, else the last signed in to.")
@click.option(
    "--limit-rate", "rate", default="", callback=_parse_rate, metavar="RATE", help="Bytes a second: 500K, 2M."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only tell what would leave, and what would be replaced in it.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@options.sources
def push_command(sessions: tuple[str, ...], url: str, rate: int, library: "Library", **given: Any) -> None:
    """Push your sessions to the archive of your team.

    \b
    unspool push --project website=~/src/website   what ran in this folder goes to the project website
    unspool push                                   all that is new of the folders chosen so
    unspool push --dry-run                         what would leave, and what would be replaced in it
    unspool push 3f2a --limit-rate 500K            one session, slowly
    unspool push --yes                             for a timer: asks nothing
    unspool push --no-project website              nothing more from now on; what was pushed stays

    Only folders that you chose are pushed, and only what the hub lacks is sent: the rest of a session that went on,
    nothing of one that did not. Before anything leaves, secrets, names and words are replaced as the team's policy
    says, each by the same name every time; which stands for what never leaves this machine. The hub looks again, and
    refuses a session in which it still finds something. A push that was interrupted goes on where it was.
    """
    from unspool.hub_client.prepare import naming_key
    from unspool.hub_client.push import Pusher, PushMemory, push_tasks

    client, place = hub_options.hub_client(url, rate), config_folder() / "push"
    new, gone = given.pop("chosen"), given.pop("gone")
    dry_run, yes, as_json = given["dry_run"], given["yes"], given["as_json"]
    choices = _choices(client, new, gone)
    pusher = Pusher(client, library, PushMemory(place, client.url), naming_key(place))
    todo = push_tasks(library, choices, sessions)
    fresh = pusher.changed(todo)
    rehearsed = [] if yes and not dry_run else _work("Looking through", fresh, pusher.rehearse)
    if dry_run:
        _tell_pushed(rehearsed, len(todo), dry_run=True, as_json=as_json)
        return
    if fresh and not yes:
        _ask_to_push(rehearsed, client.url)
    _tell_pushed(_work("Pushing", fresh, pusher.push, quiet=as_json), len(todo), dry_run=False, as_json=as_json)


def _choices(client: "HubClient", chosen: tuple[str, ...], gone: tuple[str, ...]) -> "Folders":
    """What is pushed, with what was chosen just now; a project that the hub does not have is made there."""
    from unspool.hub_client import login
    from unspool.hub_client.push import project_exists

    place, url = config_folder() / "push", client.url
    for one in chosen:
        project, where = login.parse_folder_choice(one)
        if not project_exists(client, project):
            client.ask("POST", "/api/projects", {"name": project})
            say_line(f"Made the project {project} on {url}.", err=True)
        login.choose_folder(place, url, project, where)
    for name in gone:
        login.forget_project(place, url, name)
    found = login.chosen_folders(place, url)
    if not found and not gone:
        raise UsageProblem("Nothing is chosen to be pushed: unspool push --project NAME=FOLDER says what goes where.")
    return found


def _work(
    what: str, tasks: "Sequence[PushTask]", work: "Callable[[PushTask], PushResult]", *, quiet: bool = False
) -> "list[PushResult]":
    """What comes of each task, with a bar on standard error where it is a terminal."""
    size, done = sum(task.found.total_size for task in tasks), []
    with progress_bar(what, quiet=quiet or not tasks) as advance:
        for task in tasks:
            done.append(work(task))
            advance(task.found.total_size, size)
    return done


def _ask_to_push(rehearsed: "Sequence[PushResult]", url: str) -> None:
    """Have a person see what leaves; click.Abort where they would rather not."""
    if not is_interactive():
        raise UsageProblem(
            "Nothing was pushed: there is no terminal to show what leaves on. --dry-run tells, --yes pushes it."
        )
    for line in [*_listed(rehearsed), *_replaced(rehearsed)]:
        say_line(line, err=True)
    click.confirm(f"Push {len(rehearsed):,} to {url}?", abort=True, err=True)


def _tell_pushed(done: "Sequence[PushResult]", all_: int, *, dry_run: bool, as_json: bool) -> None:
    refused = [one for one in done if one.outcome == "refused"]
    shown = _listed(done) if dry_run else [f"  {one.session}  {one.reason}" for one in refused]
    lines = [*shown, *_replaced(done), _summed(done, all_, dry_run=dry_run)]
    print_result({"sessions": all_, "pushed": list(map(_push_data, done))}, lines, as_json=as_json)
    if refused:
        raise Declined(f"{len(refused):,} of {len(done):,} sessions were refused; nothing of them was kept.")


def _summed(done: "Sequence[PushResult]", all_: int, *, dry_run: bool) -> str:
    counts = Counter(one.outcome for one in done)
    size = human.size(sum(one.sent for one in done))
    if dry_run:
        return f"{human.count(counts['new'], 'session')} of {all_:,} would be pushed, {size} before they are packed."
    new = human.count(counts["pushed"], "session")
    return f"Pushed {new} of {all_:,}, {size} sent." if done else f"Nothing new in {human.count(all_, 'session')}."


def _listed(done: "Sequence[PushResult]") -> list[str]:
    lines = [f"  {one.session}  {one.project}  {human.size(one.sent)}" for one in done[:_LISTED]]
    return [*lines, f"  and {len(done) - _LISTED:,} more"] if len(done) > _LISTED else lines


def _replaced(done: "Sequence[PushResult]") -> list[str]:
    """What is replaced in what leaves, by rule, and what is left out."""
    counts, left = Counter[tuple[str, str]](), 0
    for one in done:
        if one.prepared is not None:
            counts += one.prepared.replaced
            left += len(one.prepared.left_out)
    lines = [
        f"  {rule} ({kind}): {human.count(count, 'place')} replaced" for (kind, rule), count in counts.most_common()
    ]
    lines += [f"  {human.count(left, 'file')} left out: no text"] if left else []
    rules = {one.prepared.rules for one in done if one.prepared is not None}
    return [*lines, f"  redacted by rules {', '.join(sorted(rules))}"] if rules else lines


def _push_data(one: "PushResult") -> dict[str, Any]:
    prepared = one.prepared
    return {
        **{name: value for name, value in one._asdict().items() if name != "prepared"},
        "replaced": {rule: count for (_, rule), count in prepared.replaced.items()} if prepared else {},
        "left_out": list(prepared.left_out) if prepared else [],
        "rules": prepared.rules if prepared else "",
    }
