"""A hub with an owner, a person and a pushed chain of sessions."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hub.running import Client
from tests.hub.sessions.team import Machine, Member, team
from unspool.demo import write_demo
from unspool.hub.people.projects import Right
from unspool.hub.server import create_first_admin
from unspool.hub.store.connect import Store, StorePlace, open_store


class Used(NamedTuple):
    """A hub that people use."""

    store: Store
    client: Client
    owner: str
    """A token."""
    ada: Member


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Used]:
    """A hub with what somebody pushed: the demo's sessions."""
    folder = tmp_path_factory.mktemp("hub")
    store = open_store(StorePlace(folder / "hub"))
    token = create_first_admin(store.db)
    assert token is not None
    with team(store) as people:
        ada = people.member("Ada", Right.WRITE, "harbour")
        machine = Machine(ada, folder / "laptop")
        _demo(machine.source)
        assert all(done.session for done in machine.push())
        yield Used(store, people.client, token, ada)
    store.db.close()


def _demo(source: Path) -> None:
    write_demo(source)
