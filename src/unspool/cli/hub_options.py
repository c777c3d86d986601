"""What commands about a hub share: its store, its client, lists and reports."""

import getpass
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

import click

from unspool import human
from unspool.cli import options
from unspool.cli.options import Command, Decorator, as_argument, with_options
from unspool.cli.output import Column, print_json, print_table, say_line
from unspool.config import config_folder
from unspool.errors import NotFound, UnspoolError, UsageProblem
from unspool.files import scratch_folder

if TYPE_CHECKING:
    from unspool.agents import FoundLog
    from unspool.hub.people.operations import Actor, Done
    from unspool.hub.store.connect import Store, StorePlace
    from unspool.hub_client.client import HubClient, UploadedShare
    from unspool.hub_client.follow import FollowedLog
    from unspool.share.choices import ShareSettings
    from unspool.share.prepare import PreparedShare
    from unspool.store.library import Library

_Args = ParamSpec("_Args")


def hub_client(url: str = "", rate: int = 0) -> "HubClient":
    """The hub that is meant, asked by whoever is signed in there; it sends `rate` bytes a second at most."""
    from unspool.hub_client.client import HubClient
    from unspool.hub_client.login import choose_hub, require_login

    login = require_login(choose_hub(config_folder(), url))
    return closing_client(HubClient(login.address, login.entry, rate=rate))


def closing_client(client: "HubClient") -> "HubClient":
    """The same, whose connection ends with the command."""
    click.get_current_context().call_on_close(client.close)
    return client


def read_new_password(file: str) -> str:
    """The password that a share is given; one that is typed is typed twice."""
    from unspool.hub_client.client import SHORTEST_PASSWORD

    password = options.read_secret(file, "Password of the share", twice=True)
    if len(password) < SHORTEST_PASSWORD:
        raise UsageProblem(f"A password has {SHORTEST_PASSWORD} characters or more.")
    return password


_USUAL = "-"
SHARE_OPTIONS = [
    click.option(
        "--hub", is_flag=False, flag_value=_USUAL, metavar="[URL]", help="Show it on a hub; the one signed in to last."
    ),
    click.option("--password-file", metavar="FILE", help="With --hub: ask readers for its first line; -: typed."),
    click.option("--expires", metavar="WHEN", help="With --hub: when it ends, such as 12h, 7d, 2030-01-31."),
    click.option("--raw/--no-raw", default=None, help="With --hub: whether the session can be downloaded."),
    click.option("--listed/--unlisted", default=None, help="With --hub: whether all of the hub find it."),
    click.option("--update", default="", metavar="ADDRESS", help="With --hub: in place of what is there."),
    click.option("--follow", is_flag=True, help="With --hub: send what is added to it, too, until Ctrl-C or its end."),
]


class HubTarget(NamedTuple):
    hub: str | None
    password_file: str | None
    expires: str | None
    raw: bool | None
    listed: bool | None
    update: str
    follow: bool

    @property
    def url(self) -> str:
        """The hub that is named; empty for the usual one."""
        return "" if self.hub in (None, _USUAL) else str(self.hub)

    def check(self, form: str | None) -> None:
        """UsageProblem where it cannot be shown like that."""
        if self.hub is None and (self.follow or any(value not in (None, "") for value in self[1:-1])):
            raise UsageProblem(
                "--password-file, --expires, --raw, --listed, --update and --follow say how a hub shows it: add --hub."
            )
        if self.hub is not None and form is not None:
            raise UsageProblem(f"--hub and --{form} are two shares: make them one after the other.")
        if self.update:
            from unspool.hub_client.client import share_name

            share_name(self.update)


def hub_sender(placed: HubTarget) -> "Callable[[PreparedShare], UploadedShare]":
    """Sends a share to the hub that is meant, and once more to the same address whenever it is asked again.

    The hub is asked before anything is judged: nobody works in vain for one that does not let them in.
    """
    from unspool.hub_client.client import UploadOptions, upload_share
    from unspool.share.publish import write_bundle

    client = hub_client(placed.url)
    client.ask("GET", "/api/me")
    file = placed.password_file
    password = read_new_password(file) if file else None
    shown = UploadOptions(password=password, expires=placed.expires, raw=placed.raw, listed=placed.listed)

    address = placed.update

    def send(share: "PreparedShare") -> "UploadedShare":
        nonlocal address, shown
        with scratch_folder() as folder:
            sent = upload_share(client, write_bundle(share, folder / "bundle.tar.gz"), shown, address)
        address, shown = sent.address, UploadOptions()
        return sent

    return send


def followed_log(library: "Library", named: "str | FoundLog") -> "FollowedLog":
    """The log of a session that can be followed; UsageProblem where it is not where its agent adds to it."""
    from unspool.hub_client.follow import FollowedLog, log_state

    at_home = not isinstance(named, str) and any(log.path == named.path for log in library.logs())
    if isinstance(named, str) or named.origin or not at_home or not Path(named.path).is_file():
        raise UsageProblem("--follow is for a session whose log lies on this machine, where its agent adds to it.")
    return FollowedLog(named, log_state(named))


