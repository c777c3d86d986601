"""`unspool import`: a session that somebody sent, to be read or gone on with here."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import copy_options, options, settings
from unspool.cli.output import print_result
from unspool.errors import Exists, Unreadable, UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.copies.fork import Move
    from unspool.model import Session


class _Import(NamedTuple):
    """A log that came, and the session that it holds."""

    log: Path
    session: "Session"

    def data(self) -> dict[str, Any]:
        session = self.session
        counts = {"turns": session.turns, "subagents": session.agents, "problems": session.problems}
        about = {"session": self.log.stem, "title": session.title, "project": session.cwd}
        return {**about, **{name: len(some) for name, some in counts.items()}}


def keep_logs(logs: list[Path], called: str, archive: Path, output: copy_options.CopyOutput) -> None:
    """Keep the sessions of these logs, which lie together in a folder of their own, and tell of it."""
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.library import Library

    library = Library((logs[0].parents[1],))
    came = [_Import(log, library.open(log)) for log in logs]
    first = came[0].session
    if not first.messages and not any(turn.prompt for turn in first.turns):
        raise Unreadable(f"{called} holds no conversation; nothing was kept.")
    key, new = options.key_of(archive), not (archive / ARCHIVE).exists()
    _check(came, archive, key)
    outcome = "would be kept" if output.dry_run else _keep(came, archive, key)
    lines = []
    for one in came:
        data = one.data()
        facts = (human.count(data[name], name[:-1]) for name in ("turns", "subagents", "problems") if data[name])
        lines.append(f"{one.log.stem}  {one.session.title}\n  {human.joined(data['project'], *facts)}")
    name = came[0].log.stem[:8]
    lines.append(f"\n{outcome.capitalize()} in {archive}")
    if not output.dry_run:
        lines.append(f"Read it:    unspool show {name}\nGo on:      unspool move {name} --to DIR")
    if new and not output.dry_run:
        lines.append("The archive is new: `unspool sync` keeps your own sessions in it, too.")
    sessions = [one.data() for one in came]
    print_result({"archive": str(archive), "outcome": outcome, "sessions": sessions}, lines, as_json=output.as_json)


def _check(came: list[_Import], archive: Path, key: str | None) -> None:
    """Exists where a session is here that did not come this way: nobody could tell the two apart by their id."""
    from unspool.store.library import Library
    from unspool.store.library.kept_sessions import KeptSessions
    from unspool.store.sync.prompts import ROOT

    kept = KeptSessions(archive, key)
    library = Library(settings.chosen_sources(()), kept=kept if kept.there else None)
    here = {log.session_id: log.path for log in library.logs() if log.root != ROOT}
    for one in came:
        if where := here.get(one.log.stem):
            instead = "--to DIR makes a copy of it under an id of its own."
            raise Exists(f"This session is here already, in {where}. {instead}")


def _keep(came: list[_Import], archive: Path, key: str | None) -> str:
    from unspool.agents import by_id
    from unspool.store.sync.prompts import keep_imported

    for one in came:
        if one.session.ended is not None:  # it is as old as what was last said in it, not as its coming here
            when = int(one.session.ended.timestamp() * 1e9)
            os.utime(one.log, ns=(when, when))
    prices = settings.price_table()
    report = keep_imported(archive, came[0].log.parent, by_id(came[0].session.agent), key, prices)
    if report.failures:
        raise Unreadable(" ".join(report.failures))
    return "kept" if report.new or report.grown or report.rewritten else "already kept"


@click.command("import")
@click.argument("bundle", metavar="FILE|URL")
@click.option("--to", metavar="DIR", type=options.PATH, help="Make it resumable: where it goes on.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="With --to: rename this path too. May be repeated.")
@copy_options.copy_output_options
@options.archive
def command(
    bundle: str, to: Path | None, rename: tuple[str, ...], output: copy_options.CopyOutput, archive: Path
) -> None:
    """Take in a session that somebody sent, to read it or to go on with it here.

    \b
    unspool import talk.tar.gz                       into the archive, to be read, searched and exported
    unspool import https://example.org/talk.tar.gz   the same, from the web
    unspool import talk.tar.gz --to ~/code/tool      a copy that the agent resumes in this folder
    unspool import 3f2a9c.jsonl --to ~/code/tool     a log by itself

    Takes what `unspool share --bundle` makes, bundles of session-share, and bare logs. The archive keeps the lines as
    they are. With --to, paths of the other machine become those of this one. Sessions of its chain come along where
    the bundle has them. Bundles are not trusted: one that holds links, paths that lead out of it, or more than a
    session does is refused whole, and nothing is left behind.
    """
    from unspool.copies.fork import Move, parse_renames
    from unspool.store.library.bundle import receive_logs

    resuming = {"--rename": rename, "-o": output.path, "--title": output.title, "--dsp": output.dsp}
    if to is None and (useless := [name for name, given in resuming.items() if given]):
        raise UsageProblem(f"{useless[0]} is for a session that goes on: add --to, the folder it goes on in.")
    with receive_logs(bundle) as logs:
        if to is None:
            keep_logs(logs, bundle, archive, output)
        else:
            _take(logs, bundle, Move(to, None, parse_renames(rename)), output)


def _take(logs: list[Path], name: str, move: "Move", output: copy_options.CopyOutput) -> None:
    """Make every log resumable, or none."""
    from unspool.copies import records
    from unspool.copies.original import open_source
    from unspool.store.library import Library

    library = Library()
    with ExitStack() as stack:
        sources = [stack.enter_context(open_source(library, str(log))) for log in logs]
        plans = [move.drawn(source.log, output.title, "import") for source in sources]
        if len(plans) > 1 and output.path is not None and not output.path.is_dir():
            raise UsageProblem(f"{len(plans)} sessions need a folder to go to; {output.path} is none.")
        done = list[copy_options.CopyTelling]()
        for plan, source in zip(plans, sources, strict=True):
            source.log.path = name
            try:
                there = source._replace(home=move.home(source.log), folder=None)
                done.append(copy_options.write_or_plan(plan, there, output, move.cwd))
            except UnspoolError:
                for one in () if output.dry_run else done:
                    records.undo_copy(records.find_record(one.data["session"]))
                raise
    copy_options.show_copies(done, output, [])
