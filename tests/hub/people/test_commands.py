"""The commands that care for a hub's people, on its store: no token is needed, and everything is written down."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run
from tests.hub.people.folk import One, project, session, share
from unspool.hub.people import tokens, users
from unspool.hub.people.audit import write_audit
from unspool.hub.people.users import Person
from unspool.hub.server import create_first_admin
from unspool.hub.store.connect import StorePlace, open_store


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a hub."""
    monkeypatch.setenv("UNSPOOL_HUB_DATA", str(tmp_path / "hub"))
    open_store(StorePlace(tmp_path / "hub")).db.close()
    return tmp_path / "hub"


def done(*arguments: str) -> str:
    """What a command prints that must end well."""
    outcome: Outcome = run("hub", *arguments)
    assert outcome.code == 0, outcome.err
    return outcome.out


def told(*arguments: str) -> Any:
    """What a command prints as JSON."""
    return json.loads(done(*arguments, "--json"))


def test_whoever_lost_every_token_gets_in_again(data: Path) -> None:
    """The store is enough: a new token of the owner, alone on standard output."""
    store = open_store(StorePlace(data))
    lost = create_first_admin(store.db)
    [first] = told("token", "list")["tokens"]
    done("token", "end", first["id"])
    assert tokens.person_of_token(store.db, str(lost)) is None
    found = tokens.person_of_token(store.db, done("token", "add", "owner", "--days", "3").strip())
    assert found is not None
    assert found.admin
    store.db.close()


def test_people_from_the_first_to_the_last(data: Path) -> None:
    """Added, changed, ended, back; a name that is taken and the last admin are refused with a sentence."""
    assert done("people", "add", "ada", "--admin").startswith("uns_")
    done("people", "add", "ci", "--service", "--scope", "push", "--quota", "5")
    people = {one["name"]: one for one in told("people", "list")["people"]}
    assert (people["ci"]["kind"], people["ci"]["quota"]) == ("service", 5 * 1024 * 1024)
    assert "ada" in done("people", "list")
    refused = run("hub", "people", "add", "ada")
    assert (refused.code, refused.out) == (1, "")
    assert "name" in refused.err
    assert run("hub", "people", "end", "ada").code == 1
    done("people", "change", "ci", "--admin", "--usual-quota")
    done("people", "end", "ada")
    assert [one["name"] for one in told("people", "list")["people"]] == ["ci"]
    done("people", "back", "ada")
    assert len(told("people", "list")["people"]) == 2
    assert [one["name"] for one in told("token", "list")["tokens"]] == ["ci"]


def test_invitations_teams_projects_and_rights(data: Path) -> None:
    """What an admin does in an afternoon."""
    done("people", "add", "ada")
    done("team", "add", "crew")
    done("team", "join", "crew", "ada")
    assert [one["name"] for one in told("team", "list")["teams"][0]["members"]] == ["ada"]
    link = done("invite", "add", "eve", "--team", "crew", "--url", "https://hub.example/")
    assert link.startswith("https://hub.example/join/")
    [invitation] = told("invite", "list")["invitations"]
    assert invitation["name"] == "eve"
    assert "eve" in done("invite", "list")
    done("invite", "end", invitation["id"])
    assert told("invite", "list")["invitations"] == []
    assert "revoked" in done("invite", "list", "--all")
    done("project", "add", "shop", "--owner", "ada")
    done("project", "grant", "shop", "--team", "crew", "write")
    assert [(one["name"], one["level"]) for one in told("project", "rights", "shop")["permits"]] == [
        ("ada", "own"), ("crew", "write"),
    ]  # fmt: skip
    assert run("hub", "project", "grant", "shop", "--person", "ada", "nothing").code == 1
    assert run("hub", "project", "grant", "shop", "write").code == 2
    done("project", "grant", "shop", "--team", "crew", "nothing")
    assert "crew" not in done("project", "rights", "shop")
    done("team", "leave", "crew", "ada")
    done("team", "end", "crew")
    done("project", "let", "admins")
    assert "shop" in done("project", "list")


