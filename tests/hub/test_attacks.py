"""Attacks on a running hub: by people who want more than they may, and by what they send."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.hub.people.folk import project, session, somebody
from tests.hub.running import Client, running, started
from tests.share import made
from tests.thorough import tries
from tests.waiting import PATIENCE, until
from unspool.hub.errors import NotVisible
from unspool.hub.people import tokens, users
from unspool.hub.people import tokens as invitations
from unspool.hub.people.users import Person
from unspool.hub.routes import HubSettings
from unspool.hub.sessions import search
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Row
from unspool.hub.web.render import OWN

SECRET = made.SECRETS["prompt"]
OURS = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def anybody(files_store: Store) -> Iterator[Client]:
    """Somebody who did not say who they are."""
    with running(files_store) as client:
        yield client


def written(store: Store) -> list[Row]:
    """What the audit log has."""
    return store.db.rows("SELECT what, outcome, name FROM audit ORDER BY id")


def raw(client: Client, request: bytes) -> bytes:
    """What the hub answers to a request that is written by hand."""
    with socket.create_connection(("127.0.0.1", client.port), 20) as line:
        line.sendall(request)
        held = b""
        while piece := line.recv(65536):
            held += piece
        return held


# Rights


def test_a_token_that_is_good_for_push_reads_nothing_of_the_first_page(files_store: Store, anybody: Client) -> None:
    ann = somebody(files_store.db, "ann")
    session(files_store, project(files_store.db, "harbour", own=ann), ann, "the tide is high")
    assert b"the tide is high" in anybody.as_(ann.token).get("/").body
    for scope in ("push", "metrics"):
        token = tokens.create_token(files_store.db, ann.id, "ci", scope=scope)
        shown = anybody.as_(token).get("/").body
        assert b"the tide is high" not in shown
        assert b"harbour" not in shown


def test_a_token_that_is_good_for_push_makes_projects_and_gives_nobody_a_right(
    files_store: Store, anybody: Client
) -> None:
    ann, eve = somebody(files_store.db, "ann"), somebody(files_store.db, "eve")
    client = anybody.as_(tokens.create_token(files_store.db, ann.id, "ci", scope="push"))
    assert client.send("POST", "/api/projects", {"name": "harbour", "owner": "eve"}).status == 403
    assert anybody.as_(eve.token).get("/api/projects").json == {"projects": []}
    assert client.send("POST", "/api/projects", {"name": "harbour"}).status == 201


def test_who_is_no_admin_makes_no_token_for_the_figures(files_store: Store, anybody: Client) -> None:
    ann = somebody(files_store.db, "ann")
    client = anybody.as_(ann.token)
    assert client.send("POST", "/api/tokens", {"scope": "metrics"}).status == 403
    assert client.ask("POST", "/me/tokens", b"label=x&scope=metrics", OURS).status == 403
    assert b"<option>metrics" not in client.get("/me").body
    admin = somebody(files_store.db, "root", admin=True)
    assert anybody.as_(admin.token).send("POST", "/api/tokens", {"scope": "metrics"}).status == 201


def test_a_browser_is_let_in_no_longer_than_the_token_it_came_by(files_store: Store, anybody: Client) -> None:
    ann = somebody(files_store.db, "ann")
    soon = now() + DAY
    token = tokens.create_token(files_store.db, ann.id, "for a day", expires=soon)
    assert anybody.ask("POST", "/sign-in", f"token={token}".encode(), OURS).status == 303
    row = files_store.db.row("SELECT expires FROM token WHERE kind = 'browser'")
    assert row is not None
    assert row[0] <= soon


def test_a_browser_that_came_by_an_invitation_is_not_let_in_for_ever(files_store: Store, anybody: Client) -> None:
    secret = invitations.create_invitation(files_store.db, Person("", "root", admin=True), "bob")
    assert anybody.ask("POST", f"/join/{secret}", b"", OURS).status == 303
    (row,) = files_store.db.rows("SELECT expires FROM token WHERE kind = 'browser'")
    assert row[0] is not None
    assert row[0] < now() + 31 * DAY


def test_invitations_of_somebody_who_is_no_admin_any_more_do_not_hold(files_store: Store) -> None:
    ann, _ = somebody(files_store.db, "ann", admin=True), somebody(files_store.db, "root", admin=True)
    secret = invitations.create_invitation(files_store.db, ann.person, admin=True)
    users.change_user(files_store.db, ann.id, admin=False)
    assert invitations.list_invitations(files_store.db) == []
    with pytest.raises(NotVisible):
        invitations.accept_invitation(files_store.db, secret, "ann again")


def test_behind_a_proxy_nobody_takes_the_name_that_another_is_known_by(files_store: Store) -> None:
    """Whoever joined as somebody before that one's first request would have a token to all that they are given."""
    with running(files_store, HubSettings(header="X-User")) as anybody:
        secret = invitations.create_invitation(files_store.db, Person("", "root", admin=True))
        named = invitations.create_invitation(files_store.db, Person("", "root", admin=True), "bob")
        assert anybody.send("POST", "/api/join", {"invitation": secret, "name": "ann"}).status == 403
        assert anybody.ask("POST", f"/join/{secret}", b"name=ann", OURS).status == 403
        assert anybody.send("POST", "/api/join", {"invitation": named}).status == 201


