"""The agents' own lists of prompts, and sessions that were imported."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from unspool.agents import AGENTS, CodingAgent, by_id, is_known, split_session_name
from unspool.agents.records import PromptMention
from unspool.errors import UsageProblem
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, Origin
from unspool.store.archive.forget import LinesToForget, SessionFile, match_id
from unspool.store.archive.line_filter import split_lines
from unspool.store.index.schema import VERSION
from unspool.store.sync.run import SyncOptions, SyncReport, index_archive, writable_archive
from unspool.store.sync.scan import file_rules, forgotten_names


class OwnPrompts(NamedTuple):
    """What is a session's own among files of all sessions."""

    lists: list[SessionFile]
    """Lists of prompts with lines of it."""
    lines: dict[str, int]
    """How many, all generations together, by the path of the list."""
    pasted: list[SessionFile]
    """Files with what was pasted into its prompts."""
    shared: frozenset[str]
    """Paths of those that prompts of other sessions name too."""
    session: str
    agent: str = ""
    """Whose session it is, where others have one of that id."""

    @property
    def parts(self) -> LinesToForget:
        """What forgetting the session takes from lists that stay."""
        return LinesToForget(self.lists, self._drops, forgotten_names(self.session, self.agent))

    def _drops(self, line: bytes) -> bool:
        """Whether a line is of it, or was not whole when it was kept, and may be: the next sync brings what is not."""
        return any(
            self.session in one.sessions or not one.whole for one in (f.prompt_list.mentions(line) for f in AGENTS)
        )

    @property
    def alone(self) -> list[SessionFile]:
        """Files that no other session's prompt names."""
        return [one for one in self.pasted if one.kept.path not in self.shared]


def own_prompts(archive: ArchiveDatabase, name: str) -> OwnPrompts:
    """What is a session's own among the lists of prompts of an archive, and the files that they name. The session is
    called by its id, or its agent and id."""
    agent, session = split_session_name(name)
    found = OwnPrompts([], {}, [], frozenset(), session, agent)
    mine, others = set[str](), set[str]()
    for chosen in (one for one in _lists(archive) if agent in ("", one.place.agent)):
        count = 0
        for naming in _namings(archive, chosen):
            (mine if session in naming.sessions else others).update(naming.files)
            count += session in naming.sessions
        if count:
            found.lists.append(chosen)
            found.lines[chosen.kept.path] = found.lines.get(chosen.kept.path, 0) + count
    if mine:
        found.pasted.extend(_files(archive, mine))
    return found._replace(shared=frozenset(mine & others))


def session_of_prompt(archive: ArchiveDatabase, name: str) -> str:
    """The session of that id, or the only one whose id begins so, that a list of prompts names."""
    ids = {one for chosen in _lists(archive) for naming in _namings(archive, chosen) for one in naming.sessions}
    return match_id(ids, name)


def _lists(archive: ArchiveDatabase) -> Iterator[SessionFile]:
    for number, origin in archive.origins().items():
        name = by_id(origin.agent).prompt_list.name if is_known(origin.agent) else ""
        if name and (kept := archive.last(number, name)) is not None:
            yield SessionFile(number, origin, kept)


def prompt_mentions(agent: CodingAgent, root: Path) -> Iterator[PromptMention]:
    """What the lines of the list of prompts at a source name; nothing where there is none that can be read."""
    try:
        with (root / agent.prompt_list.name).open("rb") as stream:
            yield from map(agent.prompt_list.mentions, stream)
    except OSError:
        return


def _namings(archive: ArchiveDatabase, chosen: SessionFile) -> Iterator[PromptMention]:
    agent = by_id(chosen.place.agent)
    for kept in archive.generations(chosen.kept.file):
        for line in split_lines(archive.stream(kept.generation)):
            yield agent.prompt_list.mentions(line)


def _files(archive: ArchiveDatabase, paths: set[str]) -> Iterator[SessionFile]:
    for number, origin in archive.origins().items():
        for path in sorted(paths):
            if (kept := archive.last(number, path)) is not None:
                yield SessionFile(number, origin, kept)


ROOT = "/imported"
"""Where the logs of such sessions are said to lie; there is no such folder."""
FOLDER = "projects/imported"
"""Where they lie below it, all in one, so that those of a chain are known to be one."""
_IMPORTED = Origin("imported", "", ROOT, "")


def keep_imported(folder: Path, source: Path, agent: CodingAgent, key: str | None, prices: PriceTable) -> SyncReport:
    """Keep all files of the sessions of a folder in the archive, and index them.

    What came before under the same name stays as an earlier generation. UsageProblem where one was forgotten, and
    then nothing is kept.
    """
    with writable_archive(folder, key) as archive:
        found = [path for path in source.rglob("*") if path.is_file() and not path.is_symlink()]
        files = {f"{FOLDER}/{path.relative_to(source).as_posix()}": path for path in found}
        _check(archive, agent, files)
        with archive.db:
            origin = archive.origin(_IMPORTED._replace(agent=agent.id))
        outcomes = list[str]()
        with Keeper(archive) as keeper:
            for name, path in sorted(files.items()):
                status = FileStatus.of(path.stat())
                outcomes.append(keeper.keep(origin, name, path, status, archive.last(origin, name)))
        report = index_archive(archive, (), SyncOptions(prices, f"{VERSION} {prices.digest}", lambda _, __: None), key)
    report.new, report.grown, report.rewritten = (outcomes.count(one) for one in ("new", "grown", "rewritten"))
    report.files, report.bytes = len(files), keeper.bytes
    return report


def _check(archive: ArchiveDatabase, agent: CodingAgent, names: Iterable[str]) -> None:
    forgotten = file_rules(archive.graves(), _IMPORTED._replace(agent=agent.id))
    for name in names:
        if forgotten.hides(name):
            session = agent.session_of(name) or name
            raise UsageProblem(f"{session} was forgotten here, so that it would not come back; nothing was kept.")
