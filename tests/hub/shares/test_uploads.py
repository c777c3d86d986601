"""Shares sent to a hub, changed and ended by their owner."""

import gzip
import json

import pytest

from tests.hub.running import running
from tests.hub.shares.bundles import GZIP, SESSION, bundle, counts, form, lines, log, packed, token
from tests.hub.shares.conftest import Place, same
from tests.waiting import until
from unspool.hub.people import holds
from unspool.hub.people.tokens import create_token
from unspool.hub.people.users import Person
from unspool.hub.routes import HubSettings
from unspool.hub.shares.share_store import expire_shares
from unspool.hub.store.blobs import now

ADMIN = Person("admin", "root", admin=True)


@pytest.mark.parametrize("kind", ["application/gzip", "application/x-gzip", "Application/Octet-Stream; x=1"])
def test_session_shares_client_is_answered_as_it_expects(hub: Place, kind: str) -> None:
    answer = hub.ann.ask("POST", "/api/sessions", bundle(), {"Content-Type": kind})
    assert answer.status == 200
    assert list(answer.json) == ["id"]
    document = hub.anybody.get(f"/api/sessions/{answer.json['id']}")
    assert document.headers["content-type"] == "application/json"
    assert json.loads(document.body)["meta"]["id"] == SESSION
    assert hub.anybody.get(f"/{answer.json['id']}").status == 308


def test_a_form_brings_a_bundle_in_its_field_file(hub: Place) -> None:
    body, headers = form("file", bundle())
    assert hub.ann.ask("POST", "/api/sessions", body, headers).status == 200
    for field, data in (("other", bundle()), ("file", b"")):
        body, headers = form(field, data)
        answer = hub.ann.ask("POST", "/api/sessions", body, headers)
        assert answer.status == 400
    body, headers = form("other", bundle())
    assert b"Missing file in form data" in hub.ann.ask("POST", "/api/sessions", body, headers).body
    assert b"Missing file in form data" in hub.ann.ask("POST", "/api/sessions", b"", headers).body


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "", "multipart/mixed"])
def test_other_kinds_are_not_taken(hub: Place, kind: str) -> None:
    assert hub.ann.ask("POST", "/api/sessions", bundle(), {"Content-Type": kind}).status == 415
    assert counts(hub.store)["blob"] == 0


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"metadata.txt": b"SESSION_ID=x\n"}, "session.jsonl"),
        ({"session.jsonl": b""}, "no session"),
        ({"session.jsonl": b"\x89PNG\r\n\x1a\n\0\0\0\n"}, "no session"),
        ({"session.jsonl": gzip.compress(lines())}, "packed once more"),
    ],
)
def test_what_holds_no_session_is_refused_with_a_reason(hub: Place, members: dict[str, bytes], reason: str) -> None:
    answer = hub.ann.ask("POST", "/api/sessions", packed(members.items()), GZIP)
    assert (answer.status, reason in str(answer.json["reason"])) == (400, True), answer
    assert counts(hub.store) == {"share": 0, "share_file": 0, "blob": 0}


def test_strangers_upload_only_where_the_hub_is_open(hub: Place) -> None:
    assert hub.anybody.ask("POST", "/api/sessions", bundle(), GZIP).status == 401
    reader = hub.anybody.as_(token(hub.store, "reader", "read"))
    assert reader.ask("POST", "/api/shares", bundle(), GZIP).status == 403
    pusher = hub.anybody.as_(token(hub.store, "pusher", "push"))
    assert pusher.ask("POST", "/api/shares", bundle(), GZIP).status == 201
    with running(hub.store, HubSettings(open_shares=True)) as client:
        answer = client.ask("POST", "/api/sessions", bundle(), GZIP)
        assert answer.status == 200
        assert client.get(f"/{answer.json['id']}/").status == 200
        assert client.ask("DELETE", f"/api/shares/{answer.json['id']}").status == 401
        assert client.as_(hub.bob.token).ask("DELETE", f"/api/shares/{answer.json['id']}").status == 404


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {"Share-Password": ""}),
        ("", {"Share-Password": "another word"}),
        ("?listed=1", {}),
        ("?expires=30m", {}),
        ("?raw=1", {}),
        ("?title=x", {}),
    ],
)
def test_a_push_token_sends_content_and_decides_nothing(hub: Place, query: str, headers: dict[str, str]) -> None:
    """It puts other content in place of its own person's, and neither how that is shown nor whether it is there."""
    address = hub.share(Share_Password="high%20water")
    (owner,) = hub.store.db.row("SELECT owner FROM share WHERE address = ?", address) or ("",)
    pusher = hub.anybody.as_(create_token(hub.store.db, owner, "ci", "push"))
    before = hub.ann.get(f"/api/shares/{address}").json
    path = f"/api/shares/{address}"
    assert pusher.ask("PUT", f"{path}{query}", bundle(), {**GZIP, **headers}).status == 403
    assert pusher.send("PATCH", path, {"password": ""}).status == 403
    assert pusher.ask("DELETE", path).status == 403
    assert hub.ann.get(path).json == before
    assert pusher.ask("PUT", path, bundle(log("Low water.")), GZIP).json["version"] == 2
    assert hub.ann.get(path).json["password"] is True


