"""A session made fit to be shown: drawn by the choices, redacted, and read again from what is left.

Whatever is shared is made from the session that comes out here, which never saw the original lines.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from unspool.clone.documents import as_lines
from unspool.clone.source import Source, opened
from unspool.errors import Unsound
from unspool.formats import Found
from unspool.library import Library
from unspool.library.scratch import scratch
from unspool.model import Session
from unspool.share.ask import Ask
from unspool.share.choices import Choices
from unspool.share.clean import clean
from unspool.share.draw import Drawn, draw
from unspool.share.report import Report


class Shared(NamedTuple):
    """A session as it may be shown, and its log, which has what goes along in the folder of its name."""

    session: Session
    log: Path


class Share(NamedTuple):
    """What is shared: a session, those before and after it in its chain, and how it was made."""

    main: Shared
    before: list[Shared]
    """The nearest first, as in `after`."""
    after: list[Shared]
    report: Report
    choices: Choices
    names: Mapping[str, str]
    """What everything that was replaced is called, for this user's eyes alone."""
    project: str
    """Where the session ran, for this user's eyes alone: choices are remembered by it."""

    @property
    def planning(self) -> Shared | None:
        """The session that the shared one goes on from, where it is shared too."""
        sources = {link.session for link in self.main.session.links if link.relation == "source"}
        return next((one for one in self.before if one.session.id in sources), None)

    @property
    def all(self) -> list[Shared]:
        """Every session, the one that is meant first."""
        return [self.main, *self.before, *self.after]


@contextmanager
def prepared(library: Library, names: Sequence[str | Found], ask: Ask) -> Iterator[Share]:
    """Sessions ready to be shown, the first of them the one that is meant; their files last as long as the `with`."""
    with scratch() as folder:
        drawings: list[Drawn] = []
        cwds: dict[str, None] = {}
        choices, project = Choices(), ""
        for number, name in enumerate(names):
            with _opened(library, name, folder / "lines" / str(number)) as source:
                facts = source.log.facts
                cwds |= dict.fromkeys(facts.cwds)
                if not number:
                    choices, project = ask.choices(facts.cwd), facts.cwd
                these = choices if not number else replace(choices, without=())
                try:
                    drawn = draw(source.log, these, folder / "drawn" / str(number), "" if number else ask.title)
                except Unsound:  # nothing was said in it, or nothing of that is left
                    if not number:
                        raise
                    continue
                drawings.append(drawn)
        shared = folder / "projects" / "shared"
        cleaned = clean(drawings, ask, choices, list(cwds), shared)
        main, *others = (_read(shared, one.session) for one in drawings)
        before, after = around(main, others)
        yield Share(main, before, after, cleaned.report, cleaned.choices, cleaned.names, project)


def around(main: Shared, others: list[Shared]) -> tuple[list[Shared], list[Shared]]:
    """The others by when they began: those before the session that is meant and those after it, the nearest first."""
    here = _began(main)
    before = [one for one in others if _began(one) < here]
    after = [one for one in others if _began(one) >= here]
    return sorted(before, key=_began, reverse=True), sorted(after, key=_began)


def _began(one: Shared) -> datetime:
    return one.session.started or datetime.min.replace(tzinfo=UTC)


@contextmanager
def _opened(library: Library, name: str | Found, folder: Path) -> Iterator[Source]:
    """A session's log, which is made lines first where it is one document."""
    found = library.resolve(name) if isinstance(name, str) else name
    lines = as_lines(found, folder) if isinstance(found, str) else None
    with opened(library, str(lines) if lines else found) as source:
        yield source


def _read(project: Path, session: str) -> Shared:
    """A session by its redacted lines, linked to those shared with it; it tells no place of this machine."""
    log = project / f"{session}.jsonl"
    return Shared(placeless(Library((project.parent,)).open(log)), log)


def placeless(session: Session) -> Session:
    """A session that tells no place of the machine it was read on."""
    agents = tuple(replace(one, session=placeless(one.session)) for one in session.agents)
    here = replace(session.log, path=Path(session.log.path).name, modified=None)
    return replace(session, log=here, agents=agents)
