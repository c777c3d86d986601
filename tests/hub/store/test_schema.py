"""Tables of an older version become this one's, with all that is in them, whoever tries."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hub.store.filling import filled
from unspool.errors import UsageProblem
from unspool.hub.store import schema
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.copy import table_sums
from unspool.hub.store.schema import STEPS, migrate, schema_version

if TYPE_CHECKING:
    from tests.hub.servers import Servers

_STEP = """
ALTER TABLE share ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';
CREATE TABLE shelf(id TEXT PRIMARY KEY, share TEXT NOT NULL);
INSERT INTO shelf(id, share) SELECT address, owner FROM share;
"""


@pytest.fixture(params=["files", "servers"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePlace]:
    """A place without tables, of each kind."""
    if request.param == "files":
        yield StorePlace(tmp_path / "hub")
        return
    request.getfixturevalue("credentials")
    servers: Servers = request.getfixturevalue("servers")
    with servers.place(tmp_path / "hub", tables=False) as place:
        yield place


@pytest.fixture
def old(bare: StorePlace) -> Iterator[Store]:
    """A filled store of the version that is the newest."""
    store = open_store(bare)
    filled(store)
    yield store
    store.db.close()


def test_tables_are_made_once(bare: StorePlace) -> None:
    """The second time nothing is done."""
    store = open_store(bare)
    assert schema_version(store.db) == len(STEPS)
    before = table_sums(store.db)
    assert migrate(store.db) == len(STEPS)
    assert table_sums(store.db) == before
    store.db.close()


def test_a_filled_database_is_brought_forward(old: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that was there still is, and the step has seen it."""
    before = table_sums(old.db)
    monkeypatch.setattr(schema, "STEPS", (*STEPS, dict.fromkeys(("sqlite", "postgresql"), _STEP)))
    assert migrate(old.db) == len(STEPS)
    after = table_sums(old.db)
    assert schema_version(old.db) == len(STEPS) + 1
    assert {name: after[name] for name in before if name not in ("share", "setting")} == {
        name: before[name] for name in before if name not in ("share", "setting")
    }
    assert old.db.rows("SELECT DISTINCT colour FROM share") == [("grey",)]
    assert old.db.row("SELECT count(*) FROM shelf") == (before["share"].rows,)


def test_an_old_hub_learns_which_costs_are_lower_bounds(bare: StorePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first version kept of requests tells of each session how many never had final figures."""
    with monkeypatch.context() as before:
        before.setattr(schema, "STEPS", STEPS[:1])
        store = open_store(bare)
    texts = ("id", "project", "person", "key", "agent", "title", "kind", "branch", "slug", "source", "models")
    counts = ("turns", "messages", "calls", "errors", "tokens", "cost", "unpriced", "size", "created", "updated")
    for session in ("open", "final"):
        columns = {**dict.fromkeys((*texts, "state", "made"), session), **dict.fromkeys((*counts, "finished"), 0)}
        marks = ", ".join("?" * len(columns))
        store.db.run(f"INSERT INTO session({', '.join(columns)}) VALUES({marks})", *columns.values())
        for number in range(3):
            final = int(session == "final" or number == 0)
            store.db.run(
                "INSERT INTO request(session, number, shared, identity, day, model, input, output, cache_read,"
                " cache_write, final, cost) VALUES(?, ?, 0, ?, '', '', 0, 0, 0, 0, ?, NULL)",
                *(session, number, f"{session}{number}", final),
            )
    assert migrate(store.db) == 1
    assert dict(store.db.rows("SELECT id, open FROM session")) == {"open": 2, "final": 0}
    store.db.close()


def test_a_step_that_fails_changes_nothing(old: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is not there, and the version is the old one."""
    before = table_sums(old.db)
    broken = dict.fromkeys(("sqlite", "postgresql"), _STEP + "INSERT INTO nowhere VALUES(1);")
    monkeypatch.setattr(schema, "STEPS", (*STEPS, broken))
    with pytest.raises(Exception, match="nowhere"):
        migrate(old.db)
    monkeypatch.undo()
    assert schema_version(old.db) == len(STEPS)
    assert table_sums(old.db) == before


def test_a_newer_database_is_refused(old: Store, bare: StorePlace) -> None:
    """With a sentence that says what to do."""
    old.db.run("UPDATE setting SET value = ? WHERE key = 'version'", str(len(STEPS) + 1))
    with pytest.raises(UsageProblem, match="newer unspool"):
        open_store(bare)


_MIGRATE = """
import sys
from pathlib import Path
from unspool.hub.store import schema
from unspool.hub.store.connect import StorePlace, open_store

if sys.argv[3]:
    schema.STEPS = (*schema.STEPS, dict.fromkeys(("sqlite", "postgresql"), sys.argv[3]))
sys.stdin.read(1)
store = open_store(StorePlace(Path(sys.argv[1]), sys.argv[2]))
print(schema.schema_version(store.db))
"""


def test_processes_that_migrate_at_once_do_it_once(bare: StorePlace) -> None:
    """Two make the tables, two bring them forward; each step happens once, and nobody fails."""
    for step, wanted in (("", len(STEPS)), (_STEP, len(STEPS) + 1)):
        command = [sys.executable, "-c", _MIGRATE, str(bare.folder), bare.database, step]
        started = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
        ]
        said = [process.communicate("x", 60)[0].strip() for process in started]
        assert said == [str(wanted)] * 2


def test_a_copy_that_was_not_finished_is_no_hub(old: Store, bare: StorePlace) -> None:
    """It is opened only by whoever goes on with it."""
    old.db.run("INSERT INTO setting(key, value) VALUES(?, '')", schema.MARK)
    with pytest.raises(UsageProblem, match="not finished"):
        open_store(bare)
    open_store(bare, unfinished=True).db.close()
