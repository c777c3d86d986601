"""A PostgreSQL that goes away, refuses or has too much to do is told of, and comes back by itself."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.hub.servers import Servers, free_port
from tests.waiting import PATIENCE, ending, until
from unspool.errors import UsageProblem
from unspool.hub.errors import StoreFull, StoreUnavailable
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.words import as_array, from_array

_SET = "INSERT INTO setting(key, value) VALUES(?, ?)"


def test_a_server_that_starts_again_is_not_noticed(servers: Servers, servers_store: Store) -> None:
    """Every connection is gone, and every next call works."""
    db = servers_store.db
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: db.row("SELECT pg_sleep(0.05)"), range(6)))
        servers.postgresql.restart()
        assert list(threads.map(lambda number: db.row("SELECT ?::int", number), range(6))) == [(n,) for n in range(6)]


def test_whoever_asks_while_it_starts_waits(
    servers: Servers, servers_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restart of a second is a wait of a second."""
    monkeypatch.setattr("unspool.hub.store.postgres._PATIENCE", PATIENCE)
    servers.postgresql.stop()
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(servers_store.db.row, "SELECT 1")
        with pytest.raises(TimeoutError):
            asked.result(0.5)
        servers.postgresql.start()
        assert asked.result(PATIENCE) == (1,)


def test_a_server_that_stays_away_is_told_at_once(
    servers: Servers, servers_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits any more when it has been away for a while; the first who asks when it is back has it."""
    monkeypatch.setattr("unspool.hub.store.postgres._PATIENCE", 0.3)
    servers.postgresql.stop()
    try:
        with pytest.raises(StoreUnavailable, match="does not answer"):
            servers_store.db.row("SELECT 1")
        monkeypatch.setattr("unspool.hub.store.postgres._PAUSE", 10 * PATIENCE)
        with ending():
            assert not servers_store.db.well()
            with pytest.raises(StoreUnavailable), servers_store.db.transaction():
                pytest.fail("there is no transaction")
    finally:
        servers.postgresql.start()
    assert servers_store.db.well()


def test_a_crash_of_the_server_undoes_what_was_not_committed(servers: Servers, servers_store: Store) -> None:
    """And nothing of what was; the one whose transaction it was is told."""
    db = servers_store.db
    db.run(_SET, "kept", "x")
    with pytest.raises(StoreUnavailable):
        _crashing(servers, servers_store)
    assert db.rows("SELECT key FROM setting WHERE key <> 'version'") == [("kept",)]


def _crashing(servers: Servers, store: Store) -> None:
    with store.db.transaction():
        store.db.run(_SET, "lost", "x")
        servers.postgresql.kill()
        servers.postgresql.start()
        store.db.run(_SET, "lost too", "x")


def test_who_would_wait_for_each_other_for_ever_is_told(servers_store: Store) -> None:
    """One of two goes through, the other may try again."""
    db = servers_store.db
    db.many(_SET, [("a", "0"), ("b", "0")])
    both = threading.Barrier(2)

    def cross(first: str, second: str) -> str:
        try:
            with db.transaction():
                db.run("UPDATE setting SET value = '1' WHERE key = ?", first)
                both.wait(20)
                db.run("UPDATE setting SET value = '1' WHERE key = ?", second)
        except StoreUnavailable:
            return "told"
        return "through"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(cross, "ab", "ba")) == ["through", "told"]


def test_no_statement_holds_up_the_others_for_long(servers_store: Store) -> None:
    """Every connection is bounded, and says whose it is."""
    db = servers_store.db
    assert db.rows("SHOW statement_timeout") + db.rows("SHOW lock_timeout") == [("30s",), ("20s",)]
    assert db.row("SHOW application_name") == ("unspool-hub",)
    with pytest.raises(StoreUnavailable), db.transaction():
        db.script("SET LOCAL statement_timeout = '50ms'; SELECT pg_sleep(10)")


@pytest.mark.parametrize(
    ("code", "kind"),
    [("53100", StoreFull), ("40001", StoreUnavailable), ("25006", StoreUnavailable), ("57P01", StoreUnavailable)],
)
def test_what_a_server_says_becomes_one_of_ours(servers_store: Store, code: str, kind: type[Exception]) -> None:
    """No room, two that cross each other, a standby, an end: each as a sentence."""
    with pytest.raises(kind):
        servers_store.db.script(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")
    assert servers_store.db.well()


def test_more_threads_than_connections_take_turns(servers_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits too long for a turn is told."""
    monkeypatch.setattr("unspool.hub.store.postgres._WAIT", 0.2)
    with ThreadPoolExecutor(9) as threads:
        asked = [threads.submit(servers_store.db.row, "SELECT 1 FROM pg_sleep(1)") for _ in range(9)]
        told = [one.exception(20) for one in asked]
    assert sum(isinstance(error, StoreUnavailable) for error in told) == 1


def test_a_database_that_does_not_let_in_says_why(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the server's words, to whoever starts the hub; and an address that is none is no use."""
    monkeypatch.setattr("unspool.hub.store.postgres._PATIENCE", 0.1)
    with pytest.raises(StoreUnavailable, match='database "none" does not exist'):
        open_store(StorePlace(tmp_path, servers.postgresql.url("none")))
    with pytest.raises(StoreUnavailable, match="Connection refused"):
        open_store(StorePlace(tmp_path, f"postgresql://127.0.0.1:{free_port()}/hub"))
    for address in ("mysql://localhost/hub", "postgresql://localhost/hub?colour=red"):
        with pytest.raises(UsageProblem):
            open_store(StorePlace(tmp_path, address))


def test_the_pool_leaves_no_connection(servers: Servers, on_servers: StorePlace) -> None:
    """After it is closed."""
    store = open_store(on_servers)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: store.db.row("SELECT pg_sleep(0.05)"), range(6)))
    store.db.close()
    with psycopg.connect(on_servers.database, autocommit=True) as connection:  # a transaction sees one state of it
        count = (
            b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            b" AND backend_type = 'client backend'"
        )
        until(lambda: connection.execute(count).fetchone() == (0,))


@pytest.mark.parametrize("numbers", [[], [7], [0, 1, 2**31 - 1, 2**31, 2**32 - 1]])
def test_numbers_come_back_as_they_were(servers_store: Store, numbers: list[int]) -> None:
    assert servers_store.db.rows("SELECT ?::int[]", as_array(numbers)) == [([n - 2**31 for n in numbers],)]
    ((found,),) = servers_store.db.rows("SELECT ?::int[]", as_array(reversed(numbers)))
    assert from_array(found) == numbers
