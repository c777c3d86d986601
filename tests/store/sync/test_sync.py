"""What a sync costs, what it keeps, and that it leaves its sources alone."""

import os
import random
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.archive.making import clean
from tests.store.sync.changing import held
from tests.store.sync.dumped import differing, dump
from tests.store.sync.sessions import full, noise, rested, source, turn, write
from unspool.errors import NotFound
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase
from unspool.store.sync import extract, readers, sync


def stored(folder: Path) -> int:
    """What the packs of an archive take."""
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        size: int = archive.db.execute("SELECT sum(length(data)) FROM pack").get
        return size


def test_a_second_sync_of_unchanged_logs_parses_nothing_and_writes_nothing(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counting(job: extract.ExtractJob, prices: PriceTable) -> object:
        calls.append(job.found.path)
        return extract.extract_rows(job, prices)

    monkeypatch.setattr(readers, "extract_rows", counting)
    first = sync(folder, [root])
    assert (first.parsed, len(calls)) == (3, 3)
    path = folder / "archive.db"
    before, status = path.read_bytes(), path.stat()
    second = sync(folder, [root])
    assert (second.parsed, second.bytes, second.files, second.changed) == (0, 0, first.files, False)
    assert len(calls) == 3
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (status.st_mtime_ns, status.st_ino)
    assert path.read_bytes() == before


def test_only_the_session_that_changed_is_read(root: Path, folder: Path) -> None:
    sync(folder, [root])
    log = full("cc", cwd="/home/dev/other")
    write(root, [turn(log, 8)])
    report = sync(folder, [root])
    assert (report.grown, report.new, report.parsed) == (1, 0, 1)


def test_growth_costs_what_grew(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "source/projects/-p/0b0b0b0b-0000-4000-8000-000000000001/tool-results/long.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(noise(1, 3_000_000))
    rested()
    sync(folder, [tmp_path / "source"])
    for number in range(3):
        before = stored(folder)
        with path.open("ab") as stream:
            stream.write(noise(number + 2, 10_000))
        rested()
        report = sync(folder, [tmp_path / "source"])
        assert (report.grown, report.bytes) == (1, 10_000)
        assert stored(folder) - before < 11_000


def test_what_several_files_hold_is_stored_once(folder: Path, tmp_path: Path) -> None:
    data = noise(1, 2_500_000)
    for number in range(4):
        path = tmp_path / f"source/projects/-p/s/tool-results/{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    sync(folder, [tmp_path / "source"])
    assert stored(folder) < 2_600_000


def test_a_copy_with_another_sessions_id_in_every_line_costs_little(folder: Path, tmp_path: Path) -> None:
    log, root = LogBuilder(seed="original"), tmp_path / "source"
    chosen = random.Random(1)
    for number in range(400):
        log.prompt(f"{number} {chosen.randbytes(200).hex()}")
        log.assistant(log.text(chosen.randbytes(300).hex()))
    write(root, [log])
    sync(folder, [root])
    before = stored(folder)
    copy = log.copied("0b0b0b0b-0000-4000-8000-000000000001")
    (path,) = write(root, [turn(copy, 1)])
    sync(folder, [root])
    assert stored(folder) - before < 0.15 * path.stat().st_size


def test_nothing_is_read_by_other_processes_that_this_one_would_not_say(
    root: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(folder, [root])
    monkeypatch.setattr(readers, "WORTH_A_POOL", 0)
    sync(tmp_path / "other", [root])
    assert differing(dump(folder), dump(tmp_path / "other")) == {}


def test_a_folder_of_projects_and_the_folder_above_it_are_the_same_place(root: Path, folder: Path) -> None:
    first = sync(folder, [root])
    report = sync(folder, [root / "projects"])
    assert (report.changed, report.files) == (False, first.files)
    both = sync(folder, [root, root / "projects"])
    assert not both.changed


def test_sources_that_overlap_are_kept_and_read_once(root: Path, folder: Path) -> None:
    report = sync(folder, [root, root / "projects", root / "projects/-home-dev-other"])
    assert report.parsed == 3
    assert report.new == len(source(root))
    assert sync(folder, [root]).changed is False


def test_one_project_alone_says_nothing_of_the_others(root: Path, folder: Path) -> None:
    sync(folder, [root])
    (turn(full("cc", cwd="/home/dev/other"), 5)).write(root)
    for path in (root / "projects/-home-dev-harbour").glob("*.jsonl"):
        path.unlink()
    report = sync(folder, [root / "projects/-home-dev-other"])
    assert (report.grown, report.gone, report.parsed) == (1, 0, 1)


def test_a_source_that_is_not_there_is_an_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        sync(folder, [tmp_path / "nowhere"])


def test_the_folder_and_its_files_are_the_users_alone(root: Path, folder: Path) -> None:
    sync(folder, [root])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}


def test_nothing_is_written_to_a_source(root: Path, folder: Path) -> None:
    before = {path: path.stat() for path in sorted(root.rglob("*"))}
    sync(folder, [root])
    after = {path: path.stat() for path in sorted(root.rglob("*"))}
    assert {path: (one.st_mtime_ns, one.st_ctime_ns, one.st_size) for path, one in after.items()} == {
        path: (one.st_mtime_ns, one.st_ctime_ns, one.st_size) for path, one in before.items()
    }


def test_names_with_odd_characters_are_kept(root: Path, folder: Path) -> None:
    odd = full("odd", 1, cwd="/home/dev/odd")
    odd.write(root)
    name = os.fsdecode(b"projects/-home-dev-odd/memory/\xff\xfe caf\xc3\xa9.md")
    (root / name).parent.mkdir()
    (root / name).write_bytes(b"odd")
    rested()
    assert sync(folder, [root]).failures == []
    assert held(folder)[name, 1] == b"odd"
    assert sync(folder, [root]).changed is False
    clean(folder)


def test_tools_and_models_with_half_characters_in_their_names_are_indexed(root: Path, folder: Path) -> None:
    log = LogBuilder(seed="halves").prompt("go")
    for name in ("\ud800", "\ud801", "?", "a\udfff"):
        log.call(name, {"path": "\udc00"}, "\udc00 done")
        log.assistant(log.text("ok"), model=f"model{name}")
    path = log.write(root)
    path.write_bytes(path.read_bytes().replace(b"?", b"?"))
    rested()
    report = sync(folder, [root])
    assert (report.failures, report.parsed) == ([], 4)
