"""Who wrote each line of a file, and why: by the calls in the logs first, by commits and notes where no call tells.

A line is an agent's where a call is known to have written it, a person's where no session can have committed it, and
otherwise nobody's: who is unknown is said to be unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import apsw
import msgspec

from unspool.agents.records import Companion
from unspool.errors import NotFound, UnspoolError
from unspool.figures import family
from unspool.figures.file_states import call_origins, forward_slashes
from unspool.figures.line_owners import carry_lines, file_lines, is_telling, plain_line
from unspool.model import Session, Text, ToolCall
from unspool.store.index.git_work import commit_sessions, sessions_at
from unspool.store.library.attribution_notes import NotedLines, noted_lines
from unspool.store.library.file_history import AskedChange, FileHistory
from unspool.store.library.git_repository import CommittedLine, GitCommit, GitRepository
from unspool.tools import changes

Sure = Literal["exact", "moved", "content", "commit", "none"]
_SESSIONS = 200
_CONTENT = 40
"""Sessions whose other changes are looked through for lines that no replay explains."""


class BlamedChange(msgspec.Struct, frozen=True):
    """A call that wrote lines, and what led to it."""

    session: str
    title: str
    agent: str
    model: str
    subagent: str
    tool: str
    turn: int
    prompt: str
    """Its first line."""
    asked: str
    """All of it."""
    words: str
    """What the agent said last before it."""
    time: datetime | None


class BlamedCommit(msgspec.Struct, frozen=True):
    hash: str
    author: str
    time: datetime | None
    subject: str
    sessions: tuple[str, ...]
    """Sessions that made it, as far as logs tell."""


class BlamedLine(msgspec.Struct, frozen=True, omit_defaults=True):
    number: int
    text: str
    who: Literal["agent", "person", "unknown"]
    sure: Sure
    """`exact`: a call wrote it so; `moved`: a call wrote it, and something else laid it out anew or moved it;
    `content`: one call wrote the same elsewhere; `commit`: only its commit is known; `none`: nothing is."""
    change: int | None = None
    """Which of the changes."""
    commit: int | None = None
    """Which of the commits; None where it is not committed."""
    noted: str = ""
    """What another program noted down of it: the agent and its session."""


class Blame(msgspec.Struct, frozen=True):
    path: str
    at: str
    """The commit whose file it is; empty for the file as it lies there."""
    lines: tuple[BlamedLine, ...]
    changes: tuple[BlamedChange, ...]
    commits: tuple[BlamedCommit, ...]
    left: int
    """Sessions that changed it and could not be read."""


class BlameSources(NamedTuple):
    """Where blame looks: the index, how a session is opened, and its files that are no logs."""

    db: apsw.Connection
    open_session: Callable[[str], Session]
    companions: Callable[[Session], Iterable[Companion]]


class _Owned(NamedTuple):
    change: AskedChange
    sure: Sure


def blame_file(sources: BlameSources, path: Path, at: str = "") -> Blame:
    """Who wrote each line of a file as it is, or as a commit has it; NotFound where there is no such file."""
    repository = GitRepository.around(path.parent)
    commit = _resolve(repository, at) if at else None
    place = _below(path, repository)
    text = _text(path, place, repository, commit)
    head = commit or (repository.commit("HEAD") if repository is not None else None)
    owned, left = _owners(sources, path, place, repository, text)
    lines = file_lines(text)
    _by_content(sources, owned, lines)
    committed = _committed(repository, place, head, text) if repository is not None and head is not None else {}
    return _Teller(sources, repository, path).tell(commit.hash if commit else "", lines, owned, committed, left)


def blame_known(sources: BlameSources, path: str) -> Blame:
    """The same for a file that is not here, by its whole path as sessions knew it: as the logs last have it."""
    asked = FileHistory(sources.db, path, sources.open_session, sources.companions).asked_lines(_SESSIONS)
    if asked.lines is None:
        raise NotFound(f"{path} is not here, and the logs hold no whole state of it.")
    owned = [
        _Owned(asked.changes[one.step], "moved" if one.moved else "exact") if one.how == "change" else None
        for one in asked.owners
    ]
    return _Teller(sources, None, Path(path)).tell("", asked.lines, owned, {}, asked.left)


def _resolve(repository: GitRepository | None, name: str) -> GitCommit:
    found = repository.commit(name) if repository is not None else None
    if found is None:
        raise NotFound(f"There is no commit {name} here.")
    return found


def _below(path: Path, repository: GitRepository | None) -> str:
    """The path of a file below the top of its repository; its name where it is in none."""
    if repository is None:
        return path.name
    try:
        return path.resolve().relative_to(Path(repository.top).resolve()).as_posix()
    except ValueError:
        return path.name


def _text(path: Path, place: str, repository: GitRepository | None, commit: GitCommit | None) -> str:
    if commit is not None and repository is not None:
        text = repository.text(place, commit.hash)
        if text is None:
            raise NotFound(f"{commit.hash[:10]} has no file {place}.")
        return text
    if not path.is_file():  # a device would never end
        raise NotFound(f"There is no file {path}.")
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise NotFound(f"Cannot read {path}: {error.strerror or error}.") from None


def _owners(
    sources: BlameSources, path: Path, place: str, repository: GitRepository | None, text: str
) -> tuple[list[_Owned | None], int]:
    """The call that wrote each line, as far as calls on this file tell: here, in other checkouts, under other names."""
    found: list[_Owned | None] = [None] * len(file_lines(text))
    left = 0
    earlier = repository.earlier_names(place, "HEAD") if repository is not None else []
    for number, root in enumerate(_roots(sources.db, path, place, repository)):
        history = FileHistory(
            sources.db,
            f"{root}/{place}",
            sources.open_session,
            sources.companions,
            [f"{root}/{name}" for name in earlier],
        )
        asked = history.asked_lines(_SESSIONS, text)
        left += asked.left
        if not asked.changes:
            continue
        for at, owner in enumerate(asked.owners):
            if owner.how == "change" and found[at] is None:
                sure: Sure = "moved" if number or owner.moved else "exact"
                found[at] = _Owned(asked.changes[owner.step], sure)
    return found, left


def _roots(db: apsw.Connection, path: Path, place: str, repository: GitRepository | None) -> list[str]:
    """The folders in which sessions knew the file: this one first, then its other checkouts, on other machines too."""
    here = forward_slashes(str(path)).removesuffix(f"/{place}")
    roots = [here, *(forward_slashes(one) for one in (repository.worktrees() if repository is not None else ()))]
    if repository is not None:
        ending = f"/{PurePosixPath(forward_slashes(repository.top)).name}/{place}"
        query = "SELECT replace(path, '\\', '/') FROM file WHERE substr(replace(path, '\\', '/'), -length(?1)) = ?1"
        roots += [str(one).removesuffix(f"/{place}") for (one,) in db.execute(query, (ending,))]
    return list(dict.fromkeys(roots))


def _by_content(sources: BlameSources, owned: list[_Owned | None], lines: Sequence[str]) -> None:
    """Lines that only one call of the sessions at hand ever wrote are its own, wherever it wrote them."""
    wanted = {plain_line(lines[at]) for at, one in enumerate(owned) if one is None and is_telling(lines[at])}
    keys = list(dict.fromkeys(one.change.key for one in owned if one is not None))[:_CONTENT]
    written: dict[str, dict[str, AskedChange]] = {}
    for key in keys if wanted else ():
        for change in _all_changes(sources, key):
            for line in {plain_line(line[1:]) for line in _added(change.call)} & wanted:
                written.setdefault(line, {})[change.call.call_id] = change
    for at, one in enumerate(owned):
        by = written.get(plain_line(lines[at]), {}) if one is None else {}
        if len(by) == 1:
            owned[at] = _Owned(next(iter(by.values())), "content")


def _all_changes(sources: BlameSources, key: str) -> Iterator[AskedChange]:
    try:
        session = sources.open_session(key)
    except UnspoolError:
        return
    models = {message.id: message.model for member in family(session) for message in member.messages}
    for call, origin in call_origins(session):
        if call.role in ("write", "edit") and call.state == "ok":
            yield AskedChange(call, key, session.title, session.agent, origin, models.get(call.message, ""))


def _added(call: ToolCall) -> Iterator[str]:
    return (line for diff in changes(call) for hunk in diff.hunks for line in hunk.lines if line[:1] == "+")


def _committed(repository: GitRepository, place: str, head: GitCommit, text: str) -> dict[int, CommittedLine]:
    """The commit of each line, by its place, as far as lines are as they were committed."""
    blamed, then = repository.blame(place, head.hash), repository.text(place, head.hash)
    if then is None or len(blamed) != len(file_lines(then)):
        return {}
    carried = carry_lines([*blamed], then, text, None)
    return {at: one for at, one in enumerate(carried) if one is not None}


class _Teller:
    """Puts together what is known of each line, and tells each call and each commit once."""

    def __init__(self, sources: BlameSources, repository: GitRepository | None, path: Path) -> None:
        self._sources, self._repository, self._path = sources, repository, path
        self._changes: dict[tuple[str, str], int] = {}
        self._told: list[BlamedChange] = []
        self._commits: dict[str, int] = {}
        self._known: list[BlamedCommit] = []
        self._agents: dict[str, bool] = {}
        """Whether a session may have made a commit, by its hash."""
        self._notes: dict[str, NotedLines] = {}

    def tell(
        self,
        at: str,
        lines: Sequence[str],
        owned: Sequence[_Owned | None],
        committed: Mapping[int, CommittedLine],
        left: int,
    ) -> Blame:
        found = tuple(
            self._line(number, text, owned[number - 1], committed.get(number - 1))
            for number, text in enumerate(lines, 1)
        )
        return Blame(str(self._path), at, found, tuple(self._told), tuple(self._known), left)

    def _line(self, number: int, text: str, owner: _Owned | None, line: CommittedLine | None) -> BlamedLine:
        commit = self._commit(line.commit) if line is not None else None
        if owner is not None:
            return BlamedLine(number, text, "agent", owner.sure, self._change(owner.change), commit)
        if line is None:
            return BlamedLine(number, text, "unknown", "none")
        noted = self._noted(line)
        if noted:
            return BlamedLine(number, text, "agent", "commit", None, commit, noted)
        who: Literal["unknown", "person"] = "unknown" if self._agents.get(line.commit, True) else "person"
        return BlamedLine(number, text, who, "commit", None, commit)

    def _change(self, change: AskedChange) -> int:
        key = change.key, change.call.call_id or str(change.call.place.offset)
        if key not in self._changes:
            self._changes[key] = len(self._told)
            turn = change.origin.turn
            self._told.append(
                BlamedChange(
                    change.key,
                    change.title,
                    change.agent_id,
                    change.model,
                    change.origin.agent,
                    change.call.name,
                    turn.number,
                    change.prompt,
                    turn.prompt.words if turn.prompt is not None else "",
                    _words_before(change),
                    change.time,
                )
            )
        return self._changes[key]

    def _commit(self, hash_: str) -> int | None:
        if hash_ not in self._commits:
            found = self._repository.commit(hash_) if self._repository is not None else None
            if found is None:
                return None
            made = commit_sessions(self._sources.db, found.hash, found.subject, found.time)
            near = sessions_at(self._sources.db, found.time, self._repository.top if self._repository else "")
            self._agents[hash_] = bool(made or near or found.agent_named)
            self._commits[hash_] = len(self._known)
            time = datetime.fromtimestamp(found.time, UTC) if found.time else None
            self._known.append(BlamedCommit(found.hash, found.author, time, found.subject, tuple(made)))
        return self._commits[hash_]

    def _noted(self, line: CommittedLine) -> str:
        """What other programs noted down of a committed line."""
        if self._repository is None:
            return ""
        if line.commit not in self._notes:
            self._notes[line.commit] = noted_lines(self._repository, line.commit)
        return self._notes[line.commit].of(line.path, line.number)


def _words_before(change: AskedChange) -> str:
    """What the agent said last before a call, in the turn that led to it."""
    said = ""
    for block in change.origin.turn.blocks:
        if isinstance(block, Text) and block.text.strip():
            said = block.text
        elif block is change.call:
            return said
    return said