def test_a_push_token_of_an_admin_replaces_nobodys_share_but_theirs(hub: Place) -> None:
    address = hub.share()
    (admin,) = hub.store.db.row("SELECT id FROM person WHERE name = 'root'") or ("",)
    pusher = hub.anybody.as_(create_token(hub.store.db, admin, "ci", "push"))
    assert pusher.ask("PUT", f"/api/shares/{address}", bundle(), GZIP).status == 404
    assert hub.admin.ask("PUT", f"/api/shares/{address}", bundle(), GZIP).status == 200


def test_an_upload_that_is_tried_again_is_there_once(both: Place) -> None:
    key = "a-key-of-my-own-0001"
    first = both.share(Idempotency_Key=key)
    assert both.share(Idempotency_Key=key) == first
    assert both.share(Idempotency_Key=key + "2") != first
    other = both.bob.ask("POST", "/api/shares", bundle(), {**GZIP, "Idempotency-Key": key})
    assert other.json["address"] != first
    both.ann.ask("DELETE", f"/api/shares/{first}")
    assert both.ann.ask("POST", "/api/shares", bundle(), {**GZIP, "Idempotency-Key": key}).status == 410
    assert both.ann.ask("POST", "/api/shares", bundle(), {**GZIP, "Idempotency-Key": "short"}).status == 400


def test_policy_names_rule_and_place_and_never_the_secret(hub: Place) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    answer = hub.ann.ask("POST", "/api/shares", bundle(log(f"Use {secret} now.")), GZIP)
    assert answer.status == 422
    assert "session.jsonl, line 2" in str(answer.json["reason"])
    assert secret.encode() not in answer.body
    note = hub.ann.ask("POST", "/api/shares", bundle(None, **{"images/x.svg": f"<svg>{secret}</svg>".encode()}), GZIP)
    assert note.status == 422
    assert counts(hub.store) == {"share": 0, "share_file": 0, "blob": 0}
    with running(hub.store, HubSettings(door=False)) as client:
        assert client.as_(hub.ann.token).ask("POST", "/api/shares", bundle(log(secret)), GZIP).status == 201


def test_an_update_shows_other_content_at_the_same_address(both: Place) -> None:
    address = both.share()
    before = both.anybody.get(f"/{address}/page-001.html")
    answer = both.ann.ask("PUT", f"/api/shares/{address}", bundle(log("The harbour is closed.")), GZIP)
    assert (answer.status, answer.json["address"], answer.json["version"]) == (200, address, 2)
    after = both.anybody.get(f"/{address}/page-001.html")
    assert b"The tide table is ready." in before.body
    assert b"The harbour is closed." in after.body
    assert b"tide table is ready" not in after.body
    assert before.headers["etag"] != after.headers["etag"]
    bad = both.ann.ask("PUT", f"/api/shares/{address}", b"no bundle", GZIP)
    assert bad.status == 400
    assert both.anybody.get(f"/{address}/page-001.html").body == after.body


def test_options_are_given_at_first_and_changed_later(both: Place) -> None:
    address = both.share(query="?title=A%20talk&expires=2h&raw=1&listed=yes")
    one = both.ann.get(f"/api/shares/{address}").json
    assert (one["title"], one["raw"], one["listed"], one["password"]) == ("A talk", True, True, False)
    assert 0 < int(str(one["expires"])) - now() <= 7_200_000
    assert one["url"] == f"https://hub.example/{address}"
    page = both.anybody.get(f"/{address}/")
    assert b"<title>A talk</title>" in page.body
    assert b"bundle.tar.gz" in page.body
    assert "x-robots-tag" not in page.headers
    wish = {"title": "", "raw": False, "listed": False, "expires": None}
    changed = both.ann.send("PATCH", f"/api/shares/{address}", wish).json
    assert (changed["title"], changed["raw"], changed["expires"]) == ("Make a tide table", False, None)
    page = both.anybody.get(f"/{address}/")
    assert b"bundle.tar.gz" not in page.body
    assert both.anybody.get(f"/{address}/bundle.tar.gz").status == 404
    assert page.headers["x-robots-tag"] == "noindex, nofollow"


@pytest.mark.parametrize(
    "wish", [[], 3, {"owner": "bob"}, {"raw": "yes"}, {"title": 3}, {"expires": "soon"}, {"expires": "2001-01-01"},
             {"password": "x" * 1001}, {"expires": "999999w"}],
)  # fmt: skip
def test_wishes_that_cannot_be_are_refused(hub: Place, wish: object) -> None:
    address = hub.share()
    assert hub.ann.send("PATCH", f"/api/shares/{address}", wish).status == 400


@pytest.mark.parametrize("query", ["?raw=maybe", "?expires=yesterday", "?expires=0d"])
def test_options_that_cannot_be_are_refused(hub: Place, query: str) -> None:
    assert hub.ann.ask("POST", f"/api/shares{query}", bundle(), GZIP).status == 400


