"""Prepares a session and its chain to be shown: selected, redacted, and read again from the redacted files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from unspool.agents import AGENTS, FoundLog, by_id
from unspool.copies.hand_over import hand_over
from unspool.copies.original import CopySource, open_source
from unspool.errors import Ambiguous, NotFound, Unsound
from unspool.files import file_size, scratch_folder
from unspool.model import Session
from unspool.redact.finder import Finder
from unspool.redact.replacements import SecretFinding
from unspool.redact.rules import PersonalNames, git_signers
from unspool.share.choices import ShareChoices, ShareSettings
from unspool.share.redact_files import RedactionReport, find_in_session, redact_files, session_lines
from unspool.share.select_files import SelectedFiles, file_stem, select_files
from unspool.store.library import Library
from unspool.store.library.inputs import as_lines
from unspool.store.library.read import remote_of
from unspool.workers import GC_PAUSE


class SharedSession(NamedTuple):
    """A session as it may be shown, and its log, which has what goes along in the folder of its name."""

    session: Session
    log: Path


class PreparedShare(NamedTuple):
    """What is shared: a session, those before and after it in its chain, and how it was made."""

    main: SharedSession
    before: list[SharedSession]
    """The nearest first, as in `after`."""
    after: list[SharedSession]
    report: RedactionReport
    choices: ShareChoices
    names: Mapping[str, str]
    """What everything that was replaced is called, by digests, for this user's eyes alone."""
    project: str
    """Where the session ran, for this user's eyes alone: choices are remembered by it."""
    found: Sequence[SecretFinding] = ()
    """What was replaced or chosen to stay, and where, for this user's eyes alone."""

    @property
    def planning(self) -> SharedSession | None:
        """The session that the shared one goes on from, where it is shared too."""
        sources = {link.session for link in self.main.session.links if link.relation == "source"}
        return next((one for one in self.before if one.session.id in sources), None)

    @property
    def all(self) -> list[SharedSession]:
        """Every session, the one that is meant first."""
        return [self.main, *self.before, *self.after]


_PASSES = 3
"""The whole session is looked through, then what is shared of it, and that again for all that was found, as it is
written; once more where a person judges it before."""


def work_of(names: Sequence[str | FoundLog]) -> int:
    """The bytes that are looked through to share these sessions, as far as is known beforehand."""
    found = [one for one in names if isinstance(one, FoundLog)]
    paths = [path for one in found if not one.origin for path in (one.path, *(agent.path for agent in one.agents))]
    kept = sum(one.size for one in found if one.origin)
    return _PASSES * (kept + sum(file_size(Path(path)) for path in paths))


@contextmanager
def prepare_shares(library: Library, names: Sequence[str | FoundLog], ask: ShareSettings) -> Iterator[PreparedShare]:
    """Sessions ready to be shown, the first of them the one that is meant; their files last as long as the `with`."""
    with scratch_folder() as folder:
        drawings: list[SelectedFiles] = []
        agents: list[str] = []
        cwds: dict[str, None] = {}
        signers: set[str] = set()
        choices, project, remote = ShareChoices(), "", ""
        for number, name in enumerate(names):
            with _opened(library, name, folder / "lines" / str(number)) as (source, agent):
                facts = source.log.facts
                cwds |= dict.fromkeys(facts.cwds)
                if not number:
                    choices, project = ask.choices(facts.cwd), facts.cwd
                    finder = Finder(ask.rules, PersonalNames.of(ask.environment, cwds), choices.terms)
                    remote = remote_of(source.log.found, facts.cwd)
                these = choices if not number else replace(choices, without=())
                try:
                    drawn = select_files(source.log, these, folder / "drawn" / str(number), "" if number else ask.title)
                except Unsound:  # nothing was said in it, or nothing of that is left
                    if not number:
                        raise
                    continue
                streams = session_lines(source.log)
                signers |= {name for lines in streams for name in git_signers(lines)}
                people = PersonalNames.of(ask.environment, cwds, signers)
                finder = finder if finder.people == people else Finder(ask.rules, people, choices.terms)
                drawings.append(drawn._replace(told=find_in_session(streams, finder, ask.advance)))
                agents.append(agent)
        shared = folder / "source" / "shared"
        with GC_PAUSE:
            cleaned = redact_files(drawings, ask, choices, finder, shared, remote)
        logs, redacted = (shared / f"{one.session}.jsonl" for one in drawings), Library((shared.parent,))
        main, *others = (
            SharedSession(replace(without_paths(redacted.open(log)), agent=agent), log)
            for log, agent in zip(logs, agents, strict=True)
        )
        main = main._replace(session=replace(main.session, remote=cleaned.remote))
        before, after = sessions_around(main, others)
        yield PreparedShare(main, before, after, cleaned.report, cleaned.choices, cleaned.names, project, cleaned.found)


def sessions_around(
    main: SharedSession, others: list[SharedSession]
) -> tuple[list[SharedSession], list[SharedSession]]:
    """The others by when they began: those before the session that is meant and those after it, the nearest first."""
    here = _began(main)
    before = [one for one in others if _began(one) < here]
    after = [one for one in others if _began(one) >= here]
    return sorted(before, key=_began, reverse=True), sorted(after, key=_began)


def _began(one: SharedSession) -> datetime:
    return one.session.started or datetime.min.replace(tzinfo=UTC)


@contextmanager
def _opened(library: Library, name: str | FoundLog, folder: Path) -> Iterator[tuple[CopySource, str]]:
    """A session's log, which is made lines first where it is one document or its agent's logs are only read, and the
    agent that it is of."""
    found = library.resolve(name) if isinstance(name, str) else name
    lines = as_lines(found, folder) if isinstance(found, str) else None
    if isinstance(found, FoundLog) and by_id(found.agent_id).writer is None:
        lines = _rewritten(library, found, folder)
    with open_source(library, str(lines) if lines else found) as source:
        yield source, found.agent_id if isinstance(found, FoundLog) else source.log.agent.id


def _rewritten(library: Library, found: FoundLog, folder: Path) -> Path:
    """The session of an agent whose logs are only read, as lines that can be chosen from."""
    made = hand_over(library.open(found), AGENTS[0], folder, whole=True)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    path = made.path.with_name(f"{file_stem(found.session_id)}.jsonl")
    path.write_bytes(made.data.replace(made.session.id.encode(), path.stem.encode()))
    return path


def without_paths(session: Session) -> Session:
    """A session that tells no place of the machine it was read on."""
    agents = tuple(replace(one, session=without_paths(one.session)) for one in session.agents)
    here = replace(session.log, path=Path(session.log.path).name, modified=None)
    return replace(session, log=here, agents=agents)


_LONGEST = 40


def sessions_of_chain(library: Library, name: str | FoundLog) -> list[str | FoundLog]:
    """The session that is meant, and every session that its chain leads to, backwards and forwards."""
    first = library.resolve(name) if isinstance(name, str) else name
    found: list[str | FoundLog] = [first]
    seen = {first.session_id} if isinstance(first, FoundLog) else set()
    waiting = [library.open(first)]
    while waiting and len(found) < _LONGEST:
        for other in _around(library, waiting.pop(0)):
            if other.session_id not in seen and len(found) < _LONGEST:
                seen.add(other.session_id)
                found.append(other)
                waiting.append(library.open(other))
    return found


def _around(library: Library, session: Session) -> Iterable[FoundLog]:
    """The sessions that one continues, or that continue it; a chain that forks is followed along all its ways."""
    for link in session.links:
        if link.relation in ("source", "follow-up"):
            try:
                yield library.find(link.session)
            except (NotFound, Ambiguous):
                continue
