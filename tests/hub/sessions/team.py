"""A team and its hub: people with tokens, projects they may write to, machines that push."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.hub.running import Answer, Client, running
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as permits
from unspool.hub.people.projects import Right
from unspool.hub.people.users import ANYBODY, Person
from unspool.hub.routes import HubSettings
from unspool.hub.store.connect import Store
from unspool.hub.store.texts import PartPlace, read_parts
from unspool.hub_client import client as http
from unspool.hub_client.login import HubEntry, parse_address
from unspool.hub_client.push import Pusher, PushMemory, PushResult, PushTask
from unspool.store.library import Library

CWD = "/srv/tidewater"


class Counting(http.HubClient):
    """A client that knows what it sent."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(parse_address(url), HubEntry(token), pause=lambda _: None)
        self.requests: list[tuple[str, str]] = []
        self.bytes = 0

    def send(
        self, method: str, path: str, sent: http.UploadBody | None = None, headers: Mapping[str, str] | None = None
    ) -> http.HubAnswer:
        self.requests.append((method, path))
        self.bytes += sent.size if sent is not None else 0
        try:
            return super().send(method, path, sent, headers)
        finally:
            self.close()


class Member(NamedTuple):
    """Somebody of the team."""

    id: str
    name: str
    token: str
    client: Client
    store: Store

    @property
    def person(self) -> Person:
        return Person(self.id, self.name)

    def get(self, path: str) -> Answer:
        return self.client.get(path)


class Machine:
    """Somebody's machine: a folder with an agent's logs, and what it remembers of pushes."""

    def __init__(self, member: Member, folder: Path, project: str = "harbour", key: bytes = b"k" * 32) -> None:
        self.member, self.folder, self.project, self.key = member, folder, project, key
        self.source = folder / "agent"
        self.source.mkdir(parents=True, exist_ok=True)
        self.client = Counting(member.client.address, member.token)

    def pusher(self) -> Pusher:
        self.client.requests.clear()
        self.client.bytes = 0
        return Pusher(self.client, self.library(), PushMemory(self.folder / "push", self.client.url), self.key)

    def library(self) -> Library:
        return Library((self.source,))

    def rows(self, table: str) -> int:
        """How many rows the hub has in a table."""
        found = self.member.store.db.row(f"SELECT count(*) FROM {table}")  # noqa: S608
        return int(found[0]) if found else 0

    def push(self) -> list[PushResult]:
        """All that is new."""
        pusher = self.pusher()
        fresh = pusher.changed([PushTask(found, self.project) for found in self.library().logs()])
        return [pusher.push(task) for task in fresh]


class Team(NamedTuple):
    """A hub and people."""

    store: Store
    client: Client

    def member(self, name: str, right: Right = Right.WRITE, project: str = "harbour", scope: str = "all") -> Member:
        """Somebody with a right on a project, which is made where it is not there."""
        person = users.add_user(self.store.db, name)
        if project not in (one for (one,) in self.store.db.rows("SELECT name FROM project")):
            projects.create_project(self.store.db, ANYBODY._replace(admin=True), project)
        if right:
            self.permit(person, project, right)
        token = tokens.create_token(self.store.db, person, "test", scope=scope)
        return Member(person, name, token, self.client.as_(token), self.store)

    def permit(self, person: str, project: str, right: Right) -> None:
        permits.grant_right(self.store.db, projects.find_project(self.store.db, project), "person", person, right)


@contextmanager
def team(store: Store, terms: HubSettings = HubSettings()) -> Iterator[Team]:  # noqa: B008
    """A hub that runs, with nobody in it."""
    with running(store, terms) as client:
        yield Team(store, client)


def sessions(machine: Machine) -> list[dict[str, object]]:
    """What the hub lists for somebody."""
    listed: list[dict[str, object]] = machine.member.get("/api/archive").json["sessions"]
    return listed


def passages(machine: Machine) -> list[tuple[object, ...]]:
    """What is kept for search of somebody's sessions, as the object store has it."""
    sql = (
        "SELECT blob.key, number, place, text_part.size FROM text_part JOIN session ON session.id ="
        " text_part.session JOIN session_text ON session_text.session = session.id"
        " JOIN blob ON blob.digest = session_text.digest WHERE session.person = ?"
    )
    store = machine.member.store
    return [
        (one.turn, one.kind, one.link, one.body)
        for key, *part in store.db.rows(sql, machine.member.id)
        for one in read_parts(store.objects, key, [PartPlace(*part)])[part[0]]
    ]


def kept_texts(machine: Machine) -> bytes:
    """All texts for search that the object store has, of whichever push."""
    store = machine.member.store
    contents = [b"".join(store.blobs.read(digest)) for (digest,) in store.db.rows("SELECT digest FROM blob")]
    return b"".join(data for data in contents if data.startswith(b"[["))
