"""`unspool share --hub`: a session sent to a hub, which shows it."""

from typing import TYPE_CHECKING, NamedTuple

import click

from unspool.cli import hubs, typed
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.remote.http import Client
    from unspool.remote.shares import Options
    from unspool.share.prepare import Share

_USUAL = "-"
OPTIONS = [
    click.option(
        "--hub", is_flag=False, flag_value=_USUAL, metavar="[URL]", help="Show it on a hub; the one signed in to last."
    ),
    click.option("--password-file", metavar="FILE", help="With --hub: ask readers for its first line; -: typed."),
    click.option("--expires", metavar="WHEN", help="With --hub: when it ends, such as 12h, 7d, 2030-01-31."),
    click.option("--raw/--no-raw", default=None, help="With --hub: whether the session can be downloaded."),
    click.option("--listed/--unlisted", default=None, help="With --hub: whether all of the hub find it."),
    click.option("--update", default="", metavar="ADDRESS", help="With --hub: in place of what is there."),
]


class Placed(NamedTuple):
    """How a hub is to show it."""

    hub: str | None
    password_file: str | None
    expires: str | None
    raw: bool | None
    listed: bool | None
    update: str

    @property
    def url(self) -> str:
        """The hub that is named; empty for the usual one."""
        return "" if self.hub in (None, _USUAL) else str(self.hub)

    def checked(self, form: str | None) -> "Placed":
        """The same; UsageProblem where it cannot be."""
        if self.hub is None and any(value not in (None, "") for value in self[1:]):
            raise UsageProblem(
                "--password-file, --expires, --raw, --listed and --update say how a hub shows it: add --hub."
            )
        if self.hub is not None and form is not None:
            raise UsageProblem(f"--hub and --{form} are two shares: make them one after the other.")
        if self.update:
            from unspool.remote.shares import named

            named(self.update)
        return self


class Sending(NamedTuple):
    """A hub that is ready to be sent something."""

    client: "Client"
    options: "Options"
    update: str

    def sent(self, share: "Share") -> list[str]:
        """Send it; where it is."""
        from unspool.library.scratch import scratch
        from unspool.remote.shares import upload
        from unspool.share.bundle import write_bundle

        with scratch() as folder:
            bundle = write_bundle(share, folder / "bundle.tar.gz")
            return [upload(self.client, bundle, self.options, self.update).url]


def sending(placed: Placed) -> Sending:
    """The hub that is meant, before anything is judged: nobody works in vain for one that does not let them in."""
    from unspool.remote.shares import Options

    client = hubs.client(placed.url)
    client.ask("GET", "/api/me")
    password = typed.secret(placed.password_file, "Password of the share", twice=True) if placed.password_file else None
    options = Options(password=password, expires=placed.expires, raw=placed.raw, listed=placed.listed)
    return Sending(client, options, placed.update)
