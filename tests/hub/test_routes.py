"""Every way into a hub, for everybody who may ask, from one table: what they are answered where the thing is there,
and that somebody who may not know of it is answered exactly as where it is not.

A way that is not in the table fails. `may` says who gets in, by the right that the way is for, and is written here
anew, not taken from the way.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.hub.running import running
from tests.hub.world import KINDS, Ask, World, form, sent
from unspool.hub.routes import all_routes
from unspool.hub.store.connect import StorePlace, open_store

Make = Callable[[World], Ask]
NONE, HEX = "AAAAAAAAAAAAAAAAAAAAAA", "0" * 32
"""An address and an id of nothing."""
IN = {"read": "reader writer owner admin", "write": "writer owner admin", "own": "owner admin"}
SCOPES = {"pusher": "push", "onlooker": "read", "auditor": "read"}
PERSONS = {"pusher": "writer", "onlooker": "owner", "auditor": "admin"}
READS, CHANGES, PUSHES, EVERY = "all read", "all", "all push", "all read push"


class Row(NamedTuple):
    """A line of the table."""

    may: str
    """all (nobody is asked who they are), open, person, admin, mine (the writer's, or for an admin), self (the writer's
    alone), read, write, own."""
    ok: int
    there: Make
    tokens: str = READS
    gone: Make | None = None
    """The same for something that is not there; none where the path names nothing."""


def at(path: str) -> Make:
    """A request without a body, to a path that may name the world's things."""
    return lambda world: Ask(path.format(**world.names))


def fixed(ask: Ask) -> Make:
    """Always the same request."""
    return lambda _: ask


