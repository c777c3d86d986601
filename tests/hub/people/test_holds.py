"""Legal holds: what is under one stays as it is, however it is gone about."""

import threading
import time

import pytest

from tests.hub.people.folk import ROOT, project, session, share, somebody
from unspool.hub.people import holds
from unspool.hub.people.erase import erased
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Held, Hidden, Unfit


def test_a_hold_is_on_all_that_belongs_to_it(store: Store) -> None:
    """A person's shares and sessions, a project's sessions; nobody else's."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop, mill = project(store.db, "shop"), project(store.db, "mill")
    one, two, three = (
        session(store, where, who, f"{who.id}{where}") for where, who in ((shop, ada), (shop, bob), (mill, bob))
    )
    link = share(store, ada, "a share")
    hold = holds.placed(store.db, ROOT, ("project", shop), "a case")
    assert [holds.held(store.db, "session", which) for which in (one, two, three)] == [True, True, False]
    assert not holds.held(store.db, "share", link)
    other = holds.placed(store.db, ROOT, ("person", ada.id), "another")
    assert holds.held(store.db, "share", link)
    assert holds.held(store.db, "session", one)
    holds.lifted(store.db, hold)
    assert [holds.held(store.db, "session", which) for which in (one, two, three)] == [True, False, False]
    holds.lifted(store.db, other)
    assert not holds.held(store.db, "share", link)
    assert holds.listed(store.db) == []
    assert len(holds.listed(store.db, everything=True)) == 2


def test_two_holds_on_one_thing_are_lifted_one_by_one(files_store: Store) -> None:
    """The first that ends does not end the other."""
    link = share(files_store, somebody(files_store.db, "ada"), "a share")
    first, second = (holds.placed(files_store.db, ROOT, ("share", link), why) for why in "ab")
    holds.lifted(files_store.db, first)
    assert holds.held(files_store.db, "share", link)
    with pytest.raises(Hidden):
        holds.lifted(files_store.db, first)
    holds.lifted(files_store.db, second)
    with files_store.db.transaction():
        holds.free(files_store.db, "share", link)


def test_a_hold_is_on_something_that_is_there(files_store: Store) -> None:
    """A hold on nothing would be a false comfort."""
    with pytest.raises(Hidden):
        holds.placed(files_store.db, ROOT, ("session", "nothing"), "")
    with pytest.raises(Unfit):
        holds.placed(files_store.db, ROOT, ("team", "nothing"), "")


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
    holds.placed(files_store.db, bob.person, (held, things[held]), "a case")
    unrelated = {("share", "project"), ("project", "share"), ("session", "share"), ("share", "session")}
    if (held, what) in unrelated:
        assert erased(files_store, bob.person, what, things[what])["proved"]
        return
    before = files_store.db.rows("SELECT count(*) FROM session, share, person, project")
    with pytest.raises(Held):
        erased(files_store, bob.person, what, things[what])
    assert files_store.db.rows("SELECT count(*) FROM session, share, person, project") == before


def test_a_hold_waits_for_a_removal_that_has_begun(servers_store: Store) -> None:
    """Either the hold comes first and the removal is refused, or it is told that nothing is there: never both."""
    ada = somebody(servers_store.db, "ada")
    link = share(servers_store, ada, "a share")
    told: list[object] = []

    def hold() -> None:
        try:
            told.append(holds.placed(servers_store.db, ROOT, ("share", link), "a case"))
        except Hidden as error:
            told.append(error)

    with servers_store.db.transaction():
        holds.free(servers_store.db, "share", link)
        thread = threading.Thread(target=hold)
        thread.start()
        time.sleep(0.3)
        assert told == []
        servers_store.db.run("DELETE FROM share WHERE address = ?", link)
    thread.join()
    assert isinstance(told[0], Hidden)
