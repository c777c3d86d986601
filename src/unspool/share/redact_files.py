"""Redacts the files of a share together, so that a value has one name in all of them; and the report."""

import re
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from operator import add
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from unspool import human
from unspool.build_info import VERSION
from unspool.copies.original import OriginalLog
from unspool.errors import Unreadable
from unspool.redact import replacements
from unspool.redact.finder import Finder
from unspool.redact.log import HeardFindings, matches_in_lines, redact_lines, scan_lines
from unspool.redact.rebuild import redact_text, redact_value
from unspool.redact.replacements import ReplacementNames, SecretFinding, SecretMatch
from unspool.redact.rules import PersonalNames, git_signers
from unspool.redact.spread import ASKED, names_in, near_names, spread_values
from unspool.share.choices import (
    Advance,
    ShareChoices,
    ShareSettings,
    finding_id,
    load_replacements,
    named_by,
    save_replacements,
)
from unspool.share.select_files import LeftOutCounts, SelectedFiles
from unspool.share.side_files import FOLDER, FileToShare
from unspool.store.library.bundle import is_plain
from unspool.store.library.inputs import open_log

PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8")
"""How files of pictures begin."""


class RuleCount(msgspec.Struct, frozen=True):
    rule: str
    kind: str
    values: int
    """Different values."""
    places: int
    kept: int = 0
    """Places that the sharer let stay."""


