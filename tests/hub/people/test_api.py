"""People through the API: complete, audited, and deaf to what is not meant. Who may is in `test_ways`."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hub.people.folk import One, session, share, somebody
from tests.hub.running import Client, running
from unspool.hub.people import tokens
from unspool.hub.people.audit import AuditFilters, list_audit, verify_audit
from unspool.hub.store.connect import Store


@pytest.fixture
def boss(files_store: Store) -> One:
    """An admin."""
    return somebody(files_store.db, "boss", admin=True)


@pytest.fixture
def client(files_store: Store, boss: One) -> Iterator[Client]:
    """The admin at a running hub."""
    with running(files_store) as found:
        yield found.as_(boss.token)


def got(client: Client, path: str) -> Any:
    """What an admin is told."""
    answer = client.get(path)
    assert answer.status == 200, answer.body
    return answer.json


def test_a_team_from_nothing(client: Client, files_store: Store) -> None:
    """An invitation, a team, a project, a right: then the new one sees the project, and no more once they are ended."""
    team = client.send("POST", "/api/teams", {"name": "crew"}).json
    made = client.send("POST", "/api/invitations", {"team": "crew", "days": 1}).json
    assert str(made["link"]).endswith(f"/join/{made['invitation']}")
    assert str(made["invitation"]) not in json.dumps(got(client, "/api/invitations"))
    joined = Client(client.port).send("POST", "/api/join", {"invitation": made["invitation"], "name": "ada"})
    assert joined.status == 201
    ada = client.as_(str(joined.json["token"]))
    project = client.send("POST", "/api/projects", {"name": "shop"}).json
    assert got(ada, "/api/projects") == {"projects": []}
    assert client.send("PUT", f"/api/permits/shop/team/{team['id']}", {"level": "write"}).status == 204
    me = got(ada, "/api/me")
    assert (me["name"], me["admin"], me["teams"][0]["name"]) == ("ada", False, "crew")
    assert [(one["id"], one["right"]) for one in me["projects"]] == [(project["id"], "write")]
    assert got(ada, "/api/teams")["teams"][0]["members"] == [{"id": joined.json["person"], "name": "ada"}]
    assert client.ask("DELETE", f"/api/people/{joined.json['person']}").status == 204
    assert ada.get("/api/me").status == 401
    assert verify_audit(files_store) == []


def test_a_token_is_told_once_and_revoked_at_once(client: Client) -> None:
    """The list has no secrets; a token of another scope makes no tokens."""
    made = client.send("POST", "/api/tokens", {"label": "ci", "scope": "push", "days": 30})
    assert made.status == 201
    secret = str(made.json["token"])
    listed_ = got(client, "/api/tokens")["tokens"]
    assert secret not in json.dumps(listed_)
    which = next(one for one in listed_ if one["label"] == "ci")
    assert which["expires"] > which["created"]
    assert client.as_(secret).get("/api/me").status == 200
    assert client.as_(secret).send("POST", "/api/tokens", {}).status == 403
    assert client.ask("DELETE", f"/api/tokens/{which['id']}").status == 204
    assert client.as_(secret).get("/api/me").status == 401


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/people", b""),
        ("/api/people", b"{"),
        ("/api/people", b'"ada"'),
        ("/api/people", b'{"name": 5}'),
        ("/api/people", b'{"name": "ada", "root": true}'),
        ("/api/people", b'{"name": "a\\u0000b"}'),
        ("/api/people", b'{"name": "\\ud800"}'),
        ("/api/people", b'{"name": "\xff"}'),
        ("/api/people", b'{"name": "ada", "quota": -5}'),
        ("/api/people", b'{"name": "ada", "quota": 1e400}'),
        ("/api/people", b'{"name": "ada", "kind": "owner of all"}'),
        ("/api/people", b"[" * 5000),
        ("/api/tokens", b'{"scope": "root"}'),
        ("/api/tokens", b'{"days": 1000000000000}'),
        ("/api/holds", b'{"kind": "audit", "id": "x"}'),
        ("/api/erase", b'{"kind": "person"}'),
        ("/api/projects", b'{"name": "../../etc"}'),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(client: Client, path: str, body: bytes) -> None:
    """With a sentence, and nothing is changed."""
    before = got(client, "/api/people?all=1")
    answer = client.ask("POST", path, body)
    assert answer.status == 400, answer.body
    assert answer.json["reason"]
    assert got(client, "/api/people?all=1") == before


@pytest.mark.parametrize("query", ["since=yesterday", "before=x", "limit=-1", "before=" + "9" * 30, "limit=%C2%B2"])
def test_a_filter_that_is_none_is_refused(client: Client, query: str) -> None:
    """Rather than taken for something else."""
    assert client.get(f"/api/audit?{query}").status == 400


def test_every_change_is_in_the_audit_log_and_no_secret_is(client: Client, files_store: Store) -> None:
    """Who did it, to what, with which outcome; the log as lines, and its proof."""
    made = client.send("POST", "/api/people", {"name": "ada"}).json
    assert client.send("POST", "/api/people", {"name": "ada"}).status == 409
    token = client.send("POST", f"/api/people/{made['id']}/tokens", {"scope": "read"}).json["token"]
    invitation = client.send("POST", "/api/invitations", {}).json["invitation"]
    lines = got(client, "/api/audit?what=person")["lines"]
    assert {(line["name"], line["outcome"]) for line in lines if line["what"] == "person.add"} >= {
        ("boss", "done"), ("boss", "refused 409"),
    }  # fmt: skip
    assert any(line["target"] == made["id"] and line["outcome"] == "done" for line in lines)
    whole = client.get("/api/audit.jsonl").body
    assert len([json.loads(line) for line in whole.splitlines()]) >= 8
    for secret in (token, invitation, client.token):
        assert str(secret).encode() not in whole
    proof = got(client, "/api/audit/proof")
    assert proof["whole"]
    assert got(client, f"/api/audit/proof?known={proof['head']['digest']}")["whole"]
    assert not got(client, f"/api/audit/proof?known={'0' * 64}")["whole"]
    assert [line.what for line in list_audit(files_store.db, AuditFilters(person="boss", what="token.make"))]


def test_a_hold_and_an_erasure(client: Client, files_store: Store, boss: One) -> None:
    """What is held is not erased, with 409; what is not is, with its proof."""
    link = share(files_store, boss, "a share")
    hold = client.send("POST", "/api/holds", {"kind": "share", "id": link, "reason": "a case"}).json["id"]
    assert client.send("POST", "/api/erase", {"kind": "share", "id": link}).status == 409
    assert [one["target"] for one in got(client, "/api/holds")["holds"]] == [link]
    assert client.ask("DELETE", f"/api/holds/{hold}").status == 204
    proof = client.send("POST", "/api/erase", {"kind": "share", "id": link})
    assert (proof.status, proof.json["proved"]) == (200, True)
    assert [one["target"] for one in got(client, "/api/erase")["erased"]] == [link]


def test_a_session_is_erased_by_its_person_and_by_owners(client: Client, files_store: Store) -> None:
    """Others of the project are told that there is nothing."""
    ada, bob, eve = (somebody(files_store.db, name) for name in ("ada", "bob", "eve"))
    shop = str(client.as_(ada.token).send("POST", "/api/projects", {"name": "shop"}).json["id"])
    for one in (bob, eve):
        assert (
            client.as_(ada.token).send("PUT", f"/api/permits/{shop}/person/{one.id}", {"level": "write"}).status == 204
        )
    for eraser, status in ((eve, 404), (bob, 200), (ada, 200)):
        which = {"kind": "session", "id": session(files_store, shop, bob, f"erased by {eraser.person.name}")}
        assert client.as_(eraser.token).send("POST", "/api/erase", which).status == status
    assert client.as_(bob.token).send("POST", "/api/erase", {"kind": "project", "id": shop}).status == 404
    assert client.as_(bob.token).send("POST", "/api/erase", {"kind": "person", "id": bob.id}).status == 404
    assert client.as_(ada.token).send("POST", "/api/erase", {"kind": "project", "id": shop}).status == 200


def test_guessing_invitations_ends_soon(client: Client, files_store: Store, boss: One) -> None:
    """After some attempts of one address; who has the right one is let in, or guesses would keep everybody out."""
    nobody = Client(client.port)
    right = tokens.create_invitation(files_store.db, boss.person)
    statuses = [nobody.send("POST", "/api/join", {"invitation": f"x{n}", "name": "eve"}).status for n in range(31)]
    assert statuses == [404] * 30 + [429]
    refused = nobody.send("POST", "/api/join", {"invitation": "x", "name": "eve"})
    assert int(refused.headers["retry-after"]) > 0
    assert nobody.send("POST", "/api/join", {"invitation": right, "name": "eve"}).status == 201
