"""A session made lighter in its own file: the log as it was is put aside first, and comes back by undo."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from unspool.build_info import VERSION
from unspool.copies.copy_plan import CopyPlan
from unspool.copies.original import CopySource
from unspool.copies.records import file_digest
from unspool.copies.write import prove_lines
from unspool.errors import Exists, NotFound, Unsound, UsageProblem
from unspool.files import write_atomically
from unspool.store.archive.database import archive_folder, erase_file

_FOLDER = "edited"


class EditRecord(msgspec.Struct, frozen=True):
    """An edit that was made, and how to take it back."""

    session: str
    path: str
    backup: str
    """The file that holds the log as it was."""
    was: str
    """Digest of the log before."""
    became: str
    """Digest of the log after."""
    made: str
    options: dict[str, object]
    version: str = VERSION


def edit_in_place(plan: CopyPlan, source: CopySource, *, dry_run: bool = False) -> EditRecord:
    """Prove the plan, put the log aside, and put the plan in its place; all of that, or nothing.

    Unsound where the session is open in its agent or went on since it was read. A dry run does all but the writing.
    """
    log, path = source.log, Path(source.log.path)
    if source.folder is None or not path.is_file() or path.suffix != ".jsonl":
        raise UsageProblem(f"{log.path} is no log among the agent's own files; only such a one is changed in place.")
    if any(one.session_id == log.session and one.alive is not False for one in log.agent.files.running(source.home)):
        raise Unsound(f"Session {log.session} is open in its agent; close it first. Nothing was changed.")
    lines = list(plan.copy.chunks())
    prove_lines(plan, lines)
    data = b"".join(lines)
    made = datetime.now(UTC)
    backup = archive_folder() / _FOLDER / f"{log.session}-{made:%Y%m%dT%H%M%S%f}.jsonl"
    before, after = hashlib.sha256(log.data).hexdigest(), hashlib.sha256(data).hexdigest()
    told = made.isoformat(timespec="microseconds")
    record = EditRecord(log.session, str(path), str(backup), before, after, told, plan.wish.options)
    if dry_run:
        return record
    with ExitStack() as otherwise:
        otherwise.callback(_drop, record)
        write_atomically(backup, [log.data])
        write_atomically(_record_file(backup), [msgspec.json.format(msgspec.json.encode(record))])
        if file_digest(path) != before:
            raise Unsound(f"{path} has grown while it was read: the session goes on. Nothing was changed.")
        _replace(path, data)
        otherwise.pop_all()
    return record


def edit_records(folder: Path | None = None) -> Iterator[EditRecord]:
    """Every edit that can be taken back, the newest first; files that are none of ours are passed over."""
    found = []
    for path in (archive_folder(folder) / _FOLDER).glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=EditRecord))
        except (msgspec.DecodeError, UnicodeDecodeError, OSError):
            continue
    return iter(sorted(found, key=lambda record: record.made, reverse=True))


def find_edit(session: str) -> EditRecord | None:
    """The newest edit of a session whose id begins so; the newest of all where nothing is said."""
    return next((record for record in edit_records() if record.session.startswith(session)), None)


def undo_edit(record: EditRecord, *, force: bool = False) -> None:
    """Give the log back as it was before an edit; Exists where the session went on since."""
    path, backup = Path(record.path), Path(record.backup)
    if not backup.is_file() or file_digest(backup) != record.was:
        raise NotFound(f"{backup}, the log as it was, is gone or damaged; the archive may have it: `unspool restore`.")
    if path.exists() and file_digest(path) != record.became and not force:
        raise Exists(f"{path} has changed since: the session went on. --force gives the old log back all the same.")
    _replace(path, backup.read_bytes())
    _drop(record)


def forget_edits(folder: Path, session: str) -> None:
    """Remove what was put aside of a session."""
    for record in edit_records(folder):
        if record.session == session:
            erase_file(Path(record.backup))
            erase_file(_record_file(Path(record.backup)))


def _replace(path: Path, data: bytes) -> None:
    """Another content, with the permissions that the file has."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    write_atomically(path, [data])
    os.chmod(path, mode)  # noqa: PTH101


def _record_file(backup: Path) -> Path:
    return backup.with_suffix(".json")


def _drop(record: EditRecord) -> None:
    Path(record.backup).unlink(missing_ok=True)
    _record_file(Path(record.backup)).unlink(missing_ok=True)
