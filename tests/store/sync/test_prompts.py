"""Prompts that were forgotten stay so, whatever becomes of the agent's list of them; all others are kept."""

import json
from pathlib import Path

import pytest

from tests.store.archive.making import clean
from tests.store.sync.dumped import differing, dump
from tests.store.sync.sessions import full, rested, write
from tests.store.sync.test_ghost_rows import found, ghosts
from unspool.cli.restore_cmd import forgettable_files
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.forget import forget, look_for_samples, take_samples, unbury
from unspool.store.archive.merge import MergeReport, merge_archives
from unspool.store.index.database import discard_index
from unspool.store.sync import sync
from unspool.store.sync.prompts import own_prompts
from unspool.store.sync.scan import file_rules, forgotten_names

ONE, TWO = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"


def line(session: str, text: str, paste: str = "") -> bytes:
    pasted = {"1": {"id": 1, "type": "text", "contentHash": paste}} if paste else {}
    told = {"display": text, "pastedContents": pasted, "timestamp": 1_770_000_000_000, "project": "/home/dev/ship"}
    return json.dumps({**told, "sessionId": session}).encode() + b"\n"


MINE, OTHER = line(ONE, "scuttle the zanzibar"), line(TWO, "paint the madagascar")


def typed(root: Path, *lines: bytes, anew: bool = False) -> None:
    with (root / "history.jsonl").open("wb" if anew else "ab") as stream:
        stream.write(b"".join(lines))
    rested()


def forgotten(folder: Path, session: str) -> None:
    with ArchiveDatabase.open(folder) as archive:
        its = own_prompts(archive, session)
        proof = forget(archive, its.alone, lambda: discard_index(folder), its.parts)
    assert (proof.found, proof.samples > 3) == (0, True)
    clean(folder)


def generations(folder: Path, path: str = "history.jsonl") -> list[bytes]:
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        last = archive.last(1, path)
        return [] if last is None else [archive.read(one.generation) for one in archive.generations(last.file)]


@pytest.fixture
def synced(root: Path, folder: Path) -> Path:
    """An archive with a list of prompts that was rewritten once."""
    typed(root, MINE, OTHER, MINE)
    sync(folder, [root])
    typed(root, OTHER, MINE, anew=True)
    sync(folder, [root])
    assert generations(folder) == [MINE + OTHER + MINE, OTHER + MINE]
    assert set(ghosts(folder)) == {ONE, TWO}
    return folder


def test_they_go_from_every_generation_and_do_not_come_back(synced: Path, root: Path) -> None:
    forgotten(synced, ONE)
    assert generations(synced) == [OTHER, OTHER]
    for _ in range(2):
        report = sync(synced, [root])
        assert (report.new, report.grown, report.rewritten, report.bytes) == (0, 0, 0, 0)
    typed(root, MINE, OTHER)
    assert sync(synced, [root]).grown == 1
    assert generations(synced) == [OTHER, OTHER + OTHER]
    assert set(ghosts(synced)) == {TWO}
    assert (found(synced, "zanzibar"), found(synced, "madagascar")) == ([], [TWO])
    clean(synced)


def test_a_line_that_is_still_being_written_waits_until_it_tells_whose_it_is(synced: Path, root: Path) -> None:
    forgotten(synced, ONE)
    for session_line in (MINE, OTHER):
        typed(root, session_line[:40])
        sync(synced, [root])
        assert b"zanzibar" not in b"".join(generations(synced))
        typed(root, session_line[40:])
        sync(synced, [root])
    assert generations(synced) == [OTHER, OTHER + OTHER]


def test_the_index_is_the_same_made_anew(synced: Path, root: Path) -> None:
    """Places of prompts are those of what is kept, not of the agent's list."""
    forgotten(synced, ONE)
    sync(synced, [root])
    before = dump(synced, states=True)
    discard_index(synced)
    sync(synced, [root])
    assert differing(before, dump(synced, states=True)) == {}
    (root / "history.jsonl").unlink()
    sync(synced, [root])
    assert found(synced, "madagascar") == [TWO]


def test_unburied_they_are_kept_again(synced: Path, root: Path) -> None:
    forgotten(synced, ONE)
    sync(synced, [root])
    with ArchiveDatabase.open(synced) as archive:
        assert unbury(archive, forgotten_names(ONE), ["history.jsonl"]) == 1
    sync(synced, [root])
    assert generations(synced)[-1] == OTHER + MINE
    assert set(ghosts(synced)) == {ONE, TWO}
    clean(synced)