def test_nobody_says_from_where_they_come(tmp_path: Path) -> None:
    """A hub as it is started believes the line, not X-Forwarded-For."""
    options = ("--identity-header", "X-User", "--proxy", "10.0.0.0/8")
    with started(tmp_path / "hub", *options) as hub:
        for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
            value = "for=10.0.0.1" if name == "Forwarded" else "10.0.0.1"
            given = {"X-User": "ann", name: value}
            assert Client(hub.client.port).ask("GET", "/api/me", None, given).status == 401


def test_wrong_tokens_of_others_keep_nobody_from_signing_in(files_store: Store, anybody: Client) -> None:
    """Behind a proxy all come from one address."""
    ann = somebody(files_store.db, "ann")
    invited = invitations.create_invitation(files_store.db, Person("", "root", admin=True), "bob")
    for _ in range(25):
        last = anybody.ask("POST", "/sign-in", b"token=uns_wrong", OURS)
    assert last.status == 429
    assert anybody.ask("POST", "/sign-in", f"token={ann.token}".encode(), OURS).status == 303
    assert anybody.ask("POST", f"/join/{invited}", b"", OURS).status == 303


def test_only_people_whose_sessions_one_may_see_are_named(files_store: Store, anybody: Client) -> None:
    ann, bob, cy = (somebody(files_store.db, name) for name in ("ann", "bobolink", "cyprian"))
    shop = project(files_store.db, "shop", own=ann, read=bob)
    session(files_store, shop, ann, "one")
    session(files_store, project(files_store.db, "mill", own=cy), cy, "two")
    shown = anybody.as_(bob.token).get("/sessions").body
    assert b">ann<" in shown
    assert b"cyprian" not in shown


# What is written down


def test_requests_that_are_not_let_in_fill_no_audit_log(files_store: Store) -> None:
    """Else anybody could fill the disk, faster than any pace."""
    with running(files_store, HubSettings(an_hour=50)) as anybody:
        for _ in range(30):
            anybody.ask("POST", "/api/sessions", b"x", {"Content-Type": "application/gzip"})
            anybody.get("/AAAAAAAAAAAAAAAAAAAAAA/")
            anybody.get("/wp-admin/")
            anybody.as_("uns_wrong").get("/api/archive")
    assert written(files_store) == []


def test_wrong_tokens_count_as_requests(files_store: Store) -> None:
    with running(files_store, HubSettings(an_hour=20)) as anybody:
        said = [anybody.as_("uns_wrong").get("/api/me").status for _ in range(30)]
    assert (said[0], said[-1]) == (401, 429)


def test_what_was_not_done_is_not_written_down_as_done(files_store: Store, anybody: Client) -> None:
    assert anybody.ask("POST", "/sign-in", b"token=uns_wrong", OURS).status == 401
    assert [row[1] for row in written(files_store)] == ["asked", "refused 401"]


