"""What SQLite reports, as a sentence for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from unspool.errors import Busy, NoRoom, Unreadable, UnspoolError


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of SQLite about the database at `path` become ours."""
    try:
        yield
    except apsw.Error as error:
        raise _told(error, path) from error


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All of the changes, or none where anything is raised."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _told(error: apsw.Error, path: Path) -> UnspoolError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path} is in use by another process for longer than is waited for; nothing was changed.")
        case apsw.FullError():
            return NoRoom(f"No room is left for {path}; what was kept before is safe, the next run goes on from it.")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return Unreadable(f"Cannot open {path}: {error}.")
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return Unreadable(f"{path} is damaged ({error}); `unspool verify --repair` saves what can be saved.")
        case apsw.IOError():
            return UnspoolError(f"Cannot read or write {path}: {error}; nothing that was safe before is lost.")
    return UnspoolError(f"{path}: {error}.")
