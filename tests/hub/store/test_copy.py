"""A hub goes from one place to another, or to a backup and back, and nothing is lost on the way."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hub.store.filling import filled, refer
from tests.thorough import tries
from unspool.cli import hub_store_cmd
from unspool.errors import Exists, NotFound, Unsound, UsageProblem
from unspool.hub.people.audit import mark_head, verify_audit, write_audit
from unspool.hub.people.users import ANYBODY
from unspool.hub.store.blobs import PREFIX
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.copy import RowTally, TableSum, backup, is_empty, is_unfinished_copy, move, restore, table_sums
from unspool.hub.store.database import Row, Value
from unspool.hub.store.verify import verify
from unspool.hub.store.words import as_array, as_tokens, word_number


def _quiet(_: str) -> None:
    pass


@pytest.fixture(params=["files to servers", "servers to files"])
def places(
    request: pytest.FixtureRequest, on_files: StorePlace, on_servers: StorePlace
) -> tuple[StorePlace, StorePlace]:
    """From where to where."""
    return (on_files, on_servers) if request.param.startswith("files") else (on_servers, on_files)


@pytest.fixture
def source(places: tuple[StorePlace, StorePlace]) -> Iterator[Store]:
    """A filled store."""
    store = open_store(places[0])
    filled(store, 8)
    yield store
    store.db.close()


@pytest.fixture
def target(places: tuple[StorePlace, StorePlace]) -> Iterator[Store]:
    """An empty store of the other kind."""
    store = open_store(places[1])
    yield store
    store.db.close()


@pytest.mark.parametrize("many", [10_000, 1])
def test_a_hub_is_moved_whole(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """Every table and every content; the source stays as it is; words are found in the new place."""
    monkeypatch.setattr("unspool.hub.store.verify._MANY", many)
    before = table_sums(source.db)
    result = move(source, target, _quiet)
    assert table_sums(target.db) == table_sums(source.db) == before == result.sums
    assert (result.sent, result.problems) == (8, [])
    assert min(table.rows for table in before.values()) > 0
    assert list(target.objects.keys(PREFIX)) == list(source.objects.keys(PREFIX))
    assert verify(target) == verify(source)
    assert _found(target) == _found(source) != 0
    assert not is_unfinished_copy(target.db)


def test_the_mark_of_the_audit_log_goes_along(source: Store, target: Store, tmp_path: Path) -> None:
    """In the new place and in a backup, a log that is cut shows as it does in the old one."""
    source.db.run("DELETE FROM audit")
    for number in range(4):
        write_audit(source.db, ANYBODY, "share.view", str(number), "done")
    mark_head(source)
    move(source, target, _quiet)
    backup(source, tmp_path / "backup", _quiet)
    saved = open_store(StorePlace(tmp_path / "backup"))
    for store in (target, saved):
        assert verify_audit(store) == []
        store.db.run("DELETE FROM audit")
        store.db.run("DELETE FROM setting WHERE key = 'audit.head'")
        assert len(verify_audit(store)) == 1
    saved.db.close()


def _found(store: Store) -> int:
    sql: dict[str, tuple[str, Callable[[Iterable[int]], Value]]] = {
        "sqlite": ("SELECT count(*) FROM words_of_part WHERE words_of_part MATCH ?", as_tokens),
        "postgresql": ("SELECT count(*) FROM text_part WHERE words @> ?::int[]", as_array),
    }
    asked, written = sql[store.db.dialect]
    found = store.db.row(asked, written([word_number(b"plain")]))
    return int(found[0]) if found else 0


_ROWS = st.lists(st.tuples(st.text(), st.integers(-(2**63), 2**63 - 1), st.none() | st.text()), max_size=6)


@settings(max_examples=tries(25, 300))
@given(rows=_ROWS, data=st.data())
def test_a_sum_is_of_the_rows_and_not_of_their_order(rows: list[Row], data: st.DataObject) -> None:
    """And a row more, less or changed shows."""
    assert _sum(data.draw(st.permutations(rows))) == _sum(rows)
    assert _sum([*rows, ("", 0, None)]) != _sum(rows)
    if rows:
        changed = [(rows[0][0] + "x", *rows[0][1:]), *rows[1:]]
        assert _sum(changed) != _sum(rows)


def _sum(rows: list[Row]) -> TableSum:
    tally = RowTally(iter(rows))
    assert list(tally) == rows
    return tally.sum


def test_a_move_that_broke_off_goes_on(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed among the contents, among the rows, or before the end: the same again, and all of it is there."""
    for where in ("copy.insert_rows", "copy.table_sums_inside", "copy.table_sums"):
        with monkeypatch.context() as patched:
            patched.setattr(f"unspool.hub.store.{where}", _killed)
            with pytest.raises(KeyboardInterrupt):
                move(source, target, _quiet)
    assert is_unfinished_copy(target.db)
    assert move(source, target, _quiet).sent == 0
    assert table_sums(target.db) == table_sums(source.db)
    assert verify(target).problems == []
    assert move(source, target, _quiet).sent == 0


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_rows_are_not_seen_before_all_are_there(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that is killed among the rows leaves none."""
    monkeypatch.setattr("unspool.hub.store.copy.table_sums_inside", _killed)
    with pytest.raises(KeyboardInterrupt):
        move(source, target, _quiet)
    assert is_empty(target.db)


def test_a_hub_that_is_written_to_is_not_moved(source: Store, target: Store) -> None:
    """What came after the copy would be lost: it is told, and the target is no hub."""
    after = 0

    def told(step: str) -> None:
        nonlocal after
        if step == "Comparing" and not after:
            after = 1
            threading.Thread(target=_write, args=(source,)).start()
            _wait(source)

    with pytest.raises(Unsound, match="written to"):
        move(source, target, told)
    assert is_unfinished_copy(target.db)
    move(source, target, told)
    assert table_sums(target.db) == table_sums(source.db)


def _write(store: Store) -> None:
    store.db.run("INSERT INTO setting(key, value) VALUES('late', 'x')")


def _wait(store: Store) -> None:
    def look() -> None:
        while store.db.row("SELECT 1 FROM setting WHERE key = 'late'") is None:
            pass

    looking = threading.Thread(target=look)
    looking.start()
    looking.join()


def test_another_hub_is_not_overwritten(source: Store, target: Store) -> None:
    """Not even in part."""
    target.db.run("INSERT INTO setting(key, value) VALUES('other', 'hub')")
    before = table_sums(target.db)
    with pytest.raises(Exists):
        move(source, target, _quiet)
    assert table_sums(target.db) == before
    assert list(target.objects.keys("")) == []


def test_what_the_source_has_lost_is_told_and_the_rest_is_moved(source: Store, target: Store) -> None:
    """A missing content and a damaged one."""
    lost, damaged = (source.blobs.keep(data, "") for data in (b"lost", b"damaged"))
    for blob in (lost, damaged):
        refer(source, blob.digest, blob.digest)
    source.objects.delete(lost.key)
    source.objects.put(damaged.key, [b"DAMAGED"])
    result = move(source, target, _quiet)
    assert sorted(result.problems) == sorted(
        [
            f"The content {lost.digest} is missing in the object store.",
            f"The content {damaged.digest} is damaged in the object store.",
        ]
    )
    assert table_sums(target.db) == table_sums(source.db)
    assert target.objects.size(damaged.key) is None


def test_a_backup_under_load_is_of_one_moment(store: Store, tmp_path: Path) -> None:
    """Two threads write pairs of rows and contents all the while: a backup has both of a pair or none."""
    filled(store)
    stop = threading.Event()
    threads = [threading.Thread(target=_pairs, args=(store, name, stop)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            assert backup(store, tmp_path / "saved", _quiet).problems == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    saved = open_store(StorePlace(tmp_path / "saved"))
    assert verify(saved).problems == []
    assert saved.db.row("SELECT count(*) FROM team") == saved.db.row("SELECT count(*) FROM share")
    found = saved.db.row("SELECT count(*) FROM team")
    assert found is not None
    assert found[0] > 4
    saved.db.close()


def _pairs(store: Store, name: str, stop: threading.Event) -> None:
    number = 0
    while not stop.wait(0.01):
        number += 1
        blob = store.blobs.keep(f"{name} {number}".encode())
        with store.db.transaction():
            store.db.run("INSERT INTO team(id, name, created) VALUES(?, ?, 0)", f"{name}{number}", f"{name}{number}")
            store.db.run("INSERT INTO share VALUES(?, '', '', '', 0, 0, 1, 0, '', 0, 0, NULL, NULL)", f"{name}{number}")
            refer(store, blob.digest, f"{name}{number}")


def test_a_backup_comes_back_to_either_kind(
    store: Store, on_files: StorePlace, servers_store: Store, tmp_path: Path
) -> None:
    """As it was at the moment of the backup, whatever happened since."""
    filled(store, 8)
    before = table_sums(store.db)
    assert backup(store, tmp_path / "saved", _quiet).sent == 8
    store.db.run("DELETE FROM team")
    here = open_store(StorePlace(tmp_path / "back"))
    targets = [here] if store.db.dialect == "postgresql" else [here, servers_store]
    for target in targets:
        restore(tmp_path / "saved", target, _quiet)
        assert table_sums(target.db) == before
        assert verify(target).problems == []
    here.db.close()


def test_the_next_backup_takes_what_is_new_and_drops_what_is_gone(files_store: Store, tmp_path: Path) -> None:
    """In the same folder; one that breaks off leaves the one before."""
    digests = filled(files_store, 8)
    backup(files_store, tmp_path / "saved", _quiet)
    for table in ("share_file", "session_page", "session_text", "piece"):
        files_store.db.run(f"DELETE FROM {table} WHERE digest = ?", digests[0])  # noqa: S608
    assert files_store.blobs.drop(digests[0])
    refer(files_store, files_store.blobs.keep(b"new").digest, "new")
    assert backup(files_store, tmp_path / "saved", _quiet).sent == 1
    saved = open_store(StorePlace(tmp_path / "saved"))
    assert table_sums(saved.db) == table_sums(files_store.db)
    assert list(saved.objects.keys("")) == list(files_store.objects.keys(""))
    before = table_sums(saved.db)
    files_store.db.run("DELETE FROM team")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("unspool.hub.store.copy.table_sums_inside", _killed)
        with pytest.raises(KeyboardInterrupt):
            backup(files_store, tmp_path / "saved", _quiet)
    assert table_sums(saved.db) == before
    saved.db.close()


def test_a_folder_that_is_a_hub_is_no_place_for_a_backup(
    files_store: Store, on_files: StorePlace, tmp_path: Path
) -> None:
    """And one without a backup is nothing to restore."""
    other = open_store(StorePlace(tmp_path / "other"))
    other.db.close()
    for folder in (on_files.folder, tmp_path / "other"):
        with pytest.raises(Exists):
            backup(files_store, folder, _quiet)
    with pytest.raises(NotFound):
        restore(tmp_path / "nothing", files_store, _quiet)


def test_a_backup_that_was_never_finished_is_not_restored(files_store: Store, tmp_path: Path) -> None:
    """One of a hub with nothing in it is."""
    target = open_store(StorePlace(tmp_path / "back"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("unspool.hub.store.copy.insert_rows", _killed)
        with pytest.raises(KeyboardInterrupt):
            backup(files_store, tmp_path / "saved", _quiet)
    with pytest.raises(NotFound, match="never finished"):
        restore(tmp_path / "saved", target, _quiet)
    backup(files_store, tmp_path / "saved", _quiet)
    assert restore(tmp_path / "saved", target, _quiet).sent == 0
    target.db.close()


def test_the_commands_do_it_and_say_so(on_files: StorePlace, on_servers: StorePlace, tmp_path: Path) -> None:
    """Backup, restore to servers, move back, verify, tidy."""
    store = open_store(on_files)
    filled(store)
    before = table_sums(store.db)
    store.db.close()
    servers = ["--database", on_servers.database, "--objects", on_servers.bucket]
    here, saved, back = (["--data", str(path)] for path in (on_files.folder, tmp_path / "saved", tmp_path / "back"))
    run = CliRunner(catch_exceptions=False).invoke
    assert "Saved" in run(hub_store_cmd.backup_command, [saved[1], *here]).output
    told = json.loads(run(hub_store_cmd.restore_command, [saved[1], *servers, "--json"]).output)
    assert told["tables"]["share"]["rows"] == 4
    came = ["--from-database", on_servers.database, "--from-objects", on_servers.bucket]
    assert "every one is as it was" in run(hub_store_cmd.move_command, [*came, *back]).output
    moved = open_store(StorePlace(tmp_path / "back"))
    assert table_sums(moved.db) == before
    moved.db.run("DELETE FROM audit")
    moved.db.close()
    assert "All is as it should be" in run(hub_store_cmd.verify_command, back).output
    assert json.loads(run(hub_store_cmd.tidy_command, [*back, "--json"]).output)["contents"] == 0
    for path in (tmp_path / "back" / "objects").rglob("*.*"):
        path.unlink()
    result = run(hub_store_cmd.verify_command, [*back, "--json"])
    assert (result.exit_code, len(json.loads(result.stdout)["problems"])) == (1, 4)
    with pytest.raises(UsageProblem):
        run(hub_store_cmd.move_command, ["--from-data", here[1], *here])


def test_a_wrong_path_is_no_new_hub(tmp_path: Path) -> None:
    """Whoever mistypes a path saves, proves and moves nothing, and is told."""
    wrong, right = str(tmp_path / "wrong"), str(tmp_path / "right")
    for command, words in (
        (hub_store_cmd.backup_command, [right, "--data", wrong]),
        (hub_store_cmd.verify_command, ["--data", wrong]),
        (hub_store_cmd.tidy_command, ["--data", wrong]),
        (hub_store_cmd.move_command, ["--from-data", wrong, "--data", right]),
    ):
        with pytest.raises(NotFound):
            CliRunner(catch_exceptions=False).invoke(command, words)
    assert list(tmp_path.iterdir()) == []
