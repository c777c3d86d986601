"""A hub with one of every kind of person, and something of every kind that they could ask for."""

import json
import secrets
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.hub.people.folk import ROOT, project, session, share, somebody, team
from unspool.hub.people import holds, projects, tokens, users
from unspool.hub.people import projects as teams
from unspool.hub.people import tokens as invitations
from unspool.hub.people.erasure import erase_permanently
from unspool.hub.people.projects import Right
from unspool.hub.store.connect import Store

KINDS = (
    "anonymous", "stranger", "reader", "writer", "owner", "admin", "pusher", "onlooker", "auditor", "revoked", "ended",
)  # fmt: skip
"""Everybody who may ask. A pusher has a token of the writer that is good for push, an onlooker one of the owner that
is good for read, an auditor one of the admin that is good for read."""


class Got(NamedTuple):
    """What was answered."""

    status: int
    body: bytes


class Ask(NamedTuple):
    """A request but for who asks."""

    path: str
    body: bytes = b""
    kind: str = "application/json"


def sent(path: str, **fields: Any) -> Ask:
    """A request with JSON."""
    return Ask(path, json.dumps(fields).encode())


def form(path: str, **fields: str) -> Ask:
    """A request with a form."""
    return Ask(path, urlencode(fields).encode(), "application/x-www-form-urlencoded")


class World:
    """The hub, its people by kind, and makers of fresh things: what a request changes is never asked for twice."""

    def __init__(self, store: Store, port: int) -> None:
        self.store, self.db = store, store.db
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.people = {kind: somebody(self.db, kind) for kind in ("stranger", "reader", "writer", "owner", "ended")}
        self.people["admin"] = somebody(self.db, "admin", admin=True)
        self.project = project(self.db, "shop")
        self.tokens = {kind: one.token for kind, one in self.people.items()} | {"anonymous": ""}
        self._rights()
        self._more_tokens()
        self.session = session(store, self.project, self.people["writer"], "a pushed session", key="its-key")
        self.share = share(store, self.people["writer"], "a share")

    @property
    def names(self) -> dict[str, str]:
        """What stands for what in the paths of the table."""
        return {
            "project": self.project,
            "session": self.session,
            "share": self.share,
            "reader": self.people["reader"].id,
        }

    def _rights(self) -> None:
        crew = team(self.db, "crew", self.people["reader"])
        projects.grant_right(self.db, self.project, "team", crew, Right.READ)
        projects.grant_right(self.db, self.project, "person", "writer", Right.WRITE)
        projects.grant_right(self.db, self.project, "person", "owner", Right.OWN)
        team(self.db, "others", self.people["stranger"])
        project(self.db, "mill", own=self.people["stranger"])

    def _more_tokens(self) -> None:
        for kind, whose, scope in (
            ("pusher", "writer", "push"), ("onlooker", "owner", "read"), ("auditor", "admin", "read"),
            ("revoked", "admin", "all"),
        ):  # fmt: skip
            self.tokens[kind] = self.token(whose, scope)
        revoked = tokens.token_digest(self.tokens["revoked"])
        self.db.run("UPDATE token SET ended = 1 WHERE digest = ?", revoked)
        users.deactivate_user(self.db, "ended")

    def ask(self, method: str, ask: Ask, kind: str) -> Got:
        """What somebody of a kind is answered."""
        headers = {"Content-Type": ask.kind}
        if self.tokens[kind]:
            headers["Authorization"] = f"Bearer {self.tokens[kind]}"
        self._connection.request(method, ask.path, ask.body or None, headers)
        answer = self._connection.getresponse()
        return Got(answer.status, answer.read())

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def token(self, whose: str, scope: str = "all") -> str:
        """A new token of somebody."""
        return tokens.create_token(self.db, self.people[whose].id, "another", scope=scope)

    def token_id(self, whose: str = "writer") -> str:
        """The id of a new token."""
        secret = self.token(whose)
        row = self.db.row("SELECT id FROM token WHERE digest = ?", tokens.token_digest(secret))
        return str(row[0]) if row else ""

    def name(self) -> str:
        """A name that nobody has."""
        return f"new {secrets.token_hex(4)}"

    def person(self) -> str:
        """The id of somebody new."""
        return somebody(self.db, self.name()).id

    def team(self) -> str:
        """The id of a new team."""
        return teams.create_team(self.db, self.name())

    def member(self) -> tuple[str, str]:
        """A new team and who is in it."""
        made, person = self.team(), self.person()
        teams.add_member(self.db, made, person)
        return made, person

    def invitation(self) -> str:
        """The secret of a new invitation."""
        return invitations.create_invitation(self.db, ROOT)

    def invitation_id(self) -> str:
        """The id of a new invitation."""
        return invitations.open_invitation(self.db, self.invitation()).id

    def hold(self) -> str:
        """The id of a new hold, on something that nothing else is asked of."""
        return holds.place_hold(self.db, ROOT, ("person", self.person()), "a case")

    def pushed(self) -> str:
        """The id of a new session of the writer."""
        return session(self.store, self.project, self.people["writer"], self.name())

    def shared(self) -> str:
        """The address of a new share of the writer."""
        return share(self.store, self.people["writer"], self.name())

    def permitted(self) -> str:
        """Somebody new with a right on the project."""
        made = self.person()
        projects.grant_right(self.db, self.project, "person", made, Right.READ)
        return made

    def buried(self) -> str:
        """The key of a session of the writer that was erased."""
        key, writer = secrets.token_hex(8), self.people["writer"]
        erase_permanently(self.store, ROOT, "session", session(self.store, self.project, writer, self.name(), key=key))
        return key
