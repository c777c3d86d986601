"""How a session is shared: settings, choices remembered by project, replacements by session."""

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from unspool.errors import UsageProblem
from unspool.files import plain_files, write_atomically
from unspool.redact.replacements import ReplacementNames, SecretFinding, keyed_digest
from unspool.redact.rules import RuleSet
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.database import ARCHIVE, archive_folder, erase_file
from unspool.store.archive.keys import KEY_FILE, PASSPHRASE, is_encrypted, known_key

_Kept = TypeVar("_Kept")


class ShareChoices(msgspec.Struct, frozen=True):
    """The default shares everything, and lets nothing stay that was found."""

    without: tuple[tuple[int, int], ...] = ()
    """Turns that are left out, from one number to another, both included."""
    thinking: bool = True
    tools: bool = True
    """Whether what tools answered is shared; that they were called, and with what, always is."""
    images: bool = True
    subagents: bool = True
    terms: tuple[str, ...] = ()
    """Words that must go as well, such as a customer's name."""
    keep: frozenset[str] = frozenset()
    """Rules and single findings, by their ids, that stay."""
    spread: frozenset[str] = frozenset()
    """Common words, by their ids, that go wherever they stand."""

    def left_out(self) -> list[str]:
        """The kinds that are left out, as a report names them."""
        kinds = {"thinking": self.thinking, "tool outputs": self.tools, "images": self.images}
        kinds["subagents"] = self.subagents
        return [name for name, stays in kinds.items() if not stays]


def load_choices(project: str) -> ShareChoices:
    """What was chosen for a project before; the default where nothing was, or where it cannot be read.

    UsageProblem where it lies in an encrypted archive whose key was not given: words that must go may be among it.
    """
    folder = archive_folder()
    if _is_sealed(folder) and known_key(folder / ARCHIVE) is None:
        raise UsageProblem(
            f"Which words must not leave is kept in the archive in {folder}, which is encrypted: give its key"
            f" ({KEY_FILE} or {PASSPHRASE}), or share with --fresh, without them."
        )
    return recall(project_name(project), ShareChoices)


def save_choices(project: str, choices: ShareChoices) -> None:
    """Keep the choices for the project's next share, for this user's eyes alone; turns are of one session, and go."""
    remember(project_name(project), msgspec.structs.replace(choices, without=()))


def project_name(project: str, what: str = "") -> str:
    """What is remembered of a project is called by this, which tells nothing of it."""
    return f"{hashlib.sha256(project.encode(errors='replace')).hexdigest()[:24]}{what}.json"


def finding_id(rule: str, value: str) -> str:
    """How a person names one finding: the same for the same value, and nothing of it is told."""
    return hashlib.sha256(f"{rule}\0{value}".encode(errors="replace")).hexdigest()[:10]


Review = Callable[[Sequence[SecretFinding], ShareChoices], ShareChoices]
"""Shows a person what was found, and gives the choices as they are then."""


Advance = Callable[[int], None]
"""Hears how many bytes were looked through since it last heard."""


def _unheard(_: int) -> None:
    """Where nobody wants to know."""


class ShareSettings(NamedTuple):
    """How a session is shared."""

    choices: Callable[[str], ShareChoices]
    """What was chosen, by the session's project."""
    rules: RuleSet
    title: str = ""
    review: Review | None = None
    """None: everything found goes, but for what the choices let stay."""
    environment: Mapping[str, str] = os.environ
    rehearsed: bool = False
    """Whether nothing will be made of it, so that nothing is remembered."""
    names: Mapping[str, str] = {}
    """What things were called in a rehearsal, which they go on being called."""
    advance: Advance = _unheard
    """Hears of all the bytes that `prepare.work_of` tells, more or less."""


_FOLDER, _KEY = "shares", "key.json"
_HEX = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"shares/(?:replaced/)?[0-9a-z]+(?:\.habit)?\.json")
_PLAIN, _REPLACED = "names", "replaced"
"""Folders of what replaced what: as older versions wrote it, with the values themselves; and by their digests."""


def recall(name: str, kind: type[_Kept], folder: Path | None = None) -> _Kept:
    """What was remembered of shares under a name; empty where nothing was, or where it cannot be read.

    It lies in a file of the archive's folder, and in the archive itself where that is encrypted.
    """
    folder = archive_folder(folder)
    with _sealing(folder) as archive:
        data = archive.meta(f"{_FOLDER}/{name}").encode() if archive is not None else b""
        if not data and not _is_sealed(folder):
            with suppress(OSError):
                data = (folder / _FOLDER / name).read_bytes()
    return _decoded(data, kind)


