"""Sessions, from the agents' folders or from a log that is named."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from unspool.errors import NotFound
from unspool.formats import FORMATS, Companion, Found, by_id
from unspool.library.chains import Skimmed, linked, source_id
from unspool.library.find import find, is_input
from unspool.library.heads import Head, head
from unspool.library.inputs import is_url, opened
from unspool.library.projects import unified
from unspool.library.read import Reader, log_file, sniffed, transcript
from unspool.library.settle import open_plans, settled
from unspool.library.skims import Counted, counted, priced
from unspool.library.sources import alone, discovered
from unspool.model import ChainLink, Overview, Session, Transcript, Usage
from unspool.prices import Cost, PriceTable, Spend
from unspool.turns.assemble import assemble
from unspool.turns.ledger import Ledger


class Listing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


class Library:
    """The sessions of some folders; of the agents' own folders where none is named."""

    def __init__(self, sources: Sequence[Path] = (), prices: PriceTable | None = None) -> None:
        self._sources = tuple(sources)
        self._prices = prices
        self._logs: tuple[Found, ...] | None = None
        self._heads: dict[str, Head | None] = {}

    @property
    def prices(self) -> PriceTable:
        self._prices = self._prices or PriceTable.load()
        return self._prices

    def logs(self) -> tuple[Found, ...]:
        """Every session's log, the last written first; nothing is read yet."""
        if self._logs is None:
            self._logs = tuple(discovered(self._sources))
        return self._logs

    def overviews(self, progress: Callable[[int], None] | None = None) -> tuple[Overview, ...]:
        """What a list shows of every session, newest first."""
        return self.listing(progress).overviews

    def listing(self, progress: Callable[[int], None] | None = None) -> Listing:
        """All sessions counted, linked to each other and priced."""
        done = list(counted(self.logs(), progress or (lambda _: None)))
        ledger, spend = Ledger(), Spend(self.prices)
        for one in done:
            ledger.add(one.calls)
        for call in ledger:
            spend.add(call)
        failures = tuple(one.failure for one in done if one.failure)
        return Listing(self._overviews(done), ledger.usage, spend.total(), failures)

    def _overviews(self, done: list[Counted]) -> tuple[Overview, ...]:
        named = [(f"{one.found.root}/{one.found.folder}", one) for one in done if one.overview is not None]
        priced_ = [priced(one.overview, one.calls, self.prices) for _, one in named if one.overview is not None]
        settled_ = unified((folder, overview) for (folder, _), overview in zip(named, priced_, strict=True))
        skims = [Skimmed(overview, one.ids) for (_, one), overview in zip(named, settled_, strict=True)]
        listed = linked(skims)
        return tuple(sorted(listed, key=_newest))

    def find(self, name: str) -> Found:
        """The log that `name` means; see `unspool.library.find`."""
        return find(name, self.logs(), self.overviews)

    def open(self, log: Found | str | Path) -> Session:
        """The session of a log, whole: given as found, or by anything a person may call it."""
        if isinstance(log, Found):
            return self._linked(read_session(log), log)
        name = str(log)
        if isinstance(log, Path) or is_input(name):
            found = None if name == "-" or is_url(name) else alone(Path(name))
            return self._linked(read_session(found), found) if found is not None else read_stream(name)
        if Path(name).is_file():
            return self.open(Path(name))
        found = self.find(name)
        return self._linked(read_session(found), found)

    def companions(self, session: Session) -> tuple[Companion, ...]:
        """Files of a session that are no logs: spilled outputs, plans, todo lists, ..."""
        found = alone(Path(session.log.path))
        return tuple(by_id(found.format).companions(found, session.slug)) if found is not None else ()

    def _linked(self, session: Session, found: Found) -> Session:
        """The session with its neighbours in a chain, and the plans that they settle."""
        heads = [one for one in map(self._head, self._neighbours(session, found)) if one is not None]
        links = [_link(one, "source", by) for one in heads if (by := _continues(session, one))]
        later = [(one, by) for one in heads if one.implements and (by := _continued_by(session, one))]
        links += [_link(one, "follow-up", by) for one, by in later]
        session = settled(session, [(one.plan, one.id) for one, _ in later])
        return msgspec.structs.replace(session, links=tuple(links)) if links else session

    def _head(self, found: Found) -> Head | None:
        if found.path not in self._heads:
            self._heads[found.path] = head(found)
        return self._heads[found.path]

    def _neighbours(self, session: Session, found: Found) -> list[Found]:
        """Logs worth a look: those beside this one, where it has something to link by."""
        if not (session.source or session.slug or open_plans(session)):
            return []
        folder = str(Path(found.path).parent)
        beside = [log for log in self._around(found) if log.path != found.path]
        wanted = source_id(session.source) if session.source else ""
        return [log for log in beside if str(Path(log.path).parent) == folder or log.session_id == wanted]

    def _around(self, found: Found) -> Sequence[Found]:
        logs = self.logs()
        if any(log.path == found.path for log in logs):
            return logs
        return tuple(by_id(found.format).discover(Path(found.path).parent))


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)


def _continues(session: Session, one: Head) -> str:
    """How it is known that a session continues another: by the path it names, else by slug."""
    first = next((turn.prompt for turn in session.turns if turn.prompt is not None), None)
    if session.source:
        return "path" if source_id(session.source) == one.id else ""
    implements = first is not None and first.kind == "plan"
    same = bool(session.slug) and session.slug == one.slug
    return "slug" if implements and same and not one.implements else ""


def _continued_by(session: Session, one: Head) -> str:
    """How it is known that another session implements a plan of this one."""
    if one.source:
        return "path" if source_id(one.source) == session.id else ""
    if session.slug and session.slug == one.slug:
        return "slug"
    plans = [plan.text.strip() for plan in open_plans(session)]
    return "plan" if any(one.plan.strip().startswith(plan) for plan in plans) else ""


def _link(one: Head, relation: str, by: str) -> ChainLink:
    return ChainLink(one.id, relation, by, one.title, one.prompt)  # type: ignore[arg-type]


def read_session(found: Found) -> Session:
    """The session of a found log with its subagents, before its neighbours are asked."""
    format_ = by_id(found.format)
    main = transcript(found.path, format_, found)
    agents = [format_.agent(agent, transcript(agent.path, format_, found)) for agent in found.agents]
    session = assemble(main, agents, format_.dialect(found, main.facts), found.session_id)
    return msgspec.structs.replace(session, project=format_.project(main.facts, found.folder))


def read_stream(name: str) -> Session:
    """The session of a log that lies by itself: standard input, a URL, a file elsewhere."""
    reader = Reader()
    with opened(name) as stream:
        entries = list(reader.entries(stream))
    if not entries:
        raise NotFound(f"{name} holds no log lines.")
    format_ = sniffed(entries)
    parser = format_.parser(None)
    events = [parser.event(entry) for entry in entries]
    main = Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)
    identity = parser.facts.session or re.split(r"[\\/]", name)[-1].split(".")[0] or "stdin"
    session = assemble(main, [], format_.dialect(None, parser.facts), identity)
    return msgspec.structs.replace(session, project=format_.project(parser.facts, ""))


def open_session(name: str | Path, sources: Sequence[Path] = ()) -> Session:
    """One session, whole. `name`: an id or its start, a path, "-", a URL, a piece of its title, or "latest"."""
    return Library(sources).open(name)


def sessions(sources: Sequence[Path] = ()) -> tuple[Overview, ...]:
    """An overview of every session, newest first."""
    return Library(sources).overviews()


__all__ = ["FORMATS", "Library", "Listing", "open_session", "read_session", "read_stream", "sessions"]
