"""Who there is: added, ended, invited, in teams; nobody is let in twice, and somebody always stays in charge."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hub.people.folk import ROOT, One, project, somebody, team
from unspool.hub.errors import BadRequest, Conflict, Forbidden, HubError, NotVisible, StoreFull
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as permits
from unspool.hub.people import projects as teams
from unspool.hub.people import tokens as invitations
from unspool.hub.people.erasure import erase_permanently
from unspool.hub.people.projects import Right, readable_projects, right_on_project
from unspool.hub.people.users import checked_name, projects_without_owner
from unspool.hub.server import create_first_admin
from unspool.hub.store.blobs import now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import set_setting


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
    told = [one for one in at_once(4, lambda: create_first_admin(store.db)) if one is not None]
    assert len(told) == 1
    assert create_first_admin(store.db) is None
    known = tokens.person_of_token(store.db, str(told[0]))
    assert known is not None
    assert (known.name, known.admin) == ("owner", True)


def test_people_who_were_added_before_the_first_start_do_not_keep_the_owner_out(files_store: Store) -> None:
    """Where no admin is there, one is made, whatever they have to be called."""
    somebody(files_store.db, "owner")
    token = create_first_admin(files_store.db)
    assert token is not None
    known = tokens.person_of_token(files_store.db, token)
    assert known is not None
    assert known.admin
    assert known.name.startswith("owner ")
    assert create_first_admin(files_store.db) is None
    users.deactivate_user(files_store.db, "owner")


def test_a_name_is_taken_once(store: Store) -> None:
    """Two who want one name at the same moment: one has it."""
    results = at_once(4, lambda: users.add_user(store.db, "ada"))
    assert sorted(type(one).__name__ for one in results) == ["Conflict", "Conflict", "Conflict", "str"]


def test_whoever_is_ended_is_let_in_no_more_at_once(store: Store) -> None:
    """Tokens, browsers and open invitations end with a person; back again, they need new ones."""
    boss, ada = somebody(store.db, "boss", admin=True), somebody(store.db, "ada", admin=True)
    browser = tokens.create_browser(store.db, ada.id)
    invitation = invitations.create_invitation(store.db, ada.person)
    users.deactivate_user(store.db, "ada")
    assert tokens.person_of_token(store.db, ada.token) is None
    assert tokens.person_of_token(store.db, browser, "browser") is None
    with pytest.raises(NotVisible):
        invitations.accept_invitation(store.db, invitation, "eve")
    assert [one.name for one in users.list_users(store.db)] == ["boss"]
    assert [one.name for one in users.list_users(store.db, everybody=True)] == ["ada", "boss"]
    users.reactivate_user(store.db, "ada")
    assert tokens.person_of_token(store.db, ada.token) is None
    assert tokens.person_of_token(store.db, boss.token) is not None


def test_the_last_admin_stays(store: Store) -> None:
    """Neither ended nor made less; of two who end each other at once, one stays."""
    ada, bob = somebody(store.db, "ada", admin=True), somebody(store.db, "bob", admin=True)
    others = iter([ada.id, bob.id])
    at_once(2, lambda: users.deactivate_user(store.db, next(others)))
    left = users.list_users(store.db)
    assert len(left) == 1
    with pytest.raises(Conflict):
        users.deactivate_user(store.db, left[0].id)
    with pytest.raises(Conflict):
        users.change_user(store.db, left[0].id, admin=False)
    known = tokens.person_of_token(store.db, ada.token) or tokens.person_of_token(store.db, bob.token)
    assert known is not None
    assert known.admin


def test_a_token_is_good_for_its_scope_until_it_ends(store: Store) -> None:
    """An expired, revoked or unknown token lets nobody in, and a list never tells a secret."""
    ada = somebody(store.db, "ada")
    read = tokens.create_token(store.db, ada.id, "reader", scope="read")
    old = tokens.create_token(store.db, ada.id, "old", expires=now() - 1)
    known = tokens.person_of_token(store.db, read)
    assert known is not None
    assert known.scope == "read"
    assert tokens.person_of_token(store.db, old) is None
    assert tokens.person_of_token(store.db, "uns_nobody") is None
    assert tokens.person_of_token(store.db, read, "browser") is None
    listed = tokens.list_tokens(store.db, ada.id)
    assert {one.label for one in listed} == {"test", "reader"}
    assert read not in str(listed)
    assert tokens.token_digest(read) not in str(listed)
    which = next(one.id for one in listed if one.label == "reader")
    with pytest.raises(NotVisible):
        tokens.revoke_token(store.db, which, "somebody else")
    tokens.revoke_token(store.db, which, ada.id)
    assert tokens.person_of_token(store.db, read) is None
    with pytest.raises(BadRequest):
        tokens.create_token(store.db, ada.id, "all powerful", scope="root")


def made_with(store: Store, secret: str, kind: str = "token") -> tuple[str, str]:
    """The id of what lets somebody in, and a token that was made with it."""
    known = tokens.person_of_token(store.db, secret, kind)
    assert known is not None
    return known.token, tokens.create_token(store.db, known.id, "made with it", parent=known.token)


def test_what_was_made_with_a_token_ends_with_it(store: Store) -> None:
    """Browsers, their tokens, tokens of others and open invitations; also where a browser between them signed out."""
    ada, robot = somebody(store.db, "ada", admin=True), somebody(store.db, "robot")
    apart = tokens.create_token(store.db, ada.id, "apart")
    token, minted = made_with(store, ada.token)
    browser = tokens.create_browser(store.db, ada.id, parent=token)
    signed_in, of_browser = made_with(store, browser, "browser")
    others = tokens.create_token(store.db, robot.id, "for another", parent=made_with(store, minted)[0])
    invitation = invitations.create_invitation(store.db, ada.person._replace(token=signed_in))
    store.db.run("UPDATE token SET ended = 1 WHERE id = ?", signed_in)
    assert tokens.person_of_token(store.db, of_browser) is not None
    tokens.revoke_token(store.db, token)
    for secret in (ada.token, minted, of_browser, others):
        assert tokens.person_of_token(store.db, secret) is None
    with pytest.raises(NotVisible):
        invitations.open_invitation(store.db, invitation)
    assert tokens.person_of_token(store.db, apart) is not None
    assert tokens.person_of_token(store.db, robot.token) is not None


def test_nothing_is_made_with_a_token_that_was_revoked(store: Store) -> None:
    """A request that was let in just before leaves nothing behind that is let in after."""
    ada = somebody(store.db, "ada")
    token, _ = made_with(store, ada.token)
    tokens.revoke_token(store.db, token)
    with pytest.raises(Forbidden):
        tokens.create_token(store.db, ada.id, "late", parent=token)
    with pytest.raises(Forbidden):
        tokens.create_browser(store.db, ada.id, parent=token)
    with pytest.raises(Forbidden):
        invitations.create_invitation(store.db, ada.person._replace(token=token))


@pytest.mark.parametrize("how", ["ended", "erased"])
def test_what_somebody_made_for_others_ends_with_them(store: Store, how: str) -> None:
    boss, eve, robot = (somebody(store.db, name, admin=True) for name in ("boss", "eve", "robot"))
    others = tokens.create_token(store.db, robot.id, "for another", parent=made_with(store, eve.token)[0])
    if how == "ended":
        users.deactivate_user(store.db, "eve")
    else:
        erase_permanently(store, boss.person, "person", eve.id)
    assert tokens.person_of_token(store.db, others) is None
    assert tokens.person_of_token(store.db, robot.token) is not None


def test_a_browser_of_unknown_origin_ends_with_any_token_of_its_person(store: Store) -> None:
    """Hubs of before did not write down what a browser was signed in with."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    browsers = [tokens.create_browser(store.db, one.id) for one in (ada, bob)]
    invited = invitations.accept_invitation(store.db, invitations.create_invitation(store.db, ROOT), "carol", "browser")
    store.db.run("UPDATE token SET parent = NULL WHERE kind = 'browser' AND label = 'browser'")
    tokens.revoke_token(store.db, made_with(store, ada.token)[0])
    tokens.revoke_token(store.db, tokens.list_tokens(store.db, invited.person)[0].id)
    assert tokens.person_of_token(store.db, browsers[0], "browser") is None
    assert tokens.person_of_token(store.db, browsers[1], "browser") is not None


