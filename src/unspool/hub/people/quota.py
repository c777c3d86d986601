"""How many bytes a person may keep."""

from unspool.hub.store.database import Database
from unspool.hub.trouble import TooMuch

_LATER = 3600


def kept(db: Database, person: str) -> int:
    """Bytes of what a person shares and pushed."""
    row = db.row(
        "SELECT (SELECT coalesce(sum(size), 0) FROM share WHERE owner = ? AND ended IS NULL)"
        " + (SELECT coalesce(sum(size), 0) FROM session WHERE person = ?)",
        person,
        person,
    )
    return int(row[0]) if row else 0


def allowed(db: Database, person: str, usual: int) -> int:
    """Bytes that a person may keep; `usual` is what the hub's terms give to everybody."""
    row = db.row("SELECT quota FROM person WHERE id = ?", person)
    return usual if row is None or row[0] is None else int(row[0])


def within(db: Database, person: str, usual: int, more: int = 0) -> None:
    """TooMuch where a person would keep more than they may, with `more` bytes beside what the tables say.

    Inside the transaction that adds them: of several at the same time, each sees what the ones before it added.
    """
    db.alone(f"quota {person}")
    most = allowed(db, person, usual)
    if kept(db, person) + more > most:
        raise TooMuch(f"With this you would keep more than the {most:,} bytes that you may.", _LATER)
