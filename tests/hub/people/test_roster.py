"""Who there is: added, ended, invited, in teams; nobody is let in twice, and somebody always stays in charge."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hub.people.folk import ROOT, One, project, somebody, team
from unspool.hub.people import invitations, permits, projects, roster, teams, tokens
from unspool.hub.people.first import owner
from unspool.hub.people.names import fit
from unspool.hub.people.owners import unowned
from unspool.hub.people.rights import Right, readable, right
from unspool.hub.store.blobs import now
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Conflict, Full, Hidden, HubError, Refused, Unfit


def at_once(count: int, do: Callable[[], object]) -> list[object]:
    """What several threads get that do the same at the same time; trouble is a result too."""
    results: list[object] = []
    gate = threading.Barrier(count)

    def run() -> None:
        gate.wait()
        try:
            results.append(do())
        except HubError as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_the_first_start_makes_one_owner_whoever_else_starts(store: Store) -> None:
    """Of several processes that start at once, one is told the token; none ever after."""
    told = [one for one in at_once(4, lambda: owner(store.db)) if one is not None]
    assert len(told) == 1
    assert owner(store.db) is None
    known = tokens.bearer(store.db, str(told[0]))
    assert known is not None
    assert (known.name, known.admin) == ("owner", True)


def test_people_who_were_added_before_the_first_start_do_not_keep_the_owner_out(files_store: Store) -> None:
    """Where no admin is there, one is made, whatever they have to be called."""
    somebody(files_store.db, "owner")
    token = owner(files_store.db)
    assert token is not None
    known = tokens.bearer(files_store.db, token)
    assert known is not None
    assert known.admin
    assert known.name.startswith("owner ")
    assert owner(files_store.db) is None
    roster.ended(files_store.db, "owner")


def test_a_name_is_taken_once(store: Store) -> None:
    """Two who want one name at the same moment: one has it."""
    results = at_once(4, lambda: roster.added(store.db, roster.Wish("ada")))
    assert sorted(type(one).__name__ for one in results) == ["Conflict", "Conflict", "Conflict", "str"]


def test_whoever_is_ended_is_let_in_no_more_at_once(store: Store) -> None:
    """Tokens, browsers and open invitations end with a person; back again, they need new ones."""
    boss, ada = somebody(store.db, "boss", admin=True), somebody(store.db, "ada", admin=True)
    browser = tokens.made(store.db, tokens.Wish(ada.id, "browser", "browser"))
    invitation = invitations.made(store.db, ada.person, invitations.Wish())
    roster.ended(store.db, "ada")
    assert tokens.bearer(store.db, ada.token) is None
    assert tokens.bearer(store.db, browser, "browser") is None
    with pytest.raises(Hidden):
        invitations.taken(store.db, invitation, "eve")
    assert [one.name for one in roster.listed(store.db)] == ["boss"]
    assert [one.name for one in roster.listed(store.db, everybody=True)] == ["ada", "boss"]
    roster.back(store.db, "ada")
    assert tokens.bearer(store.db, ada.token) is None
    assert tokens.bearer(store.db, boss.token) is not None


def test_the_last_admin_stays(store: Store) -> None:
    """Neither ended nor made less; of two who end each other at once, one stays."""
    ada, bob = somebody(store.db, "ada", admin=True), somebody(store.db, "bob", admin=True)
    others = iter([ada.id, bob.id])
    at_once(2, lambda: roster.ended(store.db, next(others)))
    left = roster.listed(store.db)
    assert len(left) == 1
    with pytest.raises(Conflict):
        roster.ended(store.db, left[0].id)
    with pytest.raises(Conflict):
        roster.changed(store.db, left[0].id, admin=False)
    known = tokens.bearer(store.db, ada.token) or tokens.bearer(store.db, bob.token)
    assert known is not None
    assert known.admin


def test_a_token_is_good_for_its_scope_until_it_ends(store: Store) -> None:
    """An expired, revoked or unknown token lets nobody in, and a list never tells a secret."""
    ada = somebody(store.db, "ada")
    read = tokens.made(store.db, tokens.Wish(ada.id, "reader", scope="read"))
    old = tokens.made(store.db, tokens.Wish(ada.id, "old", expires=now() - 1))
    known = tokens.bearer(store.db, read)
    assert known is not None
    assert known.scope == "read"
    assert tokens.bearer(store.db, old) is None
    assert tokens.bearer(store.db, "uns_nobody") is None
    assert tokens.bearer(store.db, read, "browser") is None
    listed = tokens.listed(store.db, ada.id)
    assert {one.label for one in listed} == {"test", "reader"}
    assert read not in str(listed)
    assert tokens.digest(read) not in str(listed)
    which = next(one.id for one in listed if one.label == "reader")
    with pytest.raises(Hidden):
        tokens.revoked(store.db, which, "somebody else")
    tokens.revoked(store.db, which, ada.id)
    assert tokens.bearer(store.db, read) is None
    with pytest.raises(Unfit):
        tokens.made(store.db, tokens.Wish(ada.id, "all powerful", scope="root"))


def test_a_full_disk_keeps_nobody_out(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a token was used cannot be noted, and that is all."""
    ada = somebody(files_store.db, "ada")

    def full(*_: object) -> int:
        raise Full("No room.")

    monkeypatch.setattr(files_store.db, "run", full)
    assert tokens.bearer(files_store.db, ada.token) is not None


