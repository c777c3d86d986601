"""How much somebody may do in a span of time.

Requests are counted in the process and written to the database every few seconds, so that all processes share one
limit, roughly, and a request costs no statement. Attempts at a secret are counted in the database, each of them.
"""

import threading
from contextlib import suppress
from ipaddress import IPv6Address, ip_address

from unspool.hub.errors import HubError, StoreFull, StoreUnavailable, TooManyRequests
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

_HOUR = 3_600_000
_DAY = 24 * _HOUR
_LOT = 500
"""Requests of one after which they are written at once."""
_CROWD = 50_000
"""How many are remembered before they are written."""
_LONGEST = 200
_TOO_OFTEN = "That was tried too often."
_ADD = (
    "INSERT INTO pace(who, span, amount) VALUES(?, ?, ?)"
    " ON CONFLICT(who, span) DO UPDATE SET amount = pace.amount + excluded.amount RETURNING amount"
)
_ADD_WITHIN = _ADD.replace("RETURNING", "WHERE pace.amount + excluded.amount <= ? RETURNING")
"""The same where that is no more than somebody may; nothing otherwise."""


class RateLimiter:
    def __init__(self, db: Database, an_hour: int) -> None:
        self._db, self._most = db, an_hour
        self._guard = threading.Lock()
        self._hour = 0
        self._known: dict[str, int] = {}
        """What the database was last seen to hold of somebody."""
        self._new: dict[str, int] = {}
        """What it does not hold yet."""

    def count(self, who: str) -> None:
        """Count a request; TooManyRequests where it is one too many."""
        who = _who(who)
        with self._guard:
            hour = now() // _HOUR * _HOUR
            if hour != self._hour:  # begin anew with every hour
                self._hour = hour
                self._known.clear()
                self._new.clear()
            self._new[who] = lot = self._new.get(who, 0) + 1
            done = self._known.get(who, 0) + lot
            full = len(self._new) > _CROWD
        if lot >= min(_LOT, max(1, self._most // 4)) or full or done > self._most:
            # what this process counted is enough to go by, until it can be written
            with suppress(StoreFull, StoreUnavailable):
                self.flush(None if full else who)
            with self._guard:
                done = max(done, self._known.get(who, 0))
        if done > self._most:
            raise _too_much(_HOUR, f"No more than {self._most:,} requests an hour are answered.")

    def flush(self, only: str | None = None) -> None:
        """Write down what was counted, of one or of all, and see what other processes counted."""
        with self._guard:
            hour = self._hour
            taken = dict(self._new) if only is None else {only: self._new.get(only, 0)}
            for who in taken:
                self._new.pop(who, None)
        try:
            with self._db.transaction():
                rows = {who: self._db.row(_ADD, who, hour, lot) for who, lot in sorted(taken.items()) if lot}
        except HubError:  # what was taken is put back
            with self._guard:
                for who, lot in taken.items() if hour == self._hour else ():
                    self._new[who] = self._new.get(who, 0) + lot
            raise
        with self._guard:
            if len(self._known) > _CROWD:
                self._known.clear()
            if hour == self._hour:
                self._known.update({who: row[0] for who, row in rows.items() if row is not None})


def count_attempt(db: Database, who: str, most: int, span: int) -> None:
    """Count an attempt at a secret, of `most` in `span` seconds; TooManyRequests where it is one too many.

    Call it outside any transaction: it counts even where what follows fails. `who` says what is attempted too.
    """
    row = db.row(_ADD, *_attempt(who, span), 1)
    if row is not None and row[0] > most:
        raise _too_much(span * 1000, _TOO_OFTEN)


def check_attempts(db: Database, who: str, most: int, span: int) -> None:
    """TooManyRequests where as many were counted; for what counts only once it has failed.

    Attempts at one moment may all pass before any of them is counted: as many as the process has threads.
    """
    row = db.row("SELECT amount FROM pace WHERE who = ? AND span = ?", *_attempt(who, span))
    if row is not None and row[0] >= most:
        raise _too_much(span * 1000, _TOO_OFTEN)


def _attempt(who: str, span: int) -> tuple[str, int]:
    length = span * 1000
    return _who(f"attempt {span} {who}"), now() // length * length


def count_bytes(db: Database, who: str, size: int, most: int) -> None:
    """Count what somebody sends in a day; TooManyRequests, and nothing counted, where that is more than they may."""
    day = now() // _DAY * _DAY
    if db.row(_ADD_WITHIN, who, day, size, most) is None:
        raise TooManyRequests(f"More than {most:,} bytes were sent today.", 3600)


def _network(word: str) -> str:
    """An address as it is counted: all of a network that one household has are one. Other words as they are."""
    if "." not in word and ":" not in word:
        return word
    try:
        found = ip_address(word)
    except ValueError:
        return word
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped) if found.ipv4_mapped else f"{IPv6Address(int(found) >> 64 << 64)}/64"
    return str(found)


def forget_old_counts(db: Database) -> int:
    """Forget what was counted before yesterday; how much that was."""
    return db.run("DELETE FROM pace WHERE span < ?", now() - 2 * _DAY)


def _who(who: str) -> str:
    return " ".join(map(_network, who[:_LONGEST].split(" ")))


def _too_much(length: int, message: str) -> TooManyRequests:
    left = length - now() % length
    return TooManyRequests(message, max(1, -(-left // 1000)))
