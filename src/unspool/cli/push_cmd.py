"""`unspool push`: one's sessions into the archive of a team."""

import re
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import hub_options, options
from unspool.cli.output import print_json, say_line
from unspool.errors import Declined, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unspool.hub_client.client import HubClient
    from unspool.hub_client.login import Folders
    from unspool.hub_client.push import Pusher, PushResult, PushTask
    from unspool.store.library import Library

_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}
_LISTED = 12


def _rate(_: click.Context, __: click.Parameter, value: str) -> int:
    """500K, 2M: bytes a second."""
    found = re.fullmatch(r"(\d{1,9})([KMG]?)", value.strip().upper())
    if value and (found is None or not int(found[1])):
        raise click.BadParameter(f"{value!r} is no rate, such as 500K or 2M (bytes a second).")
    return int(found[1]) * _UNITS[found[2]] if found else 0


class PushManner(NamedTuple):
    dry_run: bool
    yes: bool
    as_json: bool


@click.command("push")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--project", "chosen", multiple=True, metavar="NAME=FOLDER", help="Push what ran in this folder, now and later."
)
@click.option("--no-project", "gone", multiple=True, metavar="NAME", help="Push nothing more to this project.")
@click.option("--hub", "url", default="", metavar="URL", help="The hub; else UNSPOOL_HUB, else the last signed in to.")
@click.option("--limit-rate", "rate", default="", callback=_rate, metavar="RATE", help="Bytes a second: 500K, 2M.")
@click.option("-n", "--dry-run", is_flag=True, help="Only tell what would leave, and what would be replaced in it.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@options.sources
def command(sessions: tuple[str, ...], url: str, rate: int, library: "Library", **given: Any) -> None:
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
    from unspool.config import config_folder
    from unspool.hub_client.prepare import naming_key
    from unspool.hub_client.push import Pusher, PushMemory, push_tasks

    client, place = hub_options.hub_client(url, rate), config_folder() / "push"
    new, gone = given.pop("chosen"), given.pop("gone")
    manner = PushManner(**given)
    choices = _choices(client, new, gone)
    pusher = Pusher(client, library, PushMemory(place, client.url), naming_key(place))
    todo = push_tasks(library, choices, sessions)
    fresh = pusher.changed(todo)
    rehearsed = [] if manner.yes and not manner.dry_run else _rehearsed(pusher, fresh)
    if manner.dry_run:
        _tell(rehearsed, len(todo), manner)
        return
    if fresh and not manner.yes:
        _ask(rehearsed, client.url)
    _tell(_pushed(pusher, fresh, quiet=manner.as_json), len(todo), manner)


def _choices(client: "HubClient", chosen: tuple[str, ...], gone: tuple[str, ...]) -> "Folders":
    """What is pushed, with what was chosen just now; a project that the hub does not have is made there."""
    from unspool.config import config_folder
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


def _rehearsed(pusher: "Pusher", fresh: "Sequence[PushTask]") -> "list[PushResult]":
    from unspool.hub_client.push import PushResult

    with _bar("Looking through", fresh, quiet=False) as told:
        made = []
        for task in fresh:
            found = pusher.rehearse(task)
            made.append(PushResult(found.key, task.project, "new", found.size, prepared=found))
            told(task.found.total_size)
        return made


def _pushed(pusher: "Pusher", fresh: "Sequence[PushTask]", *, quiet: bool) -> "list[PushResult]":
    with _bar("Pushing", fresh, quiet=quiet) as told:
        done = []
        for task in fresh:
            done.append(pusher.push(task))
            told(task.found.total_size)
        return done


def _ask(rehearsed: "Sequence[PushResult]", url: str) -> None:
    """Have a person see what leaves; click.Abort where they would rather not."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageProblem(
            "Nothing was pushed: there is no terminal to show what leaves on. --dry-run tells, --yes pushes it."
        )
    for line in [*_listed(rehearsed), *_replaced(rehearsed)]:
        say_line(line, err=True)
    click.confirm(f"Push {len(rehearsed):,} to {url}?", abort=True, err=True)


def _tell(done: "Sequence[PushResult]", all_: int, manner: PushManner) -> None:
    refused = [one for one in done if one.outcome == "refused"]
    if manner.as_json:
        print_json(_data(done, all_))
    else:
        shown = _listed(done) if manner.dry_run else [f"  {one.session}  {one.reason}" for one in refused]
        for line in [*shown, *_replaced(done), _summed(done, all_, manner)]:
            say_line(line)
    if refused:
        raise Declined(f"{len(refused):,} of {len(done):,} sessions were refused; nothing of them was kept.")


def _summed(done: "Sequence[PushResult]", all_: int, manner: PushManner) -> str:
    from unspool import human

    counts = Counter(one.outcome for one in done)
    size = human.size(sum(one.sent for one in done))
    if manner.dry_run:
        return f"{human.count(counts['new'], 'session')} of {all_:,} would be pushed, {size} before they are packed."
    new = human.count(counts["pushed"], "session")
    return f"Pushed {new} of {all_:,}, {size} sent." if done else f"Nothing new in {human.count(all_, 'session')}."


def _listed(done: "Sequence[PushResult]") -> list[str]:
    from unspool import human

    lines = [f"  {one.session}  {one.project}  {human.size(one.sent)}" for one in done[:_LISTED]]
    return [*lines, f"  and {len(done) - _LISTED:,} more"] if len(done) > _LISTED else lines


def _replaced(done: "Sequence[PushResult]") -> list[str]:
    """What is replaced in what leaves, by rule, and what is left out."""
    from unspool import human

    counts, left = Counter[tuple[str, str]](), 0
    for one in done:
        if one.prepared is not None:
            counts += one.prepared.replaced
            left += len(one.prepared.left_out)
    lines = [
        f"  {rule} ({kind}): {human.count(count, 'place')} replaced" for (kind, rule), count in counts.most_common()
    ]
    return [*lines, f"  {human.count(left, 'file')} left out: no text"] if left else lines


def _data(done: "Sequence[PushResult]", all_: int) -> dict[str, Any]:
    return {
        "sessions": all_,
        "pushed": [
            {
                **{name: value for name, value in one._asdict().items() if name != "prepared"},
                "replaced": _counts(one),
                "left_out": list(one.prepared.left_out) if one.prepared else [],
            }
            for one in done
        ],
    }


def _counts(one: "PushResult") -> dict[str, int]:
    return {rule: count for (_, rule), count in one.prepared.replaced.items()} if one.prepared else {}


@contextmanager
def _bar(what: str, fresh: "Sequence[PushTask]", *, quiet: bool) -> "Iterator[Callable[[int], None]]":
    """A bar on standard error, where it is a terminal."""
    if quiet or not fresh or not sys.stderr.isatty():
        yield lambda _: None
        return
    from unspool.cli.terminal import progress_bar

    whole = sum(task.found.total_size for task in fresh)
    with progress_bar(what) as advance:
        yield lambda size: advance(size, whole)
