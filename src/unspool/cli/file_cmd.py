"""`unspool file`: how a file changed over all sessions, from the index and the logs."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from unspool import human
from unspool.cli import fresh, options, output, settings
from unspool.cli.output import Column, cut_text, print_json, print_nodes, print_table, safe_text
from unspool.errors import NotFound
from unspool.store.index.times import utc_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unspool.doc import Diff
    from unspool.store.index.touched_files import FileSum, FileTouch, TouchPrompt
    from unspool.store.library.file_history import FileAtCall, FileHistory

_MATCHES = 50
_MOST = 1_000_000


class ListedChange(msgspec.Struct, frozen=True):
    """A change of a file, as it is printed."""

    number: int
    """Counted from 1, the oldest."""
    session: str
    title: str
    agent: str
    project: str
    subagent: str
    turn: int
    prompt: str
    time: datetime | None
    how: str
    added: int | None
    removed: int | None
    diff: Any = None


@click.command("file")
@click.argument("path")
@click.option("--at", metavar="N|TIME", help="Print the file as it stood after change N, or at a date or an age.")
@click.option("--diff", is_flag=True, help="Show the lines of each change; with --at of that one alone.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=0, help="So many changes, the newest; 0: all.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fresh.no_sync
@options.archive
def command(path: str, archive: Path, as_json: bool, no_sync: bool, **given: Any) -> None:
    """Tell how a file changed over all sessions, and which prompts led to it.

    \b
    unspool file tides.py              its changes, the newest first, like `git log`
    unspool file src/tides.py --diff   with the lines of each
    unspool file tides.py --at 3       the file as it stood after its third change
    unspool file tides.py --at 2w      as it stood two weeks ago
    unspool file tides.py --at 3 --diff

    PATH is relative to this folder, the end of a path, a part of one, or whole; where several files are meant, they
    are listed. A file is known as far as logs tell: what they do not tell is said, not guessed. What is new is kept
    first, in your usual archive (--no-sync, or the setting `sync`, leaves that out). Ends with 1 where no file or
    several are found.
    """
    fresh.keep_fresh(archive, no_sync=no_sync)
    with options.open_index(archive) as index:
        found = _chosen(index.db, path, as_json=as_json)
        history, touches = _history(index.db, archive, found.name), _touches(index.db, found.name)
        if given["at"] is not None:
            touches = [_at(touches, given["at"])]
            if not given["diff"]:
                _print_state(history, touches[0], as_json=as_json)
                return
        changes = touches[: given["limit"] or None]
        listed = list(_listed(index.db, archive, changes, history if given["diff"] else None))
    if as_json:
        print_json({"path": found.name, "changes": listed})
    else:
        _print_changes(found, listed)


def _chosen(db: Any, path: str, *, as_json: bool) -> "FileSum":
    from unspool.store.index.touched_files import find_files

    typed = str(Path(path).expanduser()) if path.startswith("~") else path
    found = find_files(db, typed, str(Path.cwd()), _MATCHES)
    if len(found) == 1:
        return found[0]
    if as_json:
        print_json({"files": [{"path": one.name, "changes": one.changes} for one in found]})
    elif found:
        zone = settings.chosen_zone()
        print_table(
            [
                Column("file", [one.name for one in found], right=False, least=20, tail=True),
                Column("changes", [f"{one.changes:,}" for one in found]),
                Column("lines", [f"+{one.added:,} −{one.removed:,}" for one in found], rank=2),
                Column("sessions", [f"{one.sessions:,}" for one in found], rank=3),
                Column(
                    "last",
                    [human.minute(utc_time(one.seen), zone) for one in found],
                    right=False,
                    rank=1,
                ),
            ]
        )
        click.echo("unspool: several files are meant; say more of the path.", err=True)
    else:
        click.echo("No session touched such a file.", err=True)
    raise click.exceptions.Exit(1)


def _history(db: Any, archive: Path, path: str) -> "FileHistory":
    from unspool.store.library import session_opener
    from unspool.store.library.file_history import FileHistory

    library = options.kept_library(archive)
    return FileHistory(db, path, session_opener(library), library.companions)


def _touches(db: Any, path: str) -> "list[tuple[int, FileTouch]]":
    """The changes of a file with their numbers, the newest first."""
    from unspool.store.index.touched_files import file_touches
    from unspool.store.library.file_history import CHANGES

    found = file_touches(db, path, CHANGES, _MOST)
    return [(len(found) - at, one) for at, one in enumerate(found)]


def _at(touches: "list[tuple[int, FileTouch]]", when: str) -> "tuple[int, FileTouch]":
    """The change of a number, or the last one before a time."""
    if when.isdecimal() and len(when) < 7:
        found = next((pair for pair in touches if pair[0] == int(when)), None)
        if found is None:
            raise NotFound(f"The file has no change {when}; it has {human.count(len(touches), 'change')}.")
        return found
    until = options.parse_until(when, settings.chosen_zone())
    earlier = (pair for pair in touches if pair[1].time is not None and until is not None and pair[1].time < until)
    found = next(earlier, None)
    if found is None:
        raise NotFound("No session had changed the file by then.")
    return found


def _state(history: "FileHistory", one: "FileTouch") -> "FileAtCall":
    from unspool.store.library.file_history import FileCall

    call = FileCall.of(history.path, one)
    if call is None:
        raise NotFound("The log of this change is gone, or tells it in another place.")
    return history.at(call)


def _print_state(history: "FileHistory", chosen: "tuple[int, FileTouch]", *, as_json: bool) -> None:
    number, one = chosen
    found = _state(history, one)
    text = found.now.after
    if text is None:
        raise NotFound("The logs hold neither the whole file before this change nor after it.")
    if as_json:
        state = {"path": history.path, "number": number, "session": one.key, "time": utc_time(one.time), "text": text}
        print_json({**state, "borrowed": found.borrowed, "outside": found.now.outside})
        return
    if found.borrowed:
        title = safe_text(found.borrowed)
        click.echo(
            f"unspool: what the file was before is what “{title}” left; what changed it since is not known.", err=True
        )
    if sys.stdout.isatty():
        output.say_line(text.removesuffix("\n"))
    else:
        sys.stdout.write(text.encode(errors="replace").decode())


def _listed(
    db: Any, archive: Path, changes: "Sequence[tuple[int, FileTouch]]", history: "FileHistory | None"
) -> "Iterator[ListedChange]":
    """The changes with their prompts, and with their lines where a history is given."""
    from unspool.store.index.touched_files import touch_prompts

    with options.open_archive(archive, readonly=True) as kept:
        prompts = touch_prompts(db, kept, [one for _, one in changes])
    for (number, one), prompt in zip(changes, prompts, strict=True):
        yield _change(number, one, prompt, None if history is None else _diff(history, one))


def _change(number: int, one: "FileTouch", prompt: "TouchPrompt", diff: "Diff | None") -> ListedChange:
    where = (one.key, one.title, one.agent_id, one.project, one.agent, prompt.turn, prompt.text)
    return ListedChange(number, *where, utc_time(one.time), one.how, one.added, one.removed, diff)


def _diff(history: "FileHistory", one: "FileTouch") -> "Diff | None":
    try:
        return _state(history, one).diff
    except NotFound:
        return None


def _print_changes(found: "FileSum", listed: "Sequence[ListedChange]") -> None:
    colour = output.has_colours()
    sessions, lines = human.count(found.sessions, "session"), f"+{found.added:,} −{found.removed:,}"
    summary = click.style(f"{human.count(found.changes, 'change')} in {sessions}, {lines}", dim=True)
    click.echo(f"{click.style(safe_text(found.name), bold=True)}  {summary}", color=colour)
    for one in listed:
        for line in _change_lines(one):
            click.echo(line, color=colour)
        if one.diff is not None:
            print_nodes([one.diff], pager=False)


def _change_lines(one: ListedChange) -> "Iterator[str]":
    from unspool.agents import agent_name

    when = human.minute(one.time, settings.chosen_zone()) or "without a time"
    lines = ("", "") if one.added is None else (f"+{one.added:,}", f"−{one.removed:,}")
    plus, minus = click.style(f"{lines[0]:>6}", fg="green"), click.style(f"{lines[1]:<6}", fg="red")
    prompt = cut_text(safe_text(one.prompt) or "before the first prompt", max(20, output.terminal_width() - 38))
    yield ""
    yield f"{click.style(f'{one.number:>4}', fg='yellow')}  {when}  {plus} {minus} {click.style(prompt, bold=True)}"
    title, turn = cut_text(safe_text(one.title), 60), f"prompt {one.turn}" if one.turn else ""
    by = agent_name(one.agent), "subagent" if one.subagent else ""
    where = human.joined(title, one.session[:8], turn, *by)
    yield click.style(f"      {where}", dim=True)