class RedactionReport(msgspec.Struct, frozen=True):
    """How a share was made; it tells neither what was found nor when."""

    made_with: str
    rules: str
    """The version of the rule set."""
    found: list[RuleCount]
    left_out: LeftOutCounts

    @property
    def replaced(self) -> int:
        """Places that hold something else now."""
        return sum(count.places - count.kept for count in self.found)

    def json(self) -> bytes:
        """The report as a file."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=2) + b"\n"

    def note(self) -> str:
        """The report in a sentence."""
        kept = sum(count.kept for count in self.found)
        parts = [
            f"{human.count(self.replaced, 'place')} replaced",
            f"{kept:,} kept" if kept else "",
            f"{human.count(self.left_out.turns, 'turn')} left out" if self.left_out.turns else "",
            f"no {', no '.join(self.left_out.kinds)}" if self.left_out.kinds else "",
            *self.not_looked_at(),
            f"rules {self.rules}",
        ]
        return human.joined(*parts)

    def not_looked_at(self) -> list[str]:
        """What nothing was looked for in, as a person is told of it."""
        gone = self.left_out
        return [
            f"{human.count(gone.files, 'file')} left out unread" if gone.files else "",
            f"{human.count(gone.problems, 'line')} left out unread" if gone.problems else "",
            f"pixels of {human.count(gone.pictures, 'picture')} not looked at" if gone.pictures else "",
        ]


def is_kept(match: SecretMatch, choices: ShareChoices) -> bool:
    """Whether the sharer lets a match stay."""
    if match.rule in ASKED:
        return not choices.spread or finding_id(match.rule, match.value) not in choices.spread
    kept = choices.keep
    return bool(kept) and (match.rule in kept or finding_id(match.rule, match.value) in kept)


def make_report(
    rules: str, matches: Iterable[SecretMatch], choices: ShareChoices, gone: LeftOutCounts
) -> RedactionReport:
    """The counts of what was found, by rule."""
    groups: defaultdict[tuple[str, str], list[SecretMatch]] = defaultdict(list)
    for match in matches:
        if match.rule not in ASKED or not is_kept(match, choices):
            groups[match.kind, match.rule].append(match)
    found = []
    for (kind, rule), some in sorted(groups.items()):
        values, kept = {match.value for match in some}, sum(is_kept(match, choices) for match in some)
        found.append(RuleCount(rule, kind, len(values), len(some), kept))
    return RedactionReport(f"unspool {VERSION}", rules, found, gone)


class FileRedactor:
    """Replaces what must not leave and was not chosen to stay."""

    def __init__(self, finder: Finder, names: ReplacementNames, choices: ShareChoices, advance: Advance) -> None:
        self._finder, self._names, self._choices, self._advance = finder, names, choices, advance
        self.found: list[SecretFinding] | None = None
        """Where a list is put here, what `find_in_files` would find in the files is added to it as they are written."""

    def write(self, file: FileToShare, folder: Path) -> Path | None:
        """Write a file below a folder without what must not leave; None where its own name must not, or it cannot be.

        A picture is called by its path as the redacted log names it.
        """
        name = self._name(file)
        path = folder / name
        left_out = not name or path.exists()
        if self.found is not None and (left_out or file.kind != "log"):
            self.found += find_in_files([file], self._finder, self._advance)
        if left_out:
            return None
        with file.path.open("rb") as source:
            chunks = self._chunks(file, source)
            if chunks is None:
                return None
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("wb") as target:
                target.writelines(chunks)
        return path

    def _name(self, file: FileToShare) -> str:
        """What a file is called in the share; empty where it has no name there."""
        if file.kind != "picture":
            return "" if self._tells(file.name) else file.name
        home, images, place = file.name.partition(f"/{FOLDER}/")
        path, _ = redact_text(f"/{place}", self._finder, self._names, self._keep)
        name = f"{FOLDER}{path}"
        return f"{home}/{name}" if images and is_plain(name) and not self._tells(home) else ""

    def _tells(self, name: str) -> bool:
        return not all(map(self._keep, self._finder.find(name)))

    def _chunks(self, file: FileToShare, source: BinaryIO) -> Iterable[bytes] | None:
        """What a file holds; None where nothing of it can be shown."""
        match file.kind:
            case "log":
                heard = None if self.found is None else HeardFindings(self.found, file.name)
                lines = tell_progress(source, self._advance)
                return redact_lines(lines, self._finder, self._names, self._keep, shown=True, heard=heard)
            case "json":
                return [self._json(source.read())]
            case "picture":
                return self._picture(source.read())
            case _:
                return [self._text(source.read())]

    def _picture(self, data: bytes) -> list[bytes] | None:
        """A picture without what is told beside its pixels; None where the rest would be no picture any more."""
        text = b64encode(data).decode("ascii")
        made, _ = redact_value(text, self._finder, self._names, self._keep)
        if made == text:
            return [data]
        return [b64decode(made)] if replacements.strip_picture(text) is not None else None

    def _keep(self, match: SecretMatch) -> bool:
        return is_kept(match, self._choices)

    def _json(self, data: bytes) -> bytes:
        """A document; nothing of it where it cannot be read, and so not looked through."""
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return b""
        return msgspec.json.encode(redact_value(value, self._finder, self._names, self._keep)[0])

    def _text(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "replace")
        return redact_text(text, self._finder, self._names, self._keep)[0].encode("utf-8", "replace")


_OFTEN = 256 * 1024


def tell_progress(lines: Iterable[bytes], advance: Advance) -> Iterator[bytes]:
    """The lines, and now and then how many bytes of them were taken."""
    taken = 0
    for line in lines:
        yield line
        taken += len(line)
        if taken >= _OFTEN:
            advance(taken)
            taken = 0
    advance(taken)


def find_in_files(files: Iterable[FileToShare], finder: Finder, advance: Advance) -> Iterator[SecretFinding]:
    """What is found in the files of a share, for a person to judge; each tells which file it is of."""
    for file in files:
        with _opened_lines(file) as lines:
            yield from scan_lines(tell_progress(lines, advance), finder, file.name)


@contextmanager
def _opened_lines(file: FileToShare) -> Iterator[Iterable[bytes]]:
    """The lines of a file; a picture is one, as logs have it."""
    with file.path.open("rb") as lines:
        yield [b'"%s"' % b64encode(lines.read())] if file.kind == "picture" else lines


def session_lines(log: OriginalLog) -> list[list[bytes]]:
    """The lines of a whole session and of each of its subagents, whether they are to be shared or not."""
    streams = [log.data.splitlines(keepends=True)]
    for agent in log.found.agents:
        with suppress(OSError, Unreadable), open_log(agent.path) as lines:
            streams.append(list(lines))
    return streams


_CWD = re.compile(rb'"cwd": ?"((?:[^"\\]|\\.)*)"')


def people_in_lines(
    lines: Iterable[bytes], environment: Mapping[str, str], folders: Iterable[str] = ()
) -> PersonalNames:
    """Whose session it is: by the environment, the folders that it ran in, and what its lines note of repositories."""
    written: set[bytes] = set()
    names: set[str] = set()
    for line in lines:
        written.update(match[1] for match in _CWD.finditer(line))
        names |= git_signers((line,))
    found = set(folders)
    for one in written:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.add(msgspec.json.decode(b'"' + one + b'"', type=str))
    return PersonalNames.of(environment, found - {""}, names)


def find_in_session(streams: Iterable[list[bytes]], finder: Finder, advance: Advance) -> tuple[SecretMatch, ...]:
    """What the lines of a whole session tell, each value once."""
    matches = (match for lines in streams for match in matches_in_lines(tell_progress(lines, advance), finder))
    return tuple({(match.rule, match.value): match for match in matches}.values())


def finder_everywhere(
    files: Sequence[FileToShare], finder: Finder, told: Iterable[SecretMatch], advance: Advance
) -> Finder:
    """A finder that finds, beside what this one finds, each value of the files and what is told elsewhere wherever it
    stands."""
    matches = list(told)
    for file in files:
        matches += finder.find(file.name)
        with _opened_lines(file) as lines:
            matches += matches_in_lines(tell_progress(lines, advance), finder)
    return spread_values(finder, (*matches, *near_names(matches, _words(files, names_in(matches)))), ask=True)


_IMAGE = re.compile(rb'"media_type": ?"image/')
_APART = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))
"""Spaces for all that is no letter and no digit."""


def count_pictures(path: Path) -> int:
    """Pictures in a file, or 1 where it is one."""
    with path.open("rb") as lines:
        first = lines.readline()
        if first.startswith(PICTURES):
            return 1
        return sum(len(_IMAGE.findall(line)) for line in (first, *lines))


def words_with(names: Iterable[str], texts: Iterable[bytes]) -> set[str]:
    """The words of some texts that hold one of these names, which are in small letters."""
    sought = [name.encode() for name in names if name.isascii()]
    runs: set[bytes] = set()
    for text in texts if sought else ():
        low, apart = text.lower(), text.translate(_APART)
        for name in sought:
            at = low.find(name)
            while at >= 0:
                start, end = apart.rfind(b" ", 0, at) + 1, apart.find(b" ", at)
                runs.add(apart[start : end if end >= 0 else len(apart)])
                at = low.find(name, end) if end >= 0 else -1
    return {run.decode("ascii") for run in runs if 5 <= len(run) <= 31 and run[:1].isalpha()}


_PIECE = 1 << 20
"""Bytes of lines in which words are looked for at once."""


def _words(files: Iterable[FileToShare], names: Iterable[str]) -> set[str]:
    words: set[str] = set()
    for file in files:
        if file.kind != "picture":
            with file.path.open("rb") as lines:
                words |= words_with(names, map(b"".join, iter(lambda: lines.readlines(_PIECE), [])))
    return words


class RedactedFiles(NamedTuple):
    """How files were redacted, by choices that a person may have made on the way."""

    report: RedactionReport
    choices: ShareChoices
    names: Mapping[str, str]
    """What everything is called now, by digests; it stays on this machine."""
    found: Sequence[SecretFinding]
    """What of the files must not leave or was chosen to stay."""
    remote: str = ""
    """The address of the repository; empty where something in it must not leave."""


def redact_files(
    drawings: Sequence[SelectedFiles],
    ask: ShareSettings,
    choices: ShareChoices,
    finder: Finder,
    to: Path,
    remote: str = "",
) -> RedactedFiles:
    """Write the files below a folder without what the finder finds and must not leave, once it was reviewed."""
    files = [file for one in drawings for file in one.files]
    people = finder.people
    elsewhere = [match for one in drawings for match in one.told]
    finder = finder_everywhere(files, finder, elsewhere, ask.advance)
    found: list[SecretFinding] = []
    if ask.review is not None:
        found = list(find_in_files(files, finder, ask.advance))
        before, choices = choices, ask.review(found, choices)
        if choices.terms != before.terms:
            finder = finder_everywhere(files, Finder(ask.rules, people, choices.terms), elsewhere, ask.advance)
            found = list(find_in_files(files, finder, ask.advance))
    first = drawings[0]
    names = named_by({**load_replacements(first.session), **ask.names}, rehearsed=ask.rehearsed)
    scrub = FileRedactor(finder, names, choices, ask.advance)
    if ask.review is None:  # nobody waits for what is found: it is found while the files are written
        scrub.found = found
    written = [path for file in files if (path := scrub.write(file, to)) is not None]
    unread = LeftOutCounts(files=len(files) - len(written), pictures=sum(map(count_pictures, written)))
    if not ask.rehearsed:
        save_replacements(first.session, names.mapping())
    gone = reduce(add, (one.gone for one in drawings[1:]), first.gone) + unread
    report = make_report(ask.rules.version, (one.match for one in found), choices, gone)
    told = all(is_kept(match, choices) for match in finder.find(remote))
    return RedactedFiles(report, choices, names.mapping(), found, remote if told else "")
