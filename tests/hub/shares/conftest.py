"""A hub with two persons, for the tests of its shares."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.hub.running import Answer, Client, running
from tests.hub.shares.bundles import GZIP, bundle, token
from unspool.hub.routes import HubSettings
from unspool.hub.store.connect import Store


class Place(NamedTuple):
    """A hub that runs, its store, and those who ask it."""

    store: Store
    anybody: Client
    ann: Client
    bob: Client
    admin: Client

    def share(self, data: bytes | None = None, query: str = "", **headers: str) -> str:
        """The address of something that Ann shares."""
        given = {**GZIP, **{name.replace("_", "-"): value for name, value in headers.items()}}
        answer = self.ann.ask("POST", f"/api/shares{query}", data or bundle(), given)
        assert answer.status == 201, answer
        return str(answer.json["address"])


def place(store: Store, client: Client) -> Place:
    """Ann, Bob and an admin, at a hub."""
    tokens = [token(store, "ann"), token(store, "bob"), token(store, "root", admin=True)]
    return Place(store, client, *(client.as_(one) for one in tokens))


@pytest.fixture
def hub(files_store: Store) -> Iterator[Place]:
    """A hub on files."""
    with running(files_store, HubSettings(url="https://hub.example", upload=20_000_000)) as client:
        yield place(files_store, client)


@pytest.fixture
def both(store: Store) -> Iterator[Place]:
    """A hub on each kind of store."""
    with running(store, HubSettings(url="https://hub.example", upload=20_000_000)) as client:
        yield place(store, client)


def same(first: Answer, second: Answer) -> bool:
    """Whether two answers tell the same."""
    return (first.status, first.body) == (second.status, second.body)