def test_who_was_given_which_right_is_written_down(files_store: Store, anybody: Client) -> None:
    """By page or by program; else whoever gives rights to themselves is not seen to."""
    admin, eve = somebody(files_store.db, "root", admin=True), somebody(files_store.db, "eve")
    shop, client = project(files_store.db, "shop"), anybody.as_(admin.token)
    assert client.send("PUT", f"/api/permits/{shop}/person/eve", {"level": "own"}).status == 204
    given = f"subject=person+{eve.id}&level=own".encode()
    assert client.ask("POST", f"/projects/{shop}/rights", given, OURS).status == 303
    assert client.ask("POST", "/people/services", b"name=bot&scope=all", OURS).status == 200
    assert client.ask("POST", "/people/teams", b"name=crew", OURS).status == 303
    (team,) = files_store.db.rows("SELECT id FROM team")
    assert client.ask("POST", f"/people/teams/{team[0]}/join", f"person={eve.id}".encode(), OURS).status == 303
    rows = files_store.db.rows("SELECT what, target, detail FROM audit WHERE outcome = 'done' ORDER BY id")
    for what, target, detail in rows:
        assert target, what
        if what == "permit.give":
            assert (json.loads(detail)["subject"], json.loads(detail)["level"]) == (eve.id, "own")
        if what == "team.join":
            assert json.loads(detail)["person"] == eve.id
    assert [row[0] for row in rows] == ["permit.give", "permit.give", "person.add", "team.make", "team.join"]


def test_methods_of_ones_own_are_not_counted_apart(files_store: Store, anybody: Client) -> None:
    """Else anybody could have the hub remember any number of them."""
    admin = somebody(files_store.db, "root", admin=True)
    for number in range(5):
        raw(anybody, f"MADE{number} / HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n".encode())
    text = anybody.as_(admin.token).get("/metrics").body
    assert b"MADE" not in text
    assert b'method="other",status="405"} 5' in text


# Requests that are no good


def test_a_strange_host_is_no_trouble(anybody: Client) -> None:
    asset = OWN["hub.css"]
    for host in ("[", "a/b", "a/api/?", "::::", "a b", "\x80", ""):
        for path in ("/", "/sign-in", asset, "/nothing/at/all", "/api/nothing", "/sign-in/", "/api/me/"):
            head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            answer = raw(anybody, head.encode("latin-1"))
            status = int(answer.split(b" ", 2)[1])
            assert status < 500, (host, path, answer)
            assert status in (200, 400) or path != asset, host


STRANGE = (
    "9" * 5000, "-1", "²", "٣", "[" * 900, "(" * 900 + "a" + ")" * 900, "\0", "\ud800", "9999y", "99999999999d", "%",
    "\\", "'", '"', "'; DROP TABLE share; --", "0001-01-01", "9999-12-31", "1e999", "a" * 7000, "NOT", "* *", "-" * 500,
    "{}", " OR ".join(["a*"] * 300), "\u202e", "NaN", "9223372036854775808", "9" * 18, "0001-01-01T00:00+23:59",
)  # fmt: skip
ASKED = """
/api/archive?q={} /api/archive?since={} /api/archive?until={} /api/archive?limit={} /{} /{}/ /{}/x
/api/archive?after={} /api/archive?after={}-00 /api/archive?person={} /api/archive?project={}
/api/archive?model={} /api/archive?kind={} /api/search?q={} /api/search?q=cost:{} /api/search?q=since:{}
/api/search?q=session:{} /api/search?q=by:{} /api/usage?by={} /api/usage?since={} /api/usage?model={}
/api/audit?since={} /api/audit?before={} /api/audit?limit={} /api/audit?person={} /api/sessions/{}
/api/audit/proof?known={} /api/shares?limit={} /api/shares?before={} /api/shares?before={}%20a
/api/policy?project={} /sessions?since={} /sessions?after={} /search?q={} /search?q=a&after={} /usage?by={}
/audit?before={} /audit?what={} /sessions/{}/ /sessions/{}/story /api/archive/{} /api/archive/{}/files/{}
/api/people/{} /join/{} /api/projects/{}/sessions /api/permits/{}
"""


