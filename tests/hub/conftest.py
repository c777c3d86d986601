"""What the tests of a hub stand on: a store of each kind, fresh for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.servers import KEY, SECRET, Servers, serving
from unspool.hub.store.opening import Place, Store, opened

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
def on_files(tmp_path: Path) -> Place:
    """A place for a hub: a folder."""
    return Place(tmp_path / "hub")


@pytest.fixture
def on_servers(tmp_path: Path, servers: Servers, credentials: None) -> Iterator[Place]:
    """A place for a hub: a database and a bucket, empty but for the tables."""
    with servers.place(tmp_path / "hub") as place:
        yield place


@pytest.fixture(params=MEMBERS)
def place(request: pytest.FixtureRequest) -> Place:
    """A place for a hub, of each kind."""
    found: Place = request.getfixturevalue(f"on_{request.param}")
    return found


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    """A store of each kind, empty."""
    made = opened(place)
    yield made
    made.db.close()


@pytest.fixture
def files_store(on_files: Place) -> Iterator[Store]:
    """A store in a folder, for what does not depend on the kind."""
    made = opened(on_files)
    yield made
    made.db.close()


@pytest.fixture
def servers_store(on_servers: Place) -> Iterator[Store]:
    """A store on servers."""
    made = opened(on_servers)
    yield made
    made.db.close()
