"""Sessions that somebody sent, kept in the archive."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unspool.cli import chosen, cloning, keeping, options
from unspool.errors import Exists, Unreadable

if TYPE_CHECKING:
    from unspool.model import Session


class _Came(NamedTuple):
    """A log and the session that it holds."""

    log: Path
    session: "Session"

    def data(self) -> dict[str, Any]:
        session = self.session
        return {
            "session": self.log.stem,
            "title": session.title,
            "project": session.cwd,
            "turns": len(session.turns),
            "subagents": len(session.agents),
            "problems": len(session.problems),
        }


def keep(logs: list[Path], called: str, archive: Path, output: cloning.Output) -> None:
    """Keep the sessions of these logs, which lie together in a folder of their own, and tell of it."""
    from unspool.archive.place import ARCHIVE

    came = _read(logs, called)
    key, first = options.key_of(archive), not (archive / ARCHIVE).exists()
    _check(came, archive, key)
    outcome = "would be kept" if output.dry_run else _kept(came, archive, key)
    if output.as_json:
        keeping.print_json({"archive": str(archive), "outcome": outcome, "sessions": [one.data() for one in came]})
        return
    for one in came:
        keeping.say(_told(one))
    name = came[0].log.stem[:8]
    keeping.say(f"\n{outcome.capitalize()} in {archive}")
    if not output.dry_run:
        keeping.say(f"Read it:    unspool show {name}\nGo on:      unspool move {name} --to DIR")
    if first and not output.dry_run:
        keeping.say("The archive is new: `unspool sync` keeps your own sessions in it, too.")


def _read(logs: list[Path], called: str) -> list[_Came]:
    from unspool.library import Library

    library = Library((logs[0].parents[1],))
    came = [_Came(log, library.open(log)) for log in logs]
    first = came[0].session
    if not first.messages and not any(turn.prompt for turn in first.turns):
        raise Unreadable(f"{called} holds no conversation; nothing was kept.")
    return came


def _check(came: list[_Came], archive: Path, key: str | None) -> None:
    """Exists where a session is here that did not come this way: nobody could tell the two apart by their id."""
    from unspool.library import Library
    from unspool.library.kept import KeptSessions
    from unspool.sync.imported import ROOT

    kept = KeptSessions(archive, key)
    library = Library(chosen.sources(()), kept=kept if kept.there else None)
    here = {log.session_id: log.path for log in library.logs() if log.root != ROOT}
    for one in came:
        if one.log.stem in here:
            where = here[one.log.stem]
            raise Exists(
                f"This session is here already, in {where}. --to DIR makes a copy of it under an id of its own."
            )


def _kept(came: list[_Came], archive: Path, key: str | None) -> str:
    from unspool.formats import FORMATS
    from unspool.prices import PriceTable
    from unspool.sync.imported import keep as keep_in

    for one in came:
        if one.session.ended is not None:  # it is as old as what was last said in it, not as its coming here
            when = int(one.session.ended.timestamp() * 1e9)
            os.utime(one.log, ns=(when, when))
    prices = PriceTable.load(chosen.prices())
    report = keep_in(archive, came[0].log.parent, FORMATS[0], key, prices)
    if report.failures:
        raise Unreadable(" ".join(report.failures))
    return "kept" if report.new or report.grown or report.rewritten else "already kept"


def _told(one: _Came) -> str:
    from unspool import human

    data = one.data()
    facts = (human.count(data[name], name[:-1]) for name in ("turns", "subagents", "problems") if data[name])
    return f"{one.log.stem}  {one.session.title}\n  {human.joined(data['project'], *facts)}"
