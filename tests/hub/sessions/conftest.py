"""A team on a hub of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.sessions.team import Machine, Team, team
from unspool.hub.store.connect import Store


@pytest.fixture
def crew(store: Store) -> Iterator[Team]:
    """A hub of each kind, without people."""
    with team(store) as made:
        yield made


@pytest.fixture
def small_crew(files_store: Store) -> Iterator[Team]:
    """A hub in a folder, without people."""
    with team(files_store) as made:
        yield made


@pytest.fixture
def machine(small_crew: Team, tmp_path: Path) -> Machine:
    """The machine of somebody who may write."""
    return Machine(small_crew.member("anne"), tmp_path / "anne")