def test_a_hold_keeps_an_erasure_off(data: Path) -> None:
    """Nothing is erased without a word; what is held stays; what goes is proved gone, down to the file."""
    store = open_store(StorePlace(data))
    ada = One(Person(users.add_user(store.db, "ada"), "ada"), "")
    shop = project(store.db, "shop")
    one, link = session(store, shop, ada, "words", key="its-key"), share(store, ada, "page", "-PJEuR5zTyVVUXtPab5Pew")
    hold = done("hold", "add", "project", "shop", "--reason", "case 12").strip()
    assert "case 12" in done("hold", "list")
    assert run("hub", "erase", "session", one, "--yes").code == 1
    done("hold", "end", hold)
    assert "Nothing was erased" in done("erase", "session", one)
    proof = told("erase", "session", one, "--yes")
    assert proof["proved"]
    assert proof["searched"]["bytes"] > 0
    assert "Nothing of it was found" in done("erase", "share", link, "--yes")
    assert len(told("erase", "list")["erased"]) == 2
    done("erase", "again", "ada", "its-key")
    assert run("hub", "erase", "again", "ada", "its-key").code == 1
    assert "Nothing of it was found" in done("erase", "person", "ada", "--yes")
    done("erase", "project", "shop", "--yes")
    assert store.db.rows("SELECT count(*) FROM blob") == [(0,)]
    store.db.close()


def test_the_audit_log_tells_and_proves(data: Path) -> None:
    """Each command is a line; a touched line makes `verify` fail; old lines go only with a word."""
    done("people", "add", "ada")
    done("team", "add", "crew")
    lines = told("audit", "list")["lines"]
    assert [line["what"] for line in lines] == ["team.make", "person.add"]
    assert all("command line" in line["name"] for line in lines)
    assert [line["what"] for line in told("audit", "list", "--what", "team")["lines"]] == ["team.make"]
    assert len(done("audit", "export").splitlines()) == 2
    head = told("audit", "verify")["head"]["digest"]
    done("audit", "verify", "--known", head)
    assert "Nothing was removed" in done("audit", "trim", "--before", "1d")
    store = open_store(StorePlace(data))
    store.db.run("UPDATE audit SET at = at - 172800000")
    store.db.close()
    broken = run("hub", "audit", "verify")
    assert broken.code == 1
    assert "changed" in broken.out


def test_a_log_that_was_cut_is_told_until_it_is_accepted(data: Path) -> None:
    done("people", "add", "ada")
    done("audit", "verify")
    store = open_store(StorePlace(data))
    store.db.run("DELETE FROM audit")
    store.db.run("DELETE FROM setting WHERE key = 'audit.head'")
    store.db.close()
    assert run("hub", "audit", "verify").code == 1
    assert run("hub", "verify").code == 1
    assert run("hub", "audit", "verify", "--accept").code == 1
    done("audit", "verify")
    assert [line["what"] for line in told("audit", "list")["lines"]] == ["audit.accept"]


def test_old_lines_are_trimmed(data: Path) -> None:
    """What is left still proves itself, and says that lines went."""
    store = open_store(StorePlace(data))
    write_audit(store.db, Person("", "x"), "share.view", "y", "done")
    store.db.run("UPDATE audit SET at = at - 172800000")
    assert "1 line removed" in done("audit", "trim", "--before", "1d", "--yes")
    assert [line["what"] for line in told("audit", "list")["lines"]] == ["audit.trim"]
    done("audit", "verify")
    store.db.close()


def test_no_name_drives_the_terminal(data: Path) -> None:
    """What a hub keeps is made inert when it is printed."""
    store = open_store(StorePlace(data))
    store.db.run("INSERT INTO team(id, name, created) VALUES('x', ?, 0)", "a\x1b]0;owned\x07b")
    store.db.close()
    assert "\x1b" not in done("team", "list")
