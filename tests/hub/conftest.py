"""What the tests of a hub stand on: a store of each kind, fresh for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.servers import KEY, SECRET, Servers, serving
from unspool.hub.store.connect import Store, StorePlace, open_store

MEMBERS = ("files", "servers")


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """A PostgreSQL and an object store, for all tests of this worker; which databases there are is a test's own."""
    with serving() as both:
        yield both


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the object store lets in, for this test and the processes that it starts."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.fixture
def on_files(tmp_path: Path) -> StorePlace:
    """A place for a hub: a folder."""
    return StorePlace(tmp_path / "hub")


@pytest.fixture
def on_servers(tmp_path: Path, servers: Servers, credentials: None) -> Iterator[StorePlace]:
    """A place for a hub: a database and a bucket, empty but for the tables."""
    with servers.place(tmp_path / "hub") as place:
        yield place


@pytest.fixture(params=MEMBERS)
def place(request: pytest.FixtureRequest) -> StorePlace:
    """A place for a hub, of each kind."""
    found: StorePlace = request.getfixturevalue(f"on_{request.param}")
    return found


@pytest.fixture
def store(place: StorePlace) -> Iterator[Store]:
    """A store of each kind, empty."""
    made = open_store(place)
    yield made
    made.db.close()


@pytest.fixture
def files_store(on_files: StorePlace) -> Iterator[Store]:
    """A store in a folder, for what does not depend on the kind."""
    made = open_store(on_files)
    yield made
    made.db.close()


@pytest.fixture
def servers_store(on_servers: StorePlace) -> Iterator[Store]:
    """A store on servers."""
    made = open_store(on_servers)
    yield made
    made.db.close()