def follow_share(
    library: "Library",
    log: "FollowedLog",
    names: "Sequence[str | FoundLog]",
    wanted: "ShareSettings",
    send: "Callable[[PreparedShare], UploadedShare]",
) -> None:
    """Send what is added to the log of the first of some sessions, as it was first shared, until Ctrl-C or its end."""
    from unspool.errors import Declined, NotAllowed
    from unspool.hub_client.follow import follow_log
    from unspool.share.prepare import prepare_shares
    from unspool.store.sync.lock import Stopped, StopSignal

    stop = StopSignal()

    def say(text: str) -> None:
        say_line(f"{datetime.now().astimezone():%H:%M:%S}  {text}", err=True)

    def send_again() -> bool:
        library.refresh()
        fresh = [one if isinstance(one, str) else library.find(one.name) for one in names]
        try:
            with stop.busy(), prepare_shares(library, fresh, wanted) as share:
                say(f"version {send(share).version} is shown")
        except (NotFound, NotAllowed):  # it was ended, or may not be changed any more
            raise
        except UnspoolError as error:
            say(f"not sent: {error}")
            return isinstance(error, Declined)  # the same would be declined again
        return True

    say("Following the session; Ctrl-C ends that, and what is shown stays.")
    with stop.heeding(), suppress(Stopped):
        if why := follow_log(log, send_again, stop):
            say(why)


class PlaceOptions(NamedTuple):
    """What the command line and the environment say; a group's own counts for its commands that say nothing."""

    data: Path | None
    database: str
    objects: str

    def place(self) -> "StorePlace":
        """Where a hub keeps things; its folder is unspool's in the user's data folder where none is named."""
        from unspool.hub.store.connect import StorePlace

        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        return StorePlace((self.data or Path(base) / "unspool" / "hub").absolute(), self.database, self.objects)


def _chosen_place(**given: Any) -> "StorePlace":
    own = PlaceOptions(**given)
    return (own if any(own) else click.get_current_context().find_object(PlaceOptions) or own).place()


@contextmanager
def closing_store(store: "Store") -> "Iterator[Store]":
    try:
        yield store
    finally:
        store.db.close()


def _existing_store(**given: Any) -> "Store":
    """The store of a hub that is there, open while the command runs: a wrong path must not make a new hub."""
    from unspool.hub.store.connect import open_store

    return click.get_current_context().with_resource(closing_store(open_store(_chosen_place(**given), new=False)))


_PLACE = (
    click.option(
        "--data", type=options.FOLDER, metavar="DIR", envvar="UNSPOOL_HUB_DATA",
        help="The hub's folder.",
    ),
    click.option(
        "--database", default="", metavar="URL", envvar="UNSPOOL_HUB_DATABASE",
        help="postgresql://…, instead of a file in the folder.",
    ),
    click.option(
        "--objects", default="", metavar="URL", envvar="UNSPOOL_HUB_OBJECTS",
        help="s3://bucket/prefix?endpoint=…, instead of the folder.",
    ),
)  # fmt: skip
place_options = as_argument("place", _chosen_place, *_PLACE)
store_options = as_argument("store", _existing_store, *_PLACE)
ANY_ADDRESS = {"ignore_unknown_options": True}
"""For commands that take a share's address, which may begin with a hyphen."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
everything = click.option("--all", "everything", is_flag=True, help="Also what has ended.")
agreed = click.option("--yes", is_flag=True, help="Do it without asking.")


def operator(store: "Store", url: str = "") -> "Actor":
    """Whoever works on the store itself: they may do everything, and the audit log says who it was."""
    from unspool.hub.people.operations import Actor
    from unspool.hub.people.users import Person

    person = Person("", f"{getpass.getuser()} at the command line", admin=True, by="command")
    return Actor(store.db, person, by_name=True, url=url)


def write_audit(at: "Actor", act: str, target: str, outcome: str = "done", detail: Any = None) -> None:
    from unspool.hub.people import audit

    audit.write_audit(at.db, at.person, act, target, outcome, detail)


def run_audited(
    at: "Actor", operation: "Callable[Concatenate[Actor, _Args], Done]", *args: _Args.args, **named: _Args.kwargs
) -> "Done":
    """Run an operation and write it down, or neither."""
    from unspool.hub.people.operations import ACTS

    with at.db.transaction():
        done = operation(at, *args, **named)
        write_audit(at, ACTS[operation], done.target, detail=done.detail)
    return done


def row_time(value: int | None, never: str = "") -> str:
    return never if value is None else human.minute(datetime.fromtimestamp(value / 1000, UTC))


ListedRow = tuple[dict[str, Any], tuple[str, ...]]
"""A row of a list as JSON has it, and its cells as a table shows them."""


def listing(key: str, heads: Sequence[str], none: str) -> Decorator:
    """A command of rows of a store, printed as JSON under `key` or as a table; `none` is said where there are none."""

    def decorate(rows: Callable[..., Iterator[ListedRow]]) -> Command:
        @wraps(rows)
        def run(as_json: bool, **given: Any) -> None:
            found = list(rows(**given))
            if as_json:
                print_json({key: [data for data, _ in found]})
            elif not found:
                click.echo(none)
            else:
                cells = zip(*(cells for _, cells in found), strict=True)
                print_table([Column(head, some, right=False, least=8) for head, some in zip(heads, cells, strict=True)])

        return with_options(run, (as_json, store_options))

    return decorate