def test_an_invitation_makes_one_person(store: Store) -> None:
    """Several who take one invitation at once: one gets in, as a member of its team."""
    crew = team(store.db, "crew")
    secret = invitations.made(store.db, ROOT, invitations.Wish(team="crew"))
    names = iter("abcd")
    results = at_once(4, lambda: invitations.taken(store.db, secret, f"eve {next(names)}"))
    taken = [one for one in results if isinstance(one, invitations.Taken)]
    assert len(taken) == 1
    assert [member.id for member in teams.members(store.db, crew)] == [taken[0].person]
    known = tokens.bearer(store.db, taken[0].secret)
    assert known is not None
    assert known.name == taken[0].name
    assert len(roster.listed(store.db)) == 1


def test_an_invitation_that_fails_stays_open(store: Store) -> None:
    """A name that is taken costs nothing; the invited one chooses another."""
    somebody(store.db, "ada")
    secret = invitations.made(store.db, ROOT, invitations.Wish())
    with pytest.raises(Conflict):
        invitations.taken(store.db, secret, "ada")
    with pytest.raises(Unfit):
        invitations.taken(store.db, secret, "")
    assert invitations.taken(store.db, secret, "eve").name == "eve"
    assert invitations.listed(store.db) == []
    assert len(invitations.listed(store.db, everything=True)) == 1


def test_an_invitation_can_be_revoked_and_expires(store: Store) -> None:
    """After either, it is as if there had never been one."""
    secret = invitations.made(store.db, ROOT, invitations.Wish("eve", admin=True))
    offered = invitations.opened(store.db, secret)
    assert (offered.name, offered.admin) == ("eve", True)
    assert secret not in str(invitations.listed(store.db))
    invitations.revoked(store.db, offered.id)
    with pytest.raises(Hidden):
        invitations.opened(store.db, secret)
    with pytest.raises(Hidden):
        invitations.revoked(store.db, offered.id)
    late = invitations.made(store.db, ROOT, invitations.Wish())
    store.db.run("UPDATE invitation SET expires = ?", now() - 1)
    with pytest.raises(Hidden):
        invitations.taken(store.db, late, "eve")
    with pytest.raises(Unfit):
        invitations.made(store.db, ROOT, invitations.Wish(days=1000))