def test_a_full_disk_keeps_nobody_out(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a token was used cannot be noted, and that is all."""
    ada = somebody(files_store.db, "ada")

    def full(*_: object) -> int:
        raise StoreFull("No room.")

    monkeypatch.setattr(files_store.db, "run", full)
    assert tokens.person_of_token(files_store.db, ada.token) is not None


def test_an_invitation_makes_one_person(store: Store) -> None:
    """Several who take one invitation at once: one gets in, as a member of its team."""
    crew = team(store.db, "crew")
    secret = invitations.create_invitation(store.db, ROOT, team="crew")
    names = iter("abcd")
    results = at_once(4, lambda: invitations.accept_invitation(store.db, secret, f"eve {next(names)}"))
    taken = [one for one in results if isinstance(one, invitations.AcceptedInvitation)]
    assert len(taken) == 1
    assert [member.id for member in teams.team_members(store.db, crew)] == [taken[0].person]
    known = tokens.person_of_token(store.db, taken[0].secret)
    assert known is not None
    assert known.name == taken[0].name
    assert len(users.list_users(store.db)) == 1


def test_an_invitation_that_fails_stays_open(store: Store) -> None:
    """A name that is taken costs nothing; the invited one chooses another."""
    somebody(store.db, "ada")
    secret = invitations.create_invitation(store.db, ROOT)
    with pytest.raises(Conflict):
        invitations.accept_invitation(store.db, secret, "ada")
    with pytest.raises(BadRequest):
        invitations.accept_invitation(store.db, secret, "")
    assert invitations.accept_invitation(store.db, secret, "eve").name == "eve"
    assert invitations.list_invitations(store.db) == []
    assert len(invitations.list_invitations(store.db, everything=True)) == 1


def test_an_invitation_can_be_revoked_and_expires(store: Store) -> None:
    """After either, it is as if there had never been one."""
    secret = invitations.create_invitation(store.db, ROOT, "eve", admin=True)
    offered = invitations.open_invitation(store.db, secret)
    assert (offered.name, offered.admin) == ("eve", True)
    assert secret not in str(invitations.list_invitations(store.db))
    invitations.revoke_invitation(store.db, offered.id)
    with pytest.raises(NotVisible):
        invitations.open_invitation(store.db, secret)
    with pytest.raises(NotVisible):
        invitations.revoke_invitation(store.db, offered.id)
    late = invitations.create_invitation(store.db, ROOT)
    store.db.run("UPDATE invitation SET expires = ?", now() - 1)
    with pytest.raises(NotVisible):
        invitations.accept_invitation(store.db, late, "eve")
    with pytest.raises(BadRequest):
        invitations.create_invitation(store.db, ROOT, days=1000)


def test_a_right_is_ones_own_or_the_most_of_ones_teams(store: Store) -> None:
    """A person's own right counts before their teams', also where it is none; `readable` says the same."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    readers, writers = team(store.db, "readers", ada, bob), team(store.db, "writers", ada)
    shop = project(store.db, "shop")
    assert right_on_project(store.db, ada.person, shop) is Right.NONE
    permits.grant_right(store.db, shop, "team", readers, Right.READ)
    permits.grant_right(store.db, shop, "team", "writers", Right.WRITE)
    assert right_on_project(store.db, ada.person, shop) is Right.WRITE
    assert right_on_project(store.db, bob.person, shop) is Right.READ
    permits.grant_right(store.db, shop, "person", "bob", Right.NONE)
    assert right_on_project(store.db, bob.person, shop) is Right.NONE
    assert [(one.name, one.level) for one in permits.list_grants(store.db, shop)] == [
        ("writers", "write"), ("readers", "read"), ("bob", "none"),
    ]  # fmt: skip
    for one, seen in ((ada, [shop]), (bob, [])):
        sql, values = readable_projects(one.person)
        assert [row[0] for row in store.db.rows(sql, *values)] == seen
        assert [found.id for found in projects.list_projects(store.db, one.person)] == seen
        assert [found.id for found in projects.project_names(store.db, one.person)] == seen
    permits.revoke_right(store.db, shop, "person", "bob")
    assert right_on_project(store.db, bob.person, shop) is Right.READ
    teams.delete_team(store.db, "readers")
    assert right_on_project(store.db, bob.person, shop) is Right.NONE
    assert writers


def test_the_last_owner_of_a_project_stays(store: Store) -> None:
    """By permit, by membership or by the team itself: a project that is owned keeps an owner."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop = project(store.db, "shop", own=ada)
    with pytest.raises(Conflict):
        permits.grant_right(store.db, shop, "person", ada.id, Right.READ)
    with pytest.raises(Conflict):
        permits.revoke_right(store.db, shop, "person", ada.id)
    crew = team(store.db, "crew", bob)
    permits.grant_right(store.db, shop, "team", crew, Right.OWN)
    permits.revoke_right(store.db, shop, "person", ada.id)
    with pytest.raises(Conflict):
        teams.remove_member(store.db, crew, bob.id)
    with pytest.raises(Conflict):
        teams.delete_team(store.db, crew)
    assert [one.name for one in teams.team_members(store.db, crew)] == ["bob"]
    somebody(store.db, "boss", admin=True)
    assert projects_without_owner(store.db) == []
    users.deactivate_user(store.db, "bob")
    assert projects_without_owner(store.db) == [(shop, "shop")]


def test_whoever_pushes_to_a_new_project_owns_it_where_that_is_allowed(store: Store) -> None:
    """Others are told no more than that the name is taken, or, where only admins make projects, not even that."""
    ada, bob = somebody(store.db, "ada"), somebody(store.db, "bob")
    shop = projects.create_project(store.db, ada.person, "shop")
    assert right_on_project(store.db, ada.person, shop) is Right.OWN
    with pytest.raises(Conflict):
        projects.create_project(store.db, bob.person, "shop")
    set_setting(store.db, projects.NEW, "admins")
    said = []
    for name in ("shop", "mill"):
        with pytest.raises(Forbidden) as error:
            projects.create_project(store.db, bob.person, name)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert projects.create_project(store.db, ROOT, "mill") != shop


@pytest.mark.parametrize(
    "bad", ["", " ", "a/b", "a\x1b[2J", "a,b", "../x", "-rf", "x" * 101, "a\x00", "\u202eevil", "0" * 32]
)
def test_what_is_no_name_is_refused(bad: str) -> None:
    """Names go into addresses, headers and terminals, and are never taken for an id."""
    with pytest.raises(BadRequest):
        checked_name(bad)


@given(st.text(max_size=120))
def test_a_fit_name_is_fit_again(text: str) -> None:
    """What is kept of a name is a name, printable, and itself."""
    try:
        kept = checked_name(text)
    except BadRequest:
        return
    assert checked_name(kept) == kept
    assert kept.isprintable()


def test_quota_of_one(store: Store) -> None:
    """A person's quota can be set and taken back."""
    ada: One = somebody(store.db, "ada")
    users.change_user(store.db, ada.id, quota=10)
    assert users.find_user(store.db, "ada").quota == 10
    users.change_user(store.db, ada.id, quota=-1)
    assert users.find_user(store.db, "ada").quota is None
