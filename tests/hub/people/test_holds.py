"""Legal holds: what is under one stays as it is, however it is gone about."""

import threading

import pytest

from tests.hub.people.folk import ROOT, project, session, share, somebody
from tests.waiting import until
from unspool.hub.errors import BadRequest, NotVisible, UnderLegalHold
from unspool.hub.people import holds
from unspool.hub.people.erasure import erase_permanently
from unspool.hub.store.connect import Store


def test_a_hold_is_on_all_that_belongs_to_it(store: Store) -> None:
    """A person's shares and sessions, a project's sessions; nobody else's."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop, mill = project(store.db, "shop"), project(store.db, "mill")
    one, two, three = (
        session(store, where, who, f"{who.id}{where}") for where, who in ((shop, ada), (shop, bob), (mill, bob))
    )
    link = share(store, ada, "a share")
    hold = holds.place_hold(store.db, ROOT, ("project", shop), "a case")
    assert [holds.is_held(store.db, "session", which) for which in (one, two, three)] == [True, True, False]
    assert not holds.is_held(store.db, "share", link)
    other = holds.place_hold(store.db, ROOT, ("person", ada.id), "another")
    assert holds.is_held(store.db, "share", link)
    assert holds.is_held(store.db, "session", one)
    holds.lift_hold(store.db, hold)
    assert [holds.is_held(store.db, "session", which) for which in (one, two, three)] == [True, False, False]
    holds.lift_hold(store.db, other)
    assert not holds.is_held(store.db, "share", link)
    assert holds.list_holds(store.db) == []
    assert len(holds.list_holds(store.db, everything=True)) == 2


def test_two_holds_on_one_thing_are_lifted_one_by_one(files_store: Store) -> None:
    """The first that ends does not end the other."""
    link = share(files_store, somebody(files_store.db, "ada"), "a share")
    first, second = (holds.place_hold(files_store.db, ROOT, ("share", link), why) for why in "ab")
    holds.lift_hold(files_store.db, first)
    assert holds.is_held(files_store.db, "share", link)
    with pytest.raises(NotVisible):
        holds.lift_hold(files_store.db, first)
    holds.lift_hold(files_store.db, second)
    with files_store.db.transaction():
        holds.check_not_held(files_store.db, "share", link)


def test_a_hold_is_on_something_that_is_there(files_store: Store) -> None:
    """A hold on nothing would be a false comfort."""
    with pytest.raises(NotVisible):
        holds.place_hold(files_store.db, ROOT, ("session", "nothing"), "")
    with pytest.raises(BadRequest):
        holds.place_hold(files_store.db, ROOT, ("team", "nothing"), "")


@pytest.mark.parametrize("held", ["person", "project", "session", "share"])
@pytest.mark.parametrize("what", ["person", "project", "session", "share"])
def test_nothing_under_a_hold_is_erased(files_store: Store, held: str, what: str) -> None:
    """Neither the thing, nor what it belongs to, nor what belongs to it; all else can be."""
    ada, bob = somebody(files_store.db, "ada"), somebody(files_store.db, "boss", admin=True)
    shop = project(files_store.db, "shop", own=ada)
    things = {
        "person": ada.id, "project": shop, "session": session(files_store, shop, ada, "a session"),
        "share": share(files_store, ada, "a share"),
    }  # fmt: skip
    holds.place_hold(files_store.db, bob.person, (held, things[held]), "a case")
    unrelated = {("share", "project"), ("project", "share"), ("session", "share"), ("share", "session")}
    if (held, what) in unrelated:
        assert erase_permanently(files_store, bob.person, what, things[what])["proved"]
        return
    before = files_store.db.rows("SELECT count(*) FROM session, share, person, project")
    with pytest.raises(UnderLegalHold):
        erase_permanently(files_store, bob.person, what, things[what])
    assert files_store.db.rows("SELECT count(*) FROM session, share, person, project") == before


def _waits_for_a_lock(store: Store) -> bool:
    return bool(store.db.rows("SELECT 1 FROM pg_locks WHERE NOT granted"))


def test_a_hold_waits_for_a_removal_that_has_begun(servers_store: Store) -> None:
    """Either the hold comes first and the removal is refused, or it is told that nothing is there: never both."""
    ada = somebody(servers_store.db, "ada")
    link = share(servers_store, ada, "a share")
    told: list[object] = []

    def hold() -> None:
        try:
            told.append(holds.place_hold(servers_store.db, ROOT, ("share", link), "a case"))
        except NotVisible as error:
            told.append(error)

    with servers_store.db.transaction():
        holds.check_not_held(servers_store.db, "share", link)
        thread = threading.Thread(target=hold)
        thread.start()
        until(lambda: _waits_for_a_lock(servers_store))
        assert told == []
        servers_store.db.run("DELETE FROM share WHERE address = ?", link)
    thread.join()
    assert isinstance(told[0], NotVisible)
