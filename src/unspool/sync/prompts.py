"""The agents' own lists of prompts, kept as files of all sessions: which of their lines are whose, and which files
hold what was pasted into them."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from unspool.archive import Archive, Kept, Origin
from unspool.archive.chosen import Chosen, one_of
from unspool.archive.forget import Parts
from unspool.archive.sieve import split
from unspool.formats import FORMATS, Format, by_id
from unspool.formats.traces import Naming, Remembered
from unspool.sync.forgotten import names

_LARGEST_PASTE = 4 * 1024 * 1024


def kept_prompts(
    archive: Archive, format_: Format, kept: dict[str, Kept], known: Collection[str] = ()
) -> Iterator[Remembered]:
    """The prompts of a place as the archive has them, with what was pasted, but for that of `known` sessions."""
    if format_.prompts not in kept:
        return iter(())

    def pasted(path: str) -> bytes | None:
        one = kept.get(path)
        return archive.read(one.generation) if one is not None and one.size <= _LARGEST_PASTE else None

    return format_.recalled(split(archive.stream(kept[format_.prompts].generation)), pasted, known)


class Own(NamedTuple):
    """What is a session's own among files of all sessions."""

    lists: list[Chosen]
    """Lists of prompts with lines of it."""
    lines: dict[str, int]
    """How many, all generations together, by the path of the list."""
    pasted: list[Chosen]
    """Files with what was pasted into its prompts."""
    shared: frozenset[str]
    """Paths of those that prompts of other sessions name too."""
    session: str

    @property
    def parts(self) -> Parts:
        """What forgetting the session takes from lists that stay."""
        return Parts(self.lists, self._drops, names(self.session))

    def _drops(self, line: bytes) -> bool:
        """Whether a line is of it, or was not whole when it was kept, and may be: the next sync brings what is not."""
        return any(self.session in one.sessions or not one.whole for one in (f.naming(line) for f in FORMATS))

    @property
    def alone(self) -> list[Chosen]:
        """Files that no other session's prompt names."""
        return [one for one in self.pasted if one.kept.path not in self.shared]


def own(archive: Archive, session: str) -> Own:
    """What is a session's own among the lists of prompts of an archive, and the files that they name."""
    found = Own([], {}, [], frozenset(), session)
    mine, others = set[str](), set[str]()
    for chosen in _lists(archive):
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


def session_of(archive: Archive, name: str) -> str:
    """The session of that id, or the only one whose id begins so, that a list of prompts names."""
    ids = {one for chosen in _lists(archive) for naming in _namings(archive, chosen) for one in naming.sessions}
    return one_of(ids, name)


def _lists(archive: Archive) -> Iterator[Chosen]:
    for number, origin in archive.origins().items():
        for path in {format_.prompts for format_ in _formats(origin)}:
            if (kept := archive.last(number, path)) is not None:
                yield Chosen(number, origin, kept)


def _formats(origin: Origin) -> Iterable[Format]:
    return [format_ for format_ in FORMATS if format_.id == origin.agent]


def namings(format_: Format, root: Path) -> Iterator[Naming]:
    """What the lines of the list of prompts at a source name; nothing where there is none that can be read."""
    try:
        with (root / format_.prompts).open("rb") as stream:
            yield from map(format_.naming, stream)
    except OSError:
        return


def _namings(archive: Archive, chosen: Chosen) -> Iterator[Naming]:
    format_ = by_id(chosen.place.agent)
    for kept in archive.generations(chosen.kept.file):
        for line in split(archive.stream(kept.generation)):
            yield format_.naming(line)


def _files(archive: Archive, paths: set[str]) -> Iterator[Chosen]:
    for number, origin in archive.origins().items():
        for path in sorted(paths):
            if (kept := archive.last(number, path)) is not None:
                yield Chosen(number, origin, kept)
