"""Who is let in, and what everybody is told."""

import json
import re
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from tests.hub.running import Answer, Client, running
from unspool.hub.auth import COOKIE
from unspool.hub.people import tokens, users
from unspool.hub.routes import Hub, HubSettings
from unspool.hub.server import create_app, create_first_admin
from unspool.hub.store.connect import Store


@pytest.fixture
def token(files_store: Store) -> str:
    """The owner's."""
    made = create_first_admin(files_store.db)
    assert made is not None
    return made


@pytest.fixture
def client(files_store: Store, token: str) -> Iterator[Client]:
    """Somebody who did not say who they are."""
    with running(files_store) as found:
        yield found


def browser(store: Store, token: str) -> dict[str, str]:
    """What the browser of somebody who signed in sends."""
    who = tokens.person_of_token(store.db, token)
    assert who is not None
    return {"Cookie": f"{COOKIE}={tokens.create_browser(store.db, who.id)}"}


def label(client: Client, headers: dict[str, str]) -> Answer:
    """A change that a browser's form makes."""
    return client.ask("POST", "/me/tokens", b"label=new", headers)


def test_a_first_start_makes_an_owner_once(files_store: Store, token: str) -> None:
    assert token.startswith("uns_")
    assert create_first_admin(files_store.db) is None


def test_a_token_lets_in_and_a_wrong_one_does_not(client: Client, token: str) -> None:
    assert client.as_(token).get("/api/me").status == 200
    refused = client.as_("uns_wrong").get("/api/me")
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert client.ask("GET", "/api/me", None, {"Authorization": f"Basic {token}"}).status == 401


def test_a_wrong_token_is_refused_where_none_is_needed(client: Client) -> None:
    """So that somebody whose token was revoked is told, instead of being nobody."""
    assert client.get("/").status == 200
    assert client.as_("uns_wrong").get("/").status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {},
    ],
)
def test_another_site_changes_nothing_with_a_cookie(
    files_store: Store, client: Client, token: str, headers: dict[str, str]
) -> None:
    known = browser(files_store, token)
    before = len(tokens.list_tokens(files_store.db))
    assert label(client, {**known, **headers}).status == 403
    assert len(tokens.list_tokens(files_store.db)) == before


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin", "Origin": "null"}, {"Origin": "HERE"}])
def test_the_hubs_own_pages_may(files_store: Store, client: Client, token: str, headers: dict[str, str]) -> None:
    given = {name: client.address if value == "HERE" else value for name, value in headers.items()}
    assert label(client, {**browser(files_store, token), **given}).status == 200


def test_another_site_signs_nobody_in(client: Client, token: str) -> None:
    """Or a person would work as somebody else without knowing."""
    body = f"token={token}".encode()
    assert client.ask("POST", "/sign-in", body, {"Sec-Fetch-Site": "cross-site"}).status == 403
    answer = client.ask("POST", "/sign-in", body, {"Sec-Fetch-Site": "same-origin"})
    assert answer.status == 303
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=lax" in answer.headers["set-cookie"]


def test_a_cookie_is_no_token_and_a_token_no_cookie(files_store: Store, client: Client, token: str) -> None:
    cookie = browser(files_store, token)["Cookie"].partition("=")[2]
    assert client.as_(cookie).get("/api/me").status == 401
    assert client.ask("GET", "/me", None, {"Cookie": f"{COOKIE}={token}"}).status == 401


def test_a_browser_that_signed_out_is_out(files_store: Store, client: Client, token: str) -> None:
    known = browser(files_store, token)
    assert client.ask("GET", "/me", None, known).status == 200
    client.ask("POST", "/sign-out", b"", {**known, "Sec-Fetch-Site": "same-origin"})
    assert client.ask("GET", "/me", None, known).status == 401


def test_what_a_revoked_token_let_in_is_out(files_store: Store, client: Client, token: str) -> None:
    """A browser that was signed in with it, what that browser made, and what it was asked for itself."""
    who = tokens.person_of_token(files_store.db, token)
    assert who is not None
    answer = client.ask("POST", "/sign-in", f"token={token}".encode(), {"Sec-Fetch-Site": "same-origin"})
    known = {"Cookie": answer.headers["set-cookie"].partition(";")[0], "Sec-Fetch-Site": "same-origin"}
    by_browser = re.search(r"uns_[\w-]+", label(client, known).body.decode())
    assert by_browser is not None
    by_token = client.as_(token).send("POST", "/api/tokens", {}).json["token"]
    service = client.as_(token).send("POST", "/api/people", {"name": "ci", "token_scope": "push"}).json["token"]
    invitation = client.as_(token).send("POST", "/api/invitations", {"admin": True}).json["invitation"]
    assert client.ask("GET", "/me", None, known).status == 200
    assert client.as_(token).ask("DELETE", f"/api/tokens/{who.token}").status == 204
    assert client.ask("GET", "/me", None, known).status == 401
    assert [client.as_(one).get("/api/me").status for one in (token, by_browser[0], by_token, service)] == [401] * 4
    assert client.send("POST", "/api/join", {"invitation": invitation, "name": "eve"}).status == 404


def test_signing_in_is_not_tried_for_ever(client: Client) -> None:
    answers = [client.ask("POST", "/sign-in", b"token=uns_guess").status for _ in range(25)]
    assert answers[0] == 401
    assert answers[-1] == 429