TABLE: dict[str, Row] = {
    "GET /healthz": Row("all", 200, at("/healthz")),
    "GET /readyz": Row("open", 200, at("/readyz")),
    "GET /metrics": Row("admin", 200, at("/metrics"), "all metrics"),
    # People, for programs.
    "GET /api/me": Row("person", 200, at("/api/me"), EVERY),
    "GET /api/tokens": Row("person", 200, at("/api/tokens")),
    "POST /api/tokens": Row("person", 201, fixed(sent("/api/tokens", label="x")), CHANGES),
    "DELETE /api/tokens/{token}": Row(
        "mine", 204, lambda w: Ask(f"/api/tokens/{w.token_id()}"), CHANGES, at(f"/api/tokens/{HEX}")),
    "GET /api/people/{person}/tokens": Row(
        "admin", 200, at("/api/people/{reader}/tokens"), READS, at(f"/api/people/{HEX}/tokens")),
    "POST /api/people/{person}/tokens": Row(
        "admin", 201, lambda w: sent(f"/api/people/{w.people['reader'].id}/tokens"), CHANGES,
        fixed(sent(f"/api/people/{HEX}/tokens"))),
    "GET /api/people": Row("admin", 200, at("/api/people?all=1")),
    "POST /api/people": Row("admin", 201, lambda w: sent("/api/people", name=w.name()), CHANGES),
    "GET /api/people/{person}": Row("admin", 200, at("/api/people/{reader}"), READS, at("/api/people/reader")),
    "PATCH /api/people/{person}": Row(
        "admin", 200, lambda w: sent(f"/api/people/{w.person()}", admin=True, quota=5), CHANGES,
        fixed(sent("/api/people/reader", admin=True))),
    "DELETE /api/people/{person}": Row(
        "admin", 204, lambda w: Ask(f"/api/people/{w.person()}"), CHANGES, at("/api/people/reader")),
    "GET /api/invitations": Row("admin", 200, at("/api/invitations")),
    "POST /api/invitations": Row("admin", 201, fixed(sent("/api/invitations", team="crew")), CHANGES),
    "DELETE /api/invitations/{id}": Row(
        "admin", 204, lambda w: Ask(f"/api/invitations/{w.invitation_id()}"), CHANGES, at(f"/api/invitations/{HEX}")),
    "POST /api/join": Row(
        "open", 201, lambda w: sent("/api/join", invitation=w.invitation(), name=w.name()), READS,
        fixed(sent("/api/join", invitation=NONE, name="eve"))),
    "GET /api/teams": Row("person", 200, at("/api/teams")),
    "POST /api/teams": Row("admin", 201, lambda w: sent("/api/teams", name=w.name()), CHANGES),
    "DELETE /api/teams/{team}": Row(
        "admin", 204, lambda w: Ask(f"/api/teams/{w.team()}"), CHANGES, at(f"/api/teams/{HEX}")),
    "PUT /api/teams/{team}/members/{person}": Row(
        "admin", 204, lambda w: Ask(f"/api/teams/{w.team()}/members/{w.people['reader'].id}"), CHANGES,
        at(f"/api/teams/{HEX}/members/{{reader}}")),
    "DELETE /api/teams/{team}/members/{person}": Row(
        "admin", 204, lambda w: Ask("/api/teams/{}/members/{}".format(*w.member())), CHANGES,
        at(f"/api/teams/{HEX}/members/{{reader}}")),
    "GET /api/projects": Row("person", 200, at("/api/projects"), EVERY),
    "POST /api/projects": Row("person", 201, lambda w: sent("/api/projects", name=w.name()), PUSHES),
    "GET /api/permits/{project}": Row("own", 200, at("/api/permits/{project}"), READS, at(f"/api/permits/{HEX}")),
    "PUT /api/permits/{project}/{kind}/{subject}": Row(
        "own", 204, lambda w: sent(f"/api/permits/shop/person/{w.person()}", level="read"), CHANGES,
        lambda w: sent(f"/api/permits/nothing/person/{w.person()}", level="read")),
    "DELETE /api/permits/{project}/{kind}/{subject}": Row(
        "own", 204, lambda w: Ask(f"/api/permits/{w.project}/person/{w.permitted()}"), CHANGES,
        at(f"/api/permits/{HEX}/person/reader")),
    "GET /api/audit": Row("admin", 200, at("/api/audit?what=erase&limit=3")),
    "GET /api/audit.jsonl": Row("admin", 200, at("/api/audit.jsonl?what=erase")),
    "GET /api/audit/proof": Row("admin", 200, at("/api/audit/proof")),
    "GET /api/holds": Row("admin", 200, at("/api/holds")),
    "POST /api/holds": Row(
        "admin", 201, lambda w: sent("/api/holds", kind="person", id=w.person(), reason="a case"), CHANGES,
        fixed(sent("/api/holds", kind="session", id=HEX))),
    "DELETE /api/holds/{id}": Row(
        "admin", 204, lambda w: Ask(f"/api/holds/{w.hold()}"), CHANGES, at(f"/api/holds/{HEX}")),
    "GET /api/erase": Row("admin", 200, at("/api/erase")),
    "POST /api/erase": Row(
        "mine", 200, lambda w: sent("/api/erase", kind="share", id=w.shared()), CHANGES,
        fixed(sent("/api/erase", kind="share", id=NONE))),
    "POST /api/erase/again": Row(
        "admin", 204, lambda w: sent("/api/erase/again", person=w.people["writer"].id, key=w.buried()), CHANGES,
        fixed(sent("/api/erase/again", person=HEX, key="nothing"))),
    # The archive, for programs.
    "GET /api/policy": Row("person", 200, at("/api/policy"), EVERY),
    "POST /api/projects/{project}/have": Row(
        "write", 200, lambda w: sent(f"/api/projects/{w.project}/have"), PUSHES,
        fixed(sent(f"/api/projects/{HEX}/have"))),
    "PUT /api/projects/{project}/blobs/{digest}": Row(
        "write", 400, lambda w: Ask(f"/api/projects/{w.project}/blobs/{'0' * 64}", b"x"), PUSHES,
        fixed(Ask(f"/api/projects/{HEX}/blobs/{'0' * 64}", b"x"))),
    "POST /api/projects/{project}/sessions": Row(
        "write", 400, lambda w: Ask(f"/api/projects/{w.project}/sessions", b"{}"), PUSHES,
        fixed(Ask(f"/api/projects/{HEX}/sessions", b"{}"))),
    "GET /api/projects/{project}/sessions": Row(
        "read", 200, at("/api/projects/shop/sessions"), READS, at("/api/projects/nothing/sessions")),
    "GET /api/archive": Row("person", 200, at("/api/archive")),
    "GET /api/search": Row("person", 200, at("/api/search?q=session")),
    "GET /api/usage": Row("person", 200, at("/api/usage?by=person")),
    # Shares, for programs.
    "POST /api/sessions": Row("person", 415, at("/api/sessions"), PUSHES),
    "GET /api/sessions/{address}": Row(
        "open", 404, at("/api/sessions/{share}"), READS, at(f"/api/sessions/{NONE}")),
    "POST /api/shares": Row("person", 415, at("/api/shares"), PUSHES),
    "GET /api/shares": Row("person", 200, at("/api/shares")),
    "GET /api/shares/{address}": Row("mine", 200, at("/api/shares/{share}"), READS, at(f"/api/shares/{NONE}")),
    "PUT /api/shares/{address}": Row("mine", 415, at("/api/shares/{share}"), PUSHES, at(f"/api/shares/{NONE}")),
    "PATCH /api/shares/{address}": Row(
        "mine", 200, lambda w: sent(f"/api/shares/{w.share}", listed=False), CHANGES,
        fixed(sent(f"/api/shares/{NONE}", listed=False))),
    "DELETE /api/shares/{address}": Row(
        "mine", 200, lambda w: Ask(f"/api/shares/{w.shared()}"), CHANGES, at(f"/api/shares/{NONE}")),
    # Shares, for people.
    "GET /{address}": Row("open", 308, at("/{share}"), READS, at(f"/{NONE}")),
    "GET /{address}/": Row("open", 200, at("/{share}/"), READS, at(f"/{NONE}/")),
    "POST /{address}/": Row(
        "open", 303, lambda w: form(f"/{w.share}/", password="x"), READS, fixed(form(f"/{NONE}/", password="x"))),
    "GET /{address}/assets/{asset}": Row(
        "open", 200, at("/{share}/assets/look.css"), READS, at(f"/{NONE}/assets/look.css")),
    "GET /{address}/version.js": Row("open", 200, at("/{share}/version.js"), READS, at(f"/{NONE}/version.js")),
    "GET /{address}/{name:path}": Row(
        "open", 200, at("/{share}/index.html"), READS, at("/{share}/../../nothing.html")),
    # Pages.
    "GET /": Row("open", 200, at("/")),
    "GET /sessions": Row("person", 200, at("/sessions")),
    "GET /search": Row("person", 200, at("/search?q=session")),
    "GET /usage": Row("person", 200, at("/usage")),
    "GET /shares": Row("person", 200, at("/shares")),
    "POST /shares": Row("person", 415, at("/shares"), CHANGES),
    "POST /shares/{address}": Row(
        "mine", 303, lambda w: form(f"/shares/{w.share}"), CHANGES, fixed(form(f"/shares/{NONE}"))),
    "POST /shares/{address}/end": Row(
        "mine", 303, lambda w: form(f"/shares/{w.shared()}/end"), CHANGES, fixed(form(f"/shares/{NONE}/end"))),
    "GET /sign-in": Row("open", 200, at("/sign-in")),
    "POST /sign-in": Row(
        "open", 303, lambda w: form("/sign-in", token=w.token("reader")), CHANGES),
    "POST /sign-out": Row("open", 303, fixed(form("/sign-out")), CHANGES),
    "GET /join/{secret}": Row(
        "open", 200, lambda w: Ask(f"/join/{w.invitation()}"), READS, at(f"/join/{NONE}")),
    "POST /join/{secret}": Row(
        "open", 303, lambda w: form(f"/join/{w.invitation()}", name=w.name()), CHANGES,
        fixed(form(f"/join/{NONE}", name="eve"))),
    "GET /me": Row("person", 200, at("/me")),
    "POST /me/tokens": Row("person", 200, fixed(form("/me/tokens", label="x")), CHANGES),
    "GET /people": Row("admin", 200, at("/people")),
    "POST /people/invite": Row("admin", 200, fixed(form("/people/invite", name="")), CHANGES),
    "POST /people/invitations/{id}/end": Row(
        "admin", 303, lambda w: form(f"/people/invitations/{w.invitation_id()}/end"), CHANGES,
        fixed(form(f"/people/invitations/{HEX}/end"))),
    "POST /people/services": Row("admin", 200, lambda w: form("/people/services", name=w.name()), CHANGES),
    "POST /people/teams": Row("admin", 303, lambda w: form("/people/teams", name=w.name()), CHANGES),
    "POST /people/teams/{team}/join": Row(
        "admin", 303, lambda w: form(f"/people/teams/{w.team()}/join", person="reader"), CHANGES,
        fixed(form(f"/people/teams/{HEX}/join", person="reader"))),
    "POST /people/teams/{team}/leave": Row(
        "admin", 303, lambda w: form(f"/people/teams/{w.team()}/leave", person="reader"), CHANGES,
        fixed(form(f"/people/teams/{HEX}/leave", person="reader"))),
    "POST /people/teams/{team}/end": Row(
        "admin", 303, lambda w: form(f"/people/teams/{w.team()}/end"), CHANGES,
        fixed(form(f"/people/teams/{HEX}/end"))),
    "POST /people/{person}/end": Row(
        "admin", 303, lambda w: form(f"/people/{w.person()}/end"), CHANGES, fixed(form(f"/people/{HEX}/end"))),
    "POST /people/{person}/back": Row(
        "admin", 303, lambda w: form(f"/people/{w.person()}/back"), CHANGES, fixed(form(f"/people/{HEX}/back"))),
    "POST /people/{person}/change": Row(
        "admin", 303, lambda w: form(f"/people/{w.person()}/change", admin="1"), CHANGES,
        fixed(form(f"/people/{HEX}/change", admin="1"))),
    "POST /projects": Row("person", 303, lambda w: form("/projects", name=w.name()), CHANGES),
    "GET /projects/{project}/rights": Row(
        "own", 200, at("/projects/{project}/rights"), READS, at(f"/projects/{HEX}/rights")),
    "POST /projects/{project}/rights": Row(
        "own", 303, lambda w: form(f"/projects/{w.project}/rights", subject=f"person {w.person()}", level="read"),
        CHANGES, fixed(form(f"/projects/{HEX}/rights", subject="person reader", level="read"))),
    "GET /audit": Row("admin", 200, at("/audit")),
}  # fmt: skip

