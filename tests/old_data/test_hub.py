"""A hub's folder of an old version is served: who was let in is let in, what was pushed and shared is there."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

from tests.hub.running import Answer, Client, running
from tests.old_data.unpacked import OLD, PLAN, RELEASE, SHORT, OldData, lost
from unspool.hub.routes import HubSettings
from unspool.hub.store.connect import StorePlace, open_store

Unpacked = Callable[..., OldData]
REQUESTS = sorted(name for name, one in OLD.items() if one["asked"].startswith("GET "))
COMMANDS = sorted(name for name, one in OLD.items() if one["asked"].startswith("hub ") and name != "hub-audit")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CHANGES_WHEN_ASKED = {"used", "last_used", "seen"}
"""When a token was used last."""


@contextmanager
def served(data: OldData) -> Iterator[Client]:
    """Today's hub on the old folder."""
    store = open_store(StorePlace(data.hub))
    try:
        with running(store, HubSettings(url=data.secrets()["url"])) as client:
            yield client
    finally:
        store.db.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OldData]:
    """A folder for all that is only asked."""
    with pytest.MonkeyPatch.context() as patch:
        yield OldData(tmp_path_factory.mktemp("hub"), patch, "hub", "shared")


@pytest.fixture(scope="module")
def hub(folder: OldData) -> Iterator[Client]:
    with served(folder) as client:
        yield client


def without_uses(value: object) -> object:
    """An answer without what asking changes."""
    if isinstance(value, dict):
        return {key: without_uses(one) for key, one in value.items() if key not in CHANGES_WHEN_ASKED}
    return [without_uses(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_answered_as_it_was(folder: OldData, hub: Client, name: str) -> None:
    _, who, path = OLD[name]["asked"].split()
    answer = hub.as_(folder.secrets()[who]).get(path)
    assert answer.status == 200
    assert list(lost(without_uses(OLD[name]["answer"]), without_uses(json.loads(answer.body)))) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_the_hub_answers_as_it_did(unpacked: Unpacked, name: str) -> None:
    data = unpacked("hub")
    got = data.json(*OLD[name]["asked"].split(), "--data", data.hub)
    assert list(lost(without_uses(OLD[name]["answer"]), without_uses(got))) == []


@pytest.mark.parametrize(("who", "status"), [("owner", 200), ("ada", 200), ("bob", 200), ("gone", 401), ("ci", 403)])
def test_tokens_are_good_for_what_they_were(folder: OldData, hub: Client, who: str, status: int) -> None:
    assert hub.as_(folder.secrets()[who]).get("/api/archive").status == status


def listed(client: Client) -> dict[str, str]:
    """The hub's ids of sessions, by the agent's."""
    return {one["key"]: one["id"] for one in client.get("/api/archive").json["sessions"]}


def test_sessions_are_listed_found_and_read_by_a_team(folder: OldData, hub: Client) -> None:
    bob = hub.as_(folder.secrets()["bob"])
    ids = listed(bob)
    assert set(ids) == {RELEASE, PLAN}
    for path, text in (
        ("/sessions", "rewrite the tide reader"),
        ("/search?q=zone", "tide"),
        ("/usage", "Usage"),
        (f"/sessions/{ids[PLAN]}/", "every tide on the board is an hour late"),
        (f"/sessions/{ids[PLAN]}/page-001.html", "the clocks went forward"),
        (f"/sessions/{ids[PLAN]}/story", "harbour"),
    ):
        answer = bob.get(path)
        assert (answer.status, text in answer.body.decode()) == (200, True), path
    assert hub.get(f"/sessions/{ids[PLAN]}/").status != 200


def test_what_was_pushed_is_given_back_as_it_was(unpacked: Unpacked) -> None:
    data = unpacked("home", "hub", "shared")
    with served(data) as hub:
        ada = hub.as_(data.secrets()["ada"])
        ids = listed(ada)
        assert ada.get(f"/api/archive/{ids[PLAN]}/log").body == data.log(PLAN).read_bytes()
        begun = ada.get(f"/api/archive/{ids[RELEASE]}/log").body
        assert data.log(RELEASE).read_bytes().startswith(begun)
        assert begun.count(b"\n") == 14


def opened(client: Client, address: str, password: str) -> Answer:
    return client.ask("POST", f"/{address}/", urlencode({"password": password}).encode(), FORM)


def test_a_share_is_open_to_its_password_alone(folder: OldData, hub: Client) -> None:
    address = folder.secrets()["locked"].rsplit("/", 1)[-1]
    word = (folder.shared / "word").read_text().strip()
    assert b"tomorrow" not in hub.get(f"/{address}/").body
    assert "set-cookie" not in opened(hub, address, "wrong").headers
    ticket = opened(hub, address, word).headers["set-cookie"].partition(";")[0]
    page = hub.ask("GET", f"/{address}/", headers={"Cookie": ticket})
    assert (page.status, b"tomorrow" in page.body) == (200, True)


def test_an_open_share_keeps_its_address_and_its_bundle(folder: OldData, hub: Client) -> None:
    address = folder.secrets()["listed"].rsplit("/", 1)[-1]
    assert b"tomorrow" in hub.get(f"/{address}/page-001.html").body
    assert hub.get(f"/{address}/bundle.tar.gz").status == 200
    assert SHORT.encode() in hub.get(f"/api/sessions/{address}").body


def test_the_audit_log_is_whole_and_goes_on(unpacked: Unpacked) -> None:
    """The head that the old version printed is still in it."""
    data = unpacked("hub", "shared")
    head = data.secrets()["head"].split()[-1]
    with served(data) as hub:
        hub.as_(data.secrets()["ada"]).get("/api/archive")
    assert data.run("hub", "audit", "verify", "--known", head, "--data", data.hub).code == 0
    assert data.run("hub", "verify", "--data", data.hub).code == 0
    lines = data.json("hub", "audit", "list", "-n", "1000", "--data", data.hub)["lines"]
    old = OLD["hub-audit"]["answer"]["lines"]
    assert len(lines) > len(old)
    assert list(lost(old, lines[-len(old) :])) == []


def test_a_push_of_todays_version_goes_on_from_the_old_one(unpacked: Unpacked) -> None:
    """What the hub has is not sent again; the rest of a session that grew is."""
    data = unpacked("home", "hub", "shared")
    with served(data) as hub:
        data.moved_hub(hub.address)
        sent = {one["session"]: one["sent"] for one in data.json("push", "--yes")["pushed"]}
        assert sent.get(PLAN, 0) == 0
        assert 0 < sent[RELEASE] < data.log(RELEASE).stat().st_size
        assert data.json("push", "--yes")["pushed"] == []
        ada = hub.as_(data.secrets()["ada"])
        ids = listed(ada)
        assert {RELEASE, PLAN} < set(ids)
        assert ada.get(f"/api/archive/{ids[RELEASE]}/log").body == data.log(RELEASE).read_bytes()


def test_shares_are_listed_and_changed_by_who_made_them(unpacked: Unpacked) -> None:
    data = unpacked("home", "hub", "shared")
    was = data.secrets()["url"]
    with served(data) as hub:
        data.moved_hub(hub.address)
        got = json.loads(data.said("shares", "list", "--json").replace(hub.address, was))
        assert list(lost(OLD["shares"]["answer"], got)) == []
        address = data.secrets()["listed"].rsplit("/", 1)[-1]
        data.said("shares", "delete", address)
        assert hub.get(f"/{address}/").status in (404, 410)