def test_an_identity_header_is_believed_only_from_where_it_is_configured(files_store: Store, token: str) -> None:
    users.add_user(files_store.db, "ada")
    given = {"X-User": "ada"}
    with running(files_store) as unconfigured:
        assert unconfigured.ask("GET", "/api/me", None, given).status == 401
    with running(files_store, HubSettings(header="X-User", proxies=(ip_network("10.0.0.0/8"),))) as elsewhere:
        assert elsewhere.ask("GET", "/api/me", None, given).status == 401
    with running(files_store, HubSettings(header="X-User", proxies=(ip_network("127.0.0.0/8"),))) as trusted:
        assert trusted.ask("GET", "/api/me", None, given).json["name"] == "ada"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "hub.example"}, 200),
        ({"Host": "HUB.example:443"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example", "Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Host": "hub.example.evil.example"}, 403),
        ({"Host": "hub.example", "Origin": "https://evil.example"}, 403),
        ({"Host": "hub.example", "Origin": "https://hub.example"}, 200),
    ],
)
def test_whom_a_proxy_vouches_for_asks_the_hub_by_its_own_name(
    files_store: Store, headers: dict[str, str], status: int
) -> None:
    """A page whose name was made to lead to the proxy would else read and do all that its reader may."""
    users.add_user(files_store.db, "ada")
    terms = HubSettings("https://hub.example", "X-User", (ip_network("127.0.0.0/8"),))
    with running(files_store, terms) as client:
        assert client.ask("GET", "/api/me", None, {"X-User": "ada", **headers}).status == status
        ours = {"Sec-Fetch-Site": "same-origin"} if status == 200 else {}
        changed = client.ask("POST", "/me/tokens", b"label=x", {"X-User": "ada", **ours, **headers})
        assert changed.status == status
        assert client.ask("GET", "/sign-in", None, {"Host": "evil.example"}).status == 200


def test_a_token_of_one_scope_is_good_for_nothing_else(files_store: Store, client: Client, token: str) -> None:
    who = tokens.person_of_token(files_store.db, token)
    assert who is not None
    read = tokens.create_token(files_store.db, who.id, "reader", scope="read")
    assert client.as_(read).get("/people").status == 200
    assert label(client.as_(read), {}).status == 403


def test_bodies_are_bounded(client: Client, token: str) -> None:
    huge = client.as_(token).ask("POST", "/me/tokens", b"label=" + b"x" * 300_000)
    assert huge.status == 413
    lying = client.as_(token).ask("POST", "/me/tokens", b"label=x", {"Content-Length": "999999999999"})
    assert lying.status == 413


def test_every_answer_forbids_what_pages_do_not_need(client: Client) -> None:
    for path in ("/", "/sign-in", "/api/me", "/nothing-here"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_what_nobody_foresaw_says_nothing_of_itself(
    files_store: Store, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("unspool.hub.web.pages.users.bytes_kept", broken)
    with running(files_store) as client:
        answer = client.as_(token).get("/me")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert "a secret of the inside" in capsys.readouterr().err


def test_the_log_has_neither_addresses_nor_content(files_store: Store, token: str) -> None:
    lines: list[str] = []
    with running(files_store, log=lines.append) as client:
        client.as_(token).get("/sessions/0123456789abcdef/?q=tide")
        client.get("/AAAAAAAAAAAAAAAAAAAAAA/")
    told = [json.loads(line) for line in lines]
    assert [line["status"] for line in told] == [404, 404]
    assert told[0]["way"] == "/sessions/{session}/"
    assert not any(word in "".join(lines) for word in ("0123456789abcdef", "AAAAAAAA", "tide", token))


def test_figures_are_for_those_who_look_after_the_hub(files_store: Store, client: Client, token: str) -> None:
    ada = users.add_user(files_store.db, "ada")
    plain = tokens.create_token(files_store.db, ada, "plain")
    scraping = tokens.create_token(files_store.db, ada, "scraper", scope="metrics")
    assert client.get("/metrics").status == 401
    assert client.as_(plain).get("/metrics").status == 403
    client.get("/sign-in")
    text = client.as_(scraping).get("/metrics").body.decode()
    assert 'unspool_hub_requests_total{way="/sign-in",method="GET",status="200"} 1' in text
    assert "unspool_hub_people 2" in text
    assert 'unspool_hub_request_seconds_bucket{way="/sign-in",le="+Inf"} 1' in text
    assert client.as_(scraping).get("/api/me").status == 403


def test_health_says_whether_the_stores_answer(files_store: Store) -> None:
    class Away:
        def well(self) -> bool:
            return False

    with running(files_store) as client:
        assert client.get("/healthz").status == 200
        assert client.get("/readyz").json == {"ready": True, "database": True, "objects": True, "stopping": False}
    lost = files_store._replace(objects=Away())  # type: ignore[arg-type]
    with running(lost) as client:
        assert client.get("/healthz").status == 200
        assert client.get("/readyz").status == 503


def test_every_way_is_guarded(files_store: Store) -> None:
    """There is no address that the door does not stand before: each route is a way's."""
    from unspool.hub.routes import all_routes

    routes = create_app(Hub(files_store)).routes
    assert [(route.path, route.methods) for route in routes] == [
        (way.path, {way.method, "HEAD"} if way.method == "GET" else {way.method}) for way in all_routes()
    ]