def remember(name: str, value: object, folder: Path | None = None) -> None:
    """Keep a value under a name, readable by this user alone; nothing is kept beside an archive that is encrypted and
    whose key was not given."""
    folder, data = archive_folder(folder), msgspec.json.encode(value, order="deterministic")
    with _sealing(folder) as archive:
        if archive is not None:
            archive.note(f"{_FOLDER}/{name}", data.decode())
        elif not _is_sealed(folder):
            write_atomically(folder / _FOLDER / name, [data])


def _decoded(data: bytes, kind: type[_Kept]) -> _Kept:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return kind()


def _is_sealed(folder: Path) -> bool:
    return is_encrypted(folder / ARCHIVE)


@contextmanager
def _sealing(folder: Path) -> Iterator[ArchiveDatabase | None]:
    """The archive that keeps what is remembered; None where files do, or where its key was not given."""
    key = known_key(folder / ARCHIVE) if _is_sealed(folder) else None
    if key is None:
        yield None
        return
    with ArchiveDatabase.open(folder, key=key) as archive:
        take_in_memory(archive)
        yield archive


def take_in_memory(archive: ArchiveDatabase) -> None:
    """Move what is remembered of shares from files into an encrypted archive."""
    place = archive.path.parent / _FOLDER
    for path in sorted(plain_files(place)):
        name = path.relative_to(place).as_posix()
        if not name.startswith(f"{_PLAIN}/"):
            if path.suffix == ".json":
                archive.note(f"{_FOLDER}/{name}", path.read_text("utf-8", "replace"))
            erase_file(path)


def bring_out_memory(archive: ArchiveDatabase) -> None:
    """Move what is remembered of shares from an archive, which will not be encrypted any more, into files."""
    rows = list(archive.db.execute("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_FOLDER}/%",)))
    for name, value in rows:
        if _NAME.fullmatch(str(name)):
            write_atomically(archive.path.parent / str(name), [str(value).encode()])
    archive.db.execute("DELETE FROM meta WHERE key LIKE ?", (f"{_FOLDER}/%",))


@cache
def _new_key() -> str:
    return secrets.token_hex(32)


def _kept_key(folder: Path | None) -> str:
    found = recall(_KEY, str, folder)
    return found if _HEX.fullmatch(found) else ""


def _naming_key(folder: Path | None = None) -> bytes:
    """This machine's key for digests of what was found; a new one, which holds for the process, until one is kept."""
    return bytes.fromhex(_kept_key(folder) or _new_key())


def _keep_key(folder: Path | None = None) -> None:
    if not _kept_key(folder):
        remember(_KEY, _new_key(), folder)


def named_by(mapping: Mapping[str, str], *, rehearsed: bool = False) -> ReplacementNames:
    """Names that go on from these, by this machine's key, which a rehearsal does not keep."""
    if not rehearsed:
        _keep_key()
    return ReplacementNames(mapping, _naming_key())


def load_replacements(session: str) -> dict[str, str]:
    """What was replaced before, by digests; empty where nothing was, or where it cannot be read."""
    convert_plain_names(archive_folder())
    return recall(_replaced(session), dict[str, str])


def save_replacements(session: str, names: Mapping[str, str]) -> None:
    remember(_replaced(session), dict(names))


def forget_replacements(archive: ArchiveDatabase, session: str) -> None:
    """Remove what replaced what in shares of a session."""
    convert_plain_names(archive.path.parent)
    archive.db.execute("DELETE FROM meta WHERE key = ?", (f"{_FOLDER}/{_replaced(session)}",))
    erase_file(archive.path.parent / _FOLDER / _replaced(session))


def _replaced(session: str) -> str:
    return f"{_REPLACED}/{project_name(session)}"


def convert_plain_names(folder: Path) -> None:
    """Put digests in place of the values that older versions wrote down, and overwrite those."""
    plain = folder / _FOLDER / _PLAIN
    if not plain.is_dir() or (_is_sealed(folder) and known_key(folder / ARCHIVE) is None):
        return
    _keep_key(folder)
    key = _naming_key(folder)
    for path in sorted(plain_files(plain)):
        values, name = _decoded(path.read_bytes(), dict[str, str]), f"{_REPLACED}/{path.name}"
        if values and path.suffix == ".json":
            digests = {one: keyed_digest(key, value) for one, value in values.items()}
            remember(name, {**digests, **recall(name, dict[str, str], folder)}, folder)
        erase_file(path)
    with suppress(OSError):
        plain.rmdir()