def test_the_proof_can_fail(synced: Path) -> None:
    with ArchiveDatabase.open(synced) as archive:
        lines = {kept.generation: [MINE] for kept in archive.generations(own_prompts(archive, ONE).lists[0].kept.file)}
        assert (
            look_for_samples(archive, take_samples(archive, [], lines)).found == 0
        )  # it is still kept, and so no remains
        sought = take_samples(archive, [], lines)
    forgotten(synced, ONE)
    with ArchiveDatabase.open(synced) as archive:
        assert look_for_samples(archive, sought).found == 0
        (synced / "index.db").write_bytes(MINE)
        assert look_for_samples(archive, sought).found > 3


def test_what_was_pasted_goes_unless_another_session_pasted_it_too(root: Path, folder: Path) -> None:
    (root / "paste-cache").mkdir()
    for name in ("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"):
        (root / "paste-cache" / f"{name}.txt").write_text(f"a long kookaburra {name} " * 20)
    both = "bbbbbbbbbbbbbbbb"
    typed(root, line(ONE, "see", "aaaaaaaaaaaaaaaa"), line(ONE, "and", both), line(TWO, "look", both))
    sync(folder, [root])
    assert set(found(folder, "kookaburra")) == {ONE, TWO}
    forgotten(folder, ONE)
    sync(folder, [root])
    assert generations(folder, "paste-cache/aaaaaaaaaaaaaaaa.txt") == []
    assert len(generations(folder, f"paste-cache/{both}.txt")) == 1
    assert found(folder, "kookaburra") == [TWO]


def test_pasted_words_are_kept_when_the_agent_has_cleaned_them_away(root: Path, folder: Path) -> None:
    cache = root / "paste-cache"
    cache.mkdir()
    (cache / "cccccccccccccccc.txt").write_text("numbats at dusk")
    typed(root, line(ONE, "see", "cccccccccccccccc"))
    sync(folder, [root])
    (cache / "cccccccccccccccc.txt").unlink()
    typed(root, line(ONE, "and more"))
    sync(folder, [root])
    assert found(folder, "numbats") == [ONE]
    discard_index(folder)
    sync(folder, [root])
    assert found(folder, "numbats") == [ONE]


def test_a_session_that_is_forgotten_with_its_log_leaves_no_ghost(root: Path, folder: Path) -> None:
    log = full("secret", 1, session_id=ONE)
    write(root, [log])
    typed(root, MINE, OTHER)
    sync(folder, [root])
    with ArchiveDatabase.open(folder) as archive:
        _, files, its = forgettable_files(archive, ONE[:6])
        assert forget(archive, files, lambda: discard_index(folder), its.parts).found == 0
    for name in log.tree():
        if name.startswith("projects/"):
            (root / name).unlink()
    (root / "file-history" / ONE).mkdir(parents=True, exist_ok=True)
    (root / "file-history" / ONE / "a@v1").write_text("left behind")
    sync(folder, [root])
    assert set(ghosts(folder)) == {TWO}


def merged(folder: Path, other: Path) -> MergeReport:
    with ArchiveDatabase.open(folder) as archive, ArchiveDatabase.open(other, readonly=True) as theirs:
        done = merge_archives(archive, theirs, file_rules)
    clean(folder)
    return done


def test_a_merge_brings_no_prompt_back_that_was_forgotten_here(synced: Path, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    typed(root, OTHER, MINE)
    sync(other, [root])
    forgotten(synced, ONE)
    assert merged(synced, other).grown == 1
    assert generations(synced) == [OTHER, OTHER + OTHER]
    again = merged(synced, other)
    assert (again.grown, again.generations, again.bytes) == (0, 0, 0)
    assert sync(synced, [root]).bytes == 0


def test_what_was_forgotten_elsewhere_stays_here_until_it_is_forgotten_here(
    synced: Path, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    sync(other, [root])
    forgotten(other, ONE)
    assert merged(synced, other).forgotten_there == ("history.jsonl",)
    sync(synced, [root])
    assert set(ghosts(synced)) == {ONE, TWO}
    assert generations(synced)[-1] == OTHER + MINE


def test_a_new_file_of_a_forgotten_session_is_not_kept_either(root: Path, folder: Path) -> None:
    log = full("secret", 1, session_id=ONE)
    write(root, [log])
    sync(folder, [root])
    with ArchiveDatabase.open(folder) as archive:
        _, files, its = forgettable_files(archive, ONE)
        forget(archive, files, lambda: discard_index(folder), its.parts)
    (root / "file-history" / ONE).mkdir(parents=True)
    (root / "file-history" / ONE / "a@v1").write_text("written after it was forgotten")
    assert sync(folder, [root]).new == 0
    assert generations(folder, f"file-history/{ONE}/a@v1") == []