def test_nothing_that_is_asked_is_more_than_the_hub_foresaw(store: Store) -> None:
    """Whatever stands in an address, for whoever may ask everything: an answer, and never one of 500."""
    admin = somebody(store.db, "root", admin=True)
    session(store, project(store.db, "shop", own=admin), admin, "the tide is high")
    wrong = []
    with running(store) as anybody:
        client = anybody.as_(admin.token)
        for number, path in enumerate(ASKED.split()):
            for strange in STRANGE[number % tries(4, 1) :: tries(4, 1)]:
                asked = path.replace("{}", quote(strange, safe="", errors="surrogatepass"))
                status = client.get(asked[:60_000]).status
                if status >= 500:
                    wrong.append((status, path, strange[:40]))
    assert wrong == []


# Who waits


def test_a_hub_whose_threads_all_wait_still_lives(files_store: Store) -> None:
    go_on, begun = threading.Event(), list[int]()

    class Slow:
        def well(self) -> bool:
            begun.append(1)
            return go_on.wait(PATIENCE)

    with running(files_store._replace(objects=Slow())) as anybody:  # type: ignore[arg-type]
        waiting = [threading.Thread(target=anybody.get, args=("/readyz",)) for _ in range(45)]
        for one in waiting:
            one.start()
        until(lambda: begun)
        assert anybody.get("/healthz").status == 200
        assert all(one.is_alive() for one in waiting)
        go_on.set()
        for one in waiting:
            one.join()


def test_asking_whether_it_is_ready_keeps_no_store_busy(files_store: Store) -> None:
    looked: list[int] = []

    class Counting:
        def well(self) -> bool:
            looked.append(1)
            return True

    with running(files_store._replace(objects=Counting())) as anybody:  # type: ignore[arg-type]
        assert {anybody.get("/readyz").status for _ in range(20)} == {200}
    assert len(looked) < 10


def test_a_question_is_not_looked_into_for_ever(files_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = somebody(files_store.db, "ann")
    shop = project(files_store.db, "shop", own=ann)
    session(files_store, shop, ann, "the tide is high")
    monkeypatch.setattr(search, "_LONGEST", -1.0)
    with running(files_store) as anybody:
        assert anybody.as_(ann.token).get("/api/search?q=-nothing").status == 400


def test_what_nobody_foresaw_tells_the_log_no_content(
    anybody: Client, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("unspool.hub.web.session_pages.page", broken)
    assert anybody.get("/").status == 500
    said = capfd.readouterr().err
    assert "in home" in said
    assert "ValueError" in said
    assert SECRET not in said


# Markup


def test_nothing_that_anybody_says_becomes_markup(files_store: Store, anybody: Client) -> None:
    evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
    admin = somebody(files_store.db, "root", admin=True)
    shop = project(files_store.db, "shop", own=admin)
    one = session(files_store, shop, admin, evil)
    for column in ("title", "branch", "kind", "slug", "agent", "key", "source"):
        files_store.db.run(f"UPDATE session SET {column} = ? WHERE id = ?", evil, one)  # noqa: S608
    files_store.db.run("UPDATE session SET models = ?", json.dumps([evil]))
    files_store.db.run("UPDATE request SET model = ?", evil)
    files_store.db.run("UPDATE person SET name = ? WHERE id = ?", evil, admin.id)
    files_store.db.run("UPDATE project SET name = ?", evil)
    files_store.db.run("INSERT INTO team VALUES('t', ?, 1)", evil)
    tokens.create_token(files_store.db, admin.id, evil)
    client, asked = anybody.as_(admin.token), quote(evil, safe="")
    client.ask("DELETE", f"/api/people/{asked}")
    for path in (
        "/", "/sessions", f"/sessions?q={asked}", f"/sessions?model={asked}", f"/sessions?since={asked}", "/people",
        "/usage?by=model", "/usage?by=person", f"/usage?by={asked}", f"/usage?model={asked}", f"/search?q={asked}",
        "/me", "/search?q=alert", "/audit", f"/audit?what={asked}", f"/projects/{shop}/rights",
        f"/sessions/{one}/story", f"/{asked}/",
    ):  # fmt: skip
        shown = client.get(path).body
        assert b"<script>alert" not in shown, path
        assert b"<img src=x" not in shown, path
        assert b"\"'>" not in shown, path