def test_a_right_is_ones_own_or_the_most_of_ones_teams(store: Store) -> None:
    """A person's own right counts before their teams', also where it is none; `readable` says the same."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    readers, writers = team(store.db, "readers", ada, bob), team(store.db, "writers", ada)
    shop = project(store.db, "shop")
    assert right(store.db, ada.person, shop) is Right.NONE
    permits.given(store.db, shop, "team", readers, Right.READ)
    permits.given(store.db, shop, "team", "writers", Right.WRITE)
    assert right(store.db, ada.person, shop) is Right.WRITE
    assert right(store.db, bob.person, shop) is Right.READ
    permits.given(store.db, shop, "person", "bob", Right.NONE)
    assert right(store.db, bob.person, shop) is Right.NONE
    assert [(one.name, one.level) for one in permits.listed(store.db, shop)] == [
        ("writers", "write"), ("readers", "read"), ("bob", "none"),
    ]  # fmt: skip
    for one, seen in ((ada, [shop]), (bob, [])):
        sql, values = readable(one.person)
        assert [row[0] for row in store.db.rows(sql, *values)] == seen
        assert [found.id for found in projects.listed(store.db, one.person)] == seen
        assert [found.id for found in projects.names(store.db, one.person)] == seen
    permits.taken(store.db, shop, "person", "bob")
    assert right(store.db, bob.person, shop) is Right.READ
    teams.ended(store.db, "readers")
    assert right(store.db, bob.person, shop) is Right.NONE
    assert writers


def test_the_last_owner_of_a_project_stays(store: Store) -> None:
    """By permit, by membership or by the team itself: a project that is owned keeps an owner."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop = project(store.db, "shop", own=ada)
    with pytest.raises(Conflict):
        permits.given(store.db, shop, "person", ada.id, Right.READ)
    with pytest.raises(Conflict):
        permits.taken(store.db, shop, "person", ada.id)
    crew = team(store.db, "crew", bob)
    permits.given(store.db, shop, "team", crew, Right.OWN)
    permits.taken(store.db, shop, "person", ada.id)
    with pytest.raises(Conflict):
        teams.left(store.db, crew, bob.id)
    with pytest.raises(Conflict):
        teams.ended(store.db, crew)
    assert [one.name for one in teams.members(store.db, crew)] == ["bob"]
    somebody(store.db, "boss", admin=True)
    assert unowned(store.db) == []
    roster.ended(store.db, "bob")
    assert unowned(store.db) == [(shop, "shop")]


def test_whoever_pushes_to_a_new_project_owns_it_where_that_is_allowed(store: Store) -> None:
    """Others are told no more than that the name is taken, or, where only admins make projects, not even that."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop = projects.wanted(store.db, ada.person, "shop")
    assert projects.wanted(store.db, ada.person, "shop") == shop
    assert right(store.db, ada.person, shop) is Right.OWN
    with pytest.raises(Conflict):
        projects.wanted(store.db, bob.person, "shop")
    projects.let(store.db, everybody=False)
    said = []
    for name in ("shop", "mill"):
        with pytest.raises(Refused) as error:
            projects.wanted(store.db, bob.person, name)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert projects.wanted(store.db, ROOT, "mill") != shop


@pytest.mark.parametrize(
    "bad", ["", " ", "a/b", "a\x1b[2J", "a,b", "../x", "-rf", "x" * 101, "a\x00", "\u202eevil", "0" * 32]
)
def test_what_is_no_name_is_refused(bad: str) -> None:
    """Names go into addresses, headers and terminals, and are never taken for an id."""
    with pytest.raises(Unfit):
        fit(bad)


@given(st.text(max_size=120))
def test_a_fit_name_is_fit_again(text: str) -> None:
    """What is kept of a name is a name, printable, and itself."""
    try:
        kept = fit(text)
    except Unfit:
        return
    assert fit(kept) == kept
    assert kept.isprintable()


def test_quota_of_one(store: Store) -> None:
    """A person's quota can be set and taken back."""
    ada: One = somebody(store.db, "ada")
    roster.changed(store.db, ada.id, quota=10)
    assert roster.found(store.db, "ada").quota == 10
    roster.changed(store.db, ada.id, quota=-1)
    assert roster.found(store.db, "ada").quota is None
