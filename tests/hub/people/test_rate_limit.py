"""How much somebody may do: requests roughly, attempts exactly, bytes without a race."""

import threading

import pytest

from tests.hub.people.folk import One, project, session, share, somebody
from tests.hub.people.test_users import at_once
from unspool.hub.errors import StoreFull, TooManyRequests
from unspool.hub.people import rate_limit as paces
from unspool.hub.people import users
from unspool.hub.people.rate_limit import RateLimiter, count_attempt, forget_old_counts
from unspool.hub.store.connect import Store


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A clock that stands in the middle of an hour, so that no span ends within a test."""
    at = [1_790_000_000_000 // 3_600_000 * 3_600_000 + 1_800_000]
    monkeypatch.setattr(paces, "now", lambda: at[0])
    return at


def test_an_hour_has_so_many_requests(store: Store, noon: list[int]) -> None:
    """One too many is refused with the time to wait; the next hour begins anew; others are not touched."""
    limiter = RateLimiter(store.db, 10)
    for _ in range(10):
        limiter.count("ada")
    with pytest.raises(TooManyRequests) as refused:
        limiter.count("ada")
    assert refused.value.after == 1800
    limiter.count("bob")
    noon[0] += 1_800_001
    limiter.count("ada")


def test_two_processes_share_a_limit(store: Store) -> None:
    """What one has counted and written, the other knows once it writes."""
    one, other = RateLimiter(store.db, 100), RateLimiter(store.db, 100)
    for _ in range(60):
        one.count("ada")
    one.flush()
    for _ in range(25):
        other.count("ada")
    other.flush()
    for _ in range(15):
        other.count("ada")
    with pytest.raises(TooManyRequests):
        other.count("ada")
    assert store.db.rows("SELECT count(*) FROM pace") == [(1,)]


def test_a_request_costs_no_statement(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand requests of one are a few writes; none is lost."""
    limiter = RateLimiter(files_store.db, 20_000)
    written: list[int] = []

    def write(_sql: str, _who: str, _hour: int, count: int) -> None:
        written.append(count)

    monkeypatch.setattr(files_store.db, "row", write)
    for _ in range(1_200):
        limiter.count("ada")
    limiter.flush()
    assert len(written) == 3
    assert sum(written) == 1_200


def test_threads_lose_no_count(store: Store) -> None:
    """Eight threads with a hundred requests each are eight hundred."""
    limiter = RateLimiter(store.db, 100_000)

    def work() -> None:
        for _ in range(100):
            limiter.count("ada")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    limiter.flush()
    assert store.db.rows("SELECT who, amount FROM pace") == [("ada", 800)]


def test_a_database_that_has_no_room_refuses_nobody(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process counted is what it goes by; it is written once there is room."""
    limiter = RateLimiter(files_store.db, 1000)

    def full(*_: object) -> None:
        raise StoreFull("No room.")

    with monkeypatch.context() as patched:
        patched.setattr(files_store.db, "row", full)
        for _ in range(1000):
            limiter.count("ada")
        with pytest.raises(TooManyRequests):
            limiter.count("ada")
        with pytest.raises(StoreFull):
            limiter.flush()
    limiter.flush()
    assert files_store.db.rows("SELECT who, amount FROM pace") == [("ada", 1001)]


def test_a_network_is_one(files_store: Store) -> None:
    """Whoever has a network of IPv6 addresses is counted as one; a mapped IPv4 address as itself."""
    limiter = RateLimiter(files_store.db, 3)
    for number in range(3):
        limiter.count(f"address 2001:db8::{number + 1:x}")
    with pytest.raises(TooManyRequests):
        limiter.count("address 2001:db8::ffff")
    limiter.count("address 2001:db8:0:1::1")
    limiter.count("address 192.0.2.1")
    limiter.flush()
    assert ("address 2001:db8::/64",) in files_store.db.rows("SELECT who FROM pace")


def test_attempts_are_counted_one_by_one(store: Store, noon: list[int]) -> None:
    """Of many at the same time, exactly as many as may get through; requests are counted elsewhere."""
    RateLimiter(store.db, 10_000).count("address 192.0.2.1")
    results = at_once(8, lambda: count_attempt(store.db, "address 192.0.2.1", 5, 900))
    assert sum(one is None for one in results) == 5
    assert sum(isinstance(one, TooManyRequests) for one in results) == 3
    count_attempt(store.db, "address 192.0.2.2", 5, 900)
    noon[0] += 900_000
    count_attempt(store.db, "address 192.0.2.1", 5, 900)
    noon[0] += 3 * 86_400_000
    assert forget_old_counts(store.db) == 3
    assert store.db.rows("SELECT * FROM pace") == []


def test_bytes_are_those_of_shares_and_sessions(store: Store) -> None:
    """All that a person keeps counts; their own quota before the usual one."""
    ada = somebody(store.db, "ada")
    shop = project(store.db, "shop", write=ada)
    session(store, shop, ada, "x" * 600)
    share(store, ada, "y" * 300)
    assert users.bytes_kept(store.db, ada.id) == 900
    within(store, ada, 900)
    with pytest.raises(TooManyRequests):
        within(store, ada, 899)
    with pytest.raises(TooManyRequests):
        within(store, ada, 1000, more=101)
    users.change_user(store.db, ada.id, quota=2000)
    within(store, ada, 0, more=1100)


def within(store: Store, one: One, usual: int, more: int = 0) -> None:
    """Whether somebody may keep more, in a transaction."""
    with store.db.transaction():
        users.check_quota(store.db, one.id, usual, more)


def test_a_quota_holds_for_uploads_at_the_same_time(store: Store) -> None:
    """Of five that would fit alone, as many come in as fit together."""
    ada = somebody(store.db, "ada")

    def upload() -> None:
        with store.db.transaction():
            users.check_quota(store.db, ada.id, 1000, more=400)
            share(store, ada, "z" * 400)

    results = at_once(5, upload)
    assert sum(one is None for one in results) == 2
    assert users.bytes_kept(store.db, ada.id) == 800