def test_deleting_ends_it_at_once_and_leaves_no_title(both: Place) -> None:
    address = both.share()
    assert both.ann.ask("DELETE", f"/api/shares/{address}").status == 200
    gone = both.anybody.get(f"/{address}/")
    assert same(gone, both.anybody.get("/AAAAAAAAAAAAAAAAAAAAAA/"))
    assert gone.status == 404
    assert both.ann.ask("DELETE", f"/api/shares/{address}").status == 404
    (row,) = both.store.db.rows("SELECT title, size, ended IS NULL FROM share")
    assert row[:2] == ("", 0)
    assert counts(both.store)["share_file"] == 0
    (told,) = both.ann.get("/api/shares").json["shares"]
    assert told["state"] == "deleted"


def test_another_person_cannot_tell_a_share_from_nothing(hub: Place) -> None:
    address, absent = hub.share(), "A" * 22
    for method, body in (("GET", None), ("PUT", bundle()), ("PATCH", b'{"title": "x"}'), ("DELETE", None)):
        mine = hub.bob.ask(method, f"/api/shares/{address}", body, GZIP)
        none = hub.bob.ask(method, f"/api/shares/{absent}", body, GZIP)
        assert same(mine, none)
        assert mine.status == 404
    assert hub.bob.get("/api/shares").json["shares"] == []
    assert hub.admin.get(f"/api/shares/{address}").status == 200


def test_a_list_comes_in_pages_and_tells_of_each_once(both: Place) -> None:
    made = [both.share(log_of(number)) for number in range(5)]
    seen: list[str] = []
    where = "/api/shares?limit=2"
    for _ in range(10):
        page = both.ann.get(where).json
        seen += [one["address"] for one in page["shares"]]
        if not page["next"]:
            break
        where = f"/api/shares?limit=2&before={str(page['next']).replace(' ', '%20')}"
    assert seen == made[::-1]


def log_of(number: int) -> bytes:
    return bundle(log(f"Answer {number}"))


def test_listed_shares_are_found_by_everybody_of_the_hub(hub: Place) -> None:
    address = hub.share(query="?listed=1")
    hub.share()
    assert [one["address"] for one in hub.bob.get("/api/shares?listed").json["shares"]] == [address]
    assert hub.anybody.get("/api/shares?listed").status == 401


def test_time_ends_a_share_for_strangers_at_once_and_for_good_at_the_sweep(both: Place) -> None:
    address = both.share(query="?expires=1h")
    kept = both.share()
    both.store.db.run("UPDATE share SET expires = ? WHERE address = ?", now() - 1, address)
    assert both.anybody.get(f"/{address}/").status == 404
    assert both.anybody.get(f"/api/sessions/{address}").status == 404
    assert counts(both.store)["share_file"] > 20
    assert expire_shares(both.store) == 1
    assert expire_shares(both.store) == 0
    assert both.store.db.rows("SELECT DISTINCT address FROM share_file") == [(kept,)]
    states = {one["address"]: (one["state"], one["title"]) for one in both.ann.get("/api/shares").json["shares"]}
    assert states[address] == ("expired", "Make a tide table")
    assert states[kept][0] == "live"


def test_a_legal_hold_keeps_a_share_from_every_end(both: Place) -> None:
    address = both.share()
    hold = holds.place_hold(both.store.db, ADMIN, ("share", address), "a case")
    assert both.ann.ask("DELETE", f"/api/shares/{address}").status == 409
    assert both.ann.ask("PUT", f"/api/shares/{address}", bundle(), GZIP).status == 409
    assert both.ann.send("PATCH", f"/api/shares/{address}", {"title": "x"}).status == 409
    both.store.db.run("UPDATE share SET expires = ? WHERE address = ?", now() - 1, address)
    assert expire_shares(both.store) == 0
    assert counts(both.store)["share_file"] > 10
    holds.lift_hold(both.store.db, hold)
    assert expire_shares(both.store) == 1


def test_nobody_keeps_more_than_they_may(hub: Place) -> None:
    size = int(str(hub.ann.get(f"/api/shares/{hub.share()}").json["size"]))
    hub.store.db.run("UPDATE person SET quota = ? WHERE name = 'ann'", size + 10)
    answer = hub.ann.ask("POST", "/api/shares", bundle(log("One more.")), GZIP)
    assert answer.status == 429
    assert counts(hub.store)["share"] == 1


def test_pages_of_an_older_hub_are_made_anew_after_they_are_shown(hub: Place) -> None:
    address = hub.share(query="?title=Mine")
    (row,) = hub.store.db.rows("SELECT facts FROM share WHERE address = ?", address)
    facts = json.loads(row[0])
    hub.store.db.run("UPDATE share SET facts = ? WHERE address = ?", json.dumps({**facts, "made": "older"}), address)
    other = hub.store.blobs.keep(b"<title>older</title>", "gzip")
    hub.store.db.run("UPDATE share_file SET digest = ? WHERE name = 'index.html'", other.digest)
    assert hub.anybody.get(f"/{address}/").body == b"<title>older</title>"
    until(lambda: b"<title>Mine</title>" in hub.anybody.get(f"/{address}/").body)
    assert hub.ann.get(f"/api/shares/{address}").json["version"] == 1