for _end in ("", "/story", "/files", "/files/its-key.jsonl", "/log"):
    _path = _end.replace("its-key.jsonl", "{name:path}")
    TABLE[f"GET /api/archive/{{session}}{_path}"] = Row(
        "read", 200, at(f"/api/archive/{{session}}{_end}"), READS, at(f"/api/archive/{HEX}{_end}")
    )
for _end, _path in (("/", "/"), ("/index.html", "/{page:path}"), ("/story", "/story")):
    TABLE[f"GET /sessions/{{session}}{_path}"] = Row(
        "read", 200, at(f"/sessions/{{session}}{_end}"), READS, at(f"/sessions/{HEX}{_end}")
    )
# The world's session is no log, and its share is of no session: who may gets as far as being told so.
TABLE["GET /sessions/{session}/share"] = Row(
    "write", 200, at("/sessions/{session}/share"), READS, at(f"/sessions/{HEX}/share")
)
TABLE["POST /sessions/{session}/share"] = Row(
    "write", 400, lambda w: form(f"/sessions/{w.session}/share"), CHANGES, fixed(form(f"/sessions/{HEX}/share"))
)
TABLE["POST /sessions/{session}/share/{address}"] = Row(
    "mine", 400, lambda w: form(f"/sessions/{w.session}/share/{w.share}"), CHANGES,
    lambda w: form(f"/sessions/{w.session}/share/{NONE}"),
)  # fmt: skip
TABLE["POST /me/tokens/{token}/end"] = Row(
    "self", 303, lambda w: form(f"/me/tokens/{w.token_id()}/end"), CHANGES, fixed(form(f"/me/tokens/{HEX}/end"))
)


