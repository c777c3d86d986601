"""People, projects, sessions and shares for the tests of a hub, made in its tables and its object store."""

import secrets
from typing import NamedTuple

from unspool.files import scratch_folder
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as permits
from unspool.hub.people import projects as teams
from unspool.hub.people.projects import Right
from unspool.hub.people.users import Person
from unspool.hub.store.blobs import now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database
from unspool.hub.store.texts import SessionPassage, make_texts, write_texts
from unspool.site.build.manifest import fingerprint

ROOT = Person("", "the command line", admin=True, by="")


class One(NamedTuple):
    """Somebody, with a token."""

    person: Person
    token: str

    @property
    def id(self) -> str:
        return self.person.id


def somebody(db: Database, name: str, *, admin: bool = False, scope: str = "all", kind: str = "person") -> One:
    """Somebody new."""
    made = users.add_user(db, name, kind, admin)
    return One(Person(made, name, admin, scope), tokens.create_token(db, made, "test", scope=scope))


def team(db: Database, name: str, *members: One) -> str:
    """A team of these."""
    made = teams.create_team(db, name)
    for member in members:
        teams.add_member(db, made, member.id)
    return made


def project(db: Database, name: str, **rights: One) -> str:
    """A project; `own=ada` gives a right to somebody."""
    made = projects.create_project(db, ROOT, name)
    for level, one in rights.items():
        permits.grant_right(db, made, "person", one.id, Right[level.upper()])
    return made


def session(store: Store, project: str, owner: One, text: str, key: str = "") -> str:
    """A pushed session of one piece, one page, one part of texts and one request."""
    made = secrets.token_hex(16)
    log, page = store.blobs.keep(text.encode()), store.blobs.keep(f"page of {text}".encode(), "gzip")
    db = store.db
    with scratch_folder() as folder:
        texts, parts = make_texts([SessionPassage(1, "prompt", "", 0, text)], folder / "texts", {})
        assert texts is not None
        store.blobs.keep_file(texts)
    with db.transaction():
        db.run(
            "INSERT INTO session(id, project, person, key, agent, title, kind, branch, slug, source, turns, messages,"
            " calls, errors, tokens, cost, unpriced, models, size, state, made, finished, created, updated)"
            " VALUES(?, ?, ?, ?, 'agent', ?, '', '', '', '', 1, 1, 1, 0, 10, 10, 0, '[]', ?, ?, ?, 0, ?, ?)",
            made, project, owner.id, key or made, text, log.size, log.digest, fingerprint(), now(), now(),
        )  # fmt: skip
        db.run("INSERT INTO piece VALUES(?, ?, 0, ?, ?)", made, f"{key or made}.jsonl", log.digest, log.size)
        db.run("INSERT INTO session_page VALUES(?, 'index.html', ?, 'text/html')", made, page.digest)
        write_texts(db, made, texts.digest, parts, 0)
        db.run(
            "INSERT INTO request(session, number, identity, shared, day, model, input, output, cache_read, cache_write,"
            " final, cost) VALUES(?, 1, ?, 0, '', 'model', 1, 1, 0, 0, 1, 10)",
            made, f"request of {made}",
        )  # fmt: skip
        db.run("INSERT INTO sent(person, digest) VALUES(?, ?) ON CONFLICT DO NOTHING", owner.id, log.digest)
    return made


def share(store: Store, owner: One, text: str, address: str = "") -> str:
    """A share of one page, which wears itself."""
    address, page = address or secrets.token_urlsafe(16), store.blobs.keep(text.encode(), "gzip")
    with store.db.transaction():
        store.db.run(
            "INSERT INTO share(address, owner, title, password, raw, listed, version, size, facts, created, updated)"
            " VALUES(?, ?, ?, '', 0, 0, 1, ?, '{}', ?, ?)",
            address, owner.id, text, page.size, now(), now(),
        )  # fmt: skip
        for name, kind in (("index.html", "text/html"), ("assets/look.css", "text/css")):
            store.db.run("INSERT INTO share_file VALUES(?, ?, ?, ?)", address, name, page.digest, kind)
    return address
