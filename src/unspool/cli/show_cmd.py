"""`unspool show` and `export`: a session in the terminal, and sessions written as Markdown, JSON or text."""

import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click
import msgspec

from unspool.cli import options
from unspool.cli.options import check_view, view_options
from unspool.cli.output import print_nodes
from unspool.errors import NotFound, UsageProblem
from unspool.model import Session, ToolCall, Turn
from unspool.render import SessionWriter, find_writer, write
from unspool.render.json import JsonWriter
from unspool.render.markdown import MarkdownWriter
from unspool.render.sessionshare import SessionShareWriter
from unspool.render.text import TextWriter
from unspool.render.transcript import transcript_nodes
from unspool.render.view import View
from unspool.store.library import Library

_ANCHOR = re.compile(r"msg-(\d{1,15})(?:-\d+)?")


def parse_anchor(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """The milliseconds that an anchor such as msg-1774856863840 names."""
    if value is None:
        return None
    found = _ANCHOR.fullmatch(value.strip().lstrip("#"))
    if found is None:
        raise click.BadParameter(f"{value!r} is no anchor, such as msg-1774856863840.")
    return int(found[1])


def view_at(session: Session, view: View, moment: int | None) -> View:
    """The view of the turn that holds what was logged at a moment, a subagent's conversation shown where it is there.

    Where no block is of that very moment, the last turn that had begun is shown: copies of a line are told once.
    """
    if moment is None:
        return view
    place = _place(session, moment)
    called = _calling(session, moment) if place is None else None
    branch, number = place or called or (0, _begun(session, moment))
    agents = view.agents or called is not None
    return msgspec.structs.replace(view, turns=((number, number),), branch=branch, agents=agents)


def _turns(session: Session) -> Iterator[tuple[int, Turn]]:
    """Every turn, with the number of its branch."""
    yield from ((0, turn) for turn in session.turns)
    yield from ((branch.number, turn) for branch in session.branches for turn in branch.turns)


def _place(session: Session, moment: int) -> tuple[int, int] | None:
    """Branch and turn of what was logged at a moment."""
    return next(((branch, turn.number) for branch, turn in _turns(session) if moment in _moments(turn)), None)


def _moments(turn: Turn) -> Iterator[int]:
    times = [turn.prompt.time if turn.prompt is not None else None]
    for block in turn.blocks:
        times.append(block.time)
        if isinstance(block, ToolCall) and block.result is not None:
            times.append(block.result.time)
    return (_milliseconds(time) for time in times if time is not None)


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _calling(session: Session, moment: int) -> tuple[int, int] | None:
    """Branch and turn that called the subagent in whose conversation the moment is."""
    for agent in session.agents:
        if _place(agent.session, moment) is None and _calling(agent.session, moment) is None:
            continue
        for branch, turn in _turns(session):
            calls = (block for block in turn.blocks if isinstance(block, ToolCall))
            if any(call.call_id == agent.call_id or agent.id in call.agents for call in calls):
                return branch, turn.number
    return None


def _begun(session: Session, moment: int) -> int:
    """The last turn that had begun at a moment."""
    times = ((turn.number, turn.started) for turn in session.turns)
    begun = [number for number, started in times if started is not None and _milliseconds(started) <= moment]
    if not begun:
        raise NotFound(f"Session {session.id} has nothing at msg-{moment}.")
    return max(begun)


@click.command("show")
@click.argument("session", default="latest")
@view_options(whole=False)
@click.option("--at", callback=parse_anchor, metavar="ANCHOR", help="Only the turn that holds msg-1774856863840.")
@click.option("--pager/--no-pager", default=True, help="Page on a terminal, or print straight.", show_default=True)
@click.option("--width", type=click.IntRange(min=20), help="Columns to wrap at.")
@options.sources
def show_command(session: str, view: View, at: int | None, pager: bool, width: int | None, library: Library) -> None:
    """Read a session in the terminal.

    \b
    unspool show                       the latest session
    unspool show 3f2a --turn 3..7      some turns of the session whose id begins with 3f2a
    unspool show tide --no-tools       only what was said, in the session with "tide" in its title
    curl -s URL | unspool show -       a log from standard input

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL (fetched with a
    limit of 512 MB and 60 seconds; redirects and private addresses are followed as you ask), a piece of a
    title, or `latest`.
    """
    found = library.open(session)
    view = view_at(found, view, at)
    check_view(found, view)
    print_nodes(transcript_nodes(found, view), pager=pager, width=width)


_FORMATS = ("markdown", "json", "text", "session-share")
_OUTPUT = "A file, or a folder for several sessions; standard output if not given."


@click.command("export")
@click.argument("session", nargs=-1, required=True)
@click.option(
    "-f", "--format", "name", type=click.Choice(_FORMATS), help="By default what the file is called, or markdown."
)
@click.option("-o", "--output", metavar="PATH", help=_OUTPUT)
@view_options(whole=True)
@click.option("--inline-images", is_flag=True, help="Markdown: images inside the file instead of beside it.")
@options.sources
def export_command(
    session: tuple[str, ...], name: str | None, output: str | None, view: View, inline_images: bool, library: Library
) -> None:
    """Write sessions as Markdown, JSON or text.

    \b
    unspool export latest -o session.md              Markdown, images beside it
    unspool export 3f2a 77b0 -o exports/ -f json     several, one file each
    unspool export latest -f text | less             to standard output
    unspool export latest -o s.session-share.json    for session-share's viewers

    JSON holds every block, problem and figure, by the schema that `unspool schema` prints, whatever the
    other options leave out.
    """
    target = Path(output) if output not in (None, "-") else None
    if target is None and len(session) > 1:
        raise UsageProblem("Several sessions need a folder to go to: -o DIR.")
    folder = target is not None and (len(session) > 1 or target.is_dir() or str(output).endswith(("/", "\\")))
    writers: dict[str, SessionWriter] = {
        "markdown": MarkdownWriter(images="inline" if inline_images else "beside"),
        "json": JsonWriter(prices=library.prices),
        "text": TextWriter(),
        "session-share": SessionShareWriter(),
    }
    writer = writers[name or ("markdown" if target is None or folder else find_writer(target.name).name)]
    for log in [library.resolve(name) for name in session]:
        found = library.open(log)
        check_view(found, view)
        if target is None:
            write(writer, found, sys.stdout.buffer, view)
            continue
        safe = re.sub(r"[^A-Za-z0-9._-]", "_", found.id).lstrip(".") or "session"  # it leads nowhere else
        path = target / f"{safe}{writer.suffixes[0]}" if folder else target
        path.parent.mkdir(parents=True, exist_ok=True)
        write(writer, found, path, view)
        click.echo(str(path), err=True)