def answered(row: Row, kind: str) -> int:
    """What somebody should be answered where the thing is there."""
    if row.may == "all":
        return row.ok
    if kind in ("revoked", "ended"):
        return 401
    if row.may == "open":
        return row.ok
    if kind == "anonymous":
        return 401
    if SCOPES.get(kind, "all") not in row.tokens.split():
        return 403
    return _by_right(row, PERSONS.get(kind, kind))


def _by_right(row: Row, person: str) -> int:
    if row.may == "person":
        return row.ok
    if row.may == "admin":
        return row.ok if person == "admin" else 403
    if row.may == "mine":
        return row.ok if person in ("writer", "admin") else 404
    if row.may == "self":
        return row.ok if person == "writer" else 404
    if person == "stranger":
        return 404
    return row.ok if person in IN[row.may].split() else 403


def answered_gone(row: Row, kind: str) -> int:
    """What somebody should be answered where it is not: what they could not see is as it was."""
    there = answered(row, kind)
    return 404 if there == row.ok or (there == 403 and row.may in IN and _scoped(row, kind)) else there


def _scoped(row: Row, kind: str) -> bool:
    return SCOPES.get(kind, "all") in row.tokens.split()


MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A running hub with everybody and everything."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        store = open_store(StorePlace(Path(folder)))
        with running(store) as client:
            made = World(store, client.port)
            yield made
            made.close()
        store.db.close()


