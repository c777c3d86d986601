"""`unspool web`: sessions that the agent's maker keeps, fetched and made into pages."""

from collections.abc import Sequence

import click

from unspool import human
from unspool.cli import chosen
from unspool.cli.making import Making, make, making_options
from unspool.cli.picker import Choice, pick
from unspool.errors import NotFound
from unspool.export.inert import one_line
from unspool.formats.remote import Account, RemoteSession, connect
from unspool.library import read_stream
from unspool.library.scratch import scratch
from unspool.prices import PriceTable
from unspool.site.address import slug


@click.command("web")
@click.argument("session", required=False, metavar="[ID]")
@click.option("--token", default="", metavar="TOKEN", help="Access token; better in UNSPOOL_WEB_TOKEN.")
@click.option("--org-uuid", default="", metavar="UUID", help="Organisation; or UNSPOOL_WEB_ORGANIZATION.")
@click.option("--base-url", default="", metavar="URL", help="The service's address; or UNSPOOL_WEB_URL.")
@click.option("--limit", type=click.IntRange(min=1), help="Offer at most so many; all on a terminal, else 10.")
@making_options
def command(session: str | None, token: str, org_uuid: str, base_url: str, limit: int | None, making: Making) -> None:
    """Make a web page of a session that is kept on the web.

    For Claude Code on the web. Without an ID your sessions are listed to choose from; --repo OWNER/NAME lists
    only those of a repository.

    \b
    Token          --token, UNSPOOL_WEB_TOKEN, CLAUDE_CODE_OAUTH_TOKEN, or the macOS keychain
    Organisation   --org-uuid, UNSPOOL_WEB_ORGANIZATION, or .claude.json

    The service is not documented and changes; what it answers is checked, and a change is told as such.
    """
    remote = connect(Account(token, org_uuid, base_url))
    picked = session or _picked(list(remote.sessions()), making.site.repository, limit)
    if not picked:
        click.echo("No session selected.", err=True)
        return
    with scratch() as folder:
        log = folder / f"{slug(picked)}.jsonl"
        log.write_bytes(remote.log(picked))
        make(read_stream(str(log)), making, PriceTable.load(chosen.prices()), log)


def _picked(listed: Sequence[RemoteSession], repository: str, limit: int | None) -> str:
    """The id of the session that a person picks; empty where none is picked."""
    wanted = repository.removeprefix("https://github.com/").casefold()
    offered = [one for one in listed if wanted in one.repository.casefold()]
    if not offered:
        raise NotFound(f"No session of {repository} is there." if listed and repository else "No sessions are there.")
    at = pick([_choice(one) for one in offered], limit)
    return offered[at].id if at is not None else ""


def _choice(one: RemoteSession) -> Choice:
    when = one.updated or one.created
    shown = human.minute(when, chosen.zone())
    return Choice((shown, one_line(one.repository)[:30] or "(no repository)", one_line(one.status)[:10]), one.title)
