"""`unspool hub`: the place where shares live and where a team keeps its sessions."""

import signal
from typing import TYPE_CHECKING, Any

import click

from unspool.cli.group import LazyGroup
from unspool.cli.hub_options import PlaceOptions, place_options
from unspool.cli.options import read_secret
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.hub.routes import HubSettings
    from unspool.hub.store.connect import StorePlace

HUB_COMMANDS: tuple[tuple[str, str], ...] = (
    ("people", "Tell who there is; add people and services, and revoke their access."),
    ("invite", "Invite people by a link that works once."),
    ("token", "Make, list and revoke tokens."),
    ("team", "Make teams, and put people into them."),
    ("project", "Make projects, and give rights on them."),
    ("policy", "Tell or change what must not come in."),
    ("audit", "Tell who read, wrote and deleted what."),
    ("hold", "Keep things as they are, for a legal hold."),
    ("erase", "Erase something for good, and prove that it is gone."),
    ("backup", "Save all of a hub to a folder, while it runs."),
    ("restore", "Bring a hub back from a backup."),
    ("move", "Move a hub from a folder to servers, or back."),
    ("verify", "Read everything that a hub keeps, and prove it."),
    ("tidy", "Remove what nothing refers to."),
)
"""Name and help line of every command that cares for a hub."""

_HOMES = {
    **dict.fromkeys(("people", "invite", "token", "team", "project", "hold"), "hub_people"),
    **dict.fromkeys(("policy", "audit", "erase"), "hub_admin"),
    **dict.fromkeys(("backup", "restore", "move", "verify", "tidy"), "hub_store"),
}
"""The module `HOME_cmd` that holds each command, called NAME_command there."""
_MB = 1024 * 1024
_SECRET = 16
"""Characters of a proxy's secret."""


@click.group("hub", cls=LazyGroup, lines=HUB_COMMANDS, homes=_HOMES, invoke_without_command=True)
@click.option("--host", default="127.0.0.1", metavar="HOST", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="The port.  [default: 8750]")
@click.option("--url", default="", envvar="UNSPOOL_HUB_URL", metavar="URL", help="Where people reach it.")
@click.option("--identity-header", "header", default="", metavar="NAME", help="Believe this header of a reverse proxy.")
@click.option("--proxy", "proxies", multiple=True, metavar="NET", help="Believe reverse proxies there: 10.0.0.0/8.")
@click.option("--proxy-secret-file", metavar="FILE", help="They show its first line in Proxy-Secret.")
@click.option("--max-upload", "upload", default=512, metavar="MB", help="Of one upload.  [default: 512]")
@click.option("--quota", default=20_480, metavar="MB", help="That a person may keep.  [default: 20480]")
@click.option("--an-hour", default=100_000, metavar="N", help="Requests of one person.  [default: 100000]")
@click.option("--open-shares", is_flag=True, help="Let anybody upload a share.")
@click.option("--no-door", is_flag=True, help="Take in what holds secrets, too.")
@click.option("-q", "--quiet", is_flag=True, help="No line for every request.")
@place_options
@click.pass_context
def command(ctx: click.Context, /, place: "StorePlace", host: str, port: int | None, quiet: bool, **given: Any) -> None:
    """Run the hub of a team: shares, and an archive of everybody's sessions.

    \b
    unspool hub                                     on this machine, in its own folder
    unspool hub --host 0.0.0.0 --port 8750 --url https://hub.example
    unspool hub --database postgresql://… --objects s3://…    one of many, on what exists
    unspool hub people list                         who there is

    At the first start it prints the owner's token, this once: `unspool login URL` asks for it. Until --host lets
    others reach it, only this machine does; put a server that speaks TLS before it. SIGTERM ends it when what has
    begun is done.
    """
    if ctx.invoked_subcommand is not None:
        ctx.obj = PlaceOptions(place.folder, place.database, place.bucket)
        return
    from unspool.hub.server import HubOptions, run

    if run(HubOptions(place, _settings(**given), host, port, quiet), click.echo) == signal.SIGINT:
        raise KeyboardInterrupt


def _settings(url: str, header: str, proxies: tuple[str, ...], no_door: bool, **given: Any) -> "HubSettings":
    from ipaddress import ip_address, ip_network

    from unspool.hub.routes import HubSettings

    try:
        nets = tuple(ip_network(net) for net in proxies)
    except ValueError as error:
        raise UsageProblem(f"--proxy wants a network such as 10.0.0.0/8: {error}.") from None
    if header and not nets:
        raise UsageProblem("--identity-header needs --proxy: a header is believed from somewhere.")
    file = given.pop("proxy_secret_file")
    secret = read_secret(file, "Secret of the proxy") if file else ""
    local = any(ip_address(one) in net for net in nets for one in ("127.0.0.1", "::1"))
    if (file and len(secret) < _SECRET) or (header and local and not secret):
        raise UsageProblem(
            "--proxy names this machine, where every program could say in the identity header that it is anybody: have"
            f" the proxy send a secret of {_SECRET} characters or more in the header Proxy-Secret, and name a file with"
            " it: --proxy-secret-file FILE."
        )
    if header and not url:
        click.echo("Without --url, whom the proxy vouches for is let in by an address or localhost alone.", err=True)
    sizes = {name: given.pop(name) * _MB for name in ("upload", "quota")}
    return HubSettings(url.rstrip("/"), header, nets, secret, door=not no_door, **sizes, **given)