def named() -> list[str]:
    """Every way but the files that every page wears, which are open and fixed."""
    found = [f"{way.method} {way.path}" for way in all_routes()]
    return [name for name in found if not name.startswith(("GET /assets/", "GET /hub/", "GET /favicon.ico"))]


def test_every_way_is_in_the_table() -> None:
    """Whoever adds a way says here who may go it; none stands here that is not."""
    assert sorted(named()) == sorted(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_everybody_is_answered_as_the_table_says(world: World, name: str) -> None:
    """Each kind of person, where the thing is there."""
    row, method = TABLE[name], name.split(maxsplit=1)[0]
    world.db.run("DELETE FROM pace")
    said = {kind: world.ask(method, row.there(world), kind).status for kind in KINDS}
    assert said == {kind: answered(row, kind) for kind in KINDS}


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.gone])
def test_nobody_learns_of_what_they_may_not_know(world: World, name: str) -> None:
    """Where the thing is not there, nobody gets it; who may not know of it is told the same, byte for byte."""
    row, method = TABLE[name], name.split(maxsplit=1)[0]
    assert row.gone is not None
    world.db.run("DELETE FROM pace")
    gone = {kind: world.ask(method, row.gone(world), kind) for kind in KINDS}
    assert {kind: got.status for kind, got in gone.items()} == {kind: answered_gone(row, kind) for kind in KINDS}
    for kind in KINDS:
        if answered(row, kind) in (401, 404) or (row.may == "admin" and kind not in ("admin", "auditor")):
            assert world.ask(method, row.there(world), kind) == gone[kind], kind
