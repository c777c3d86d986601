"""Forgotten is forgotten: no byte of it is left, what others share stays, and it does not come back."""

from pathlib import Path

import pytest

from tests.store.archive.making import clean, held, kept, lines, text, write
from unspool.errors import Ambiguous, NotFound
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.chain import name_digest
from unspool.store.archive.forget import (
    files_by_session,
    files_to_forget,
    find_session_files,
    forget,
    look_for_samples,
    take_samples,
    unbury,
)

SHARED = text(9, 40_000)


def belongs(_: str, path: str) -> str:
    """In these tests a session is a folder."""
    return path.partition("/")[0] if "/" in path else ""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    write(root, "one/log", lines(1, 3000))
    write(root, "one/shared", SHARED)
    write(root, "two/log", lines(1, 3000).replace(b'"text"', b'"words"'))
    write(root, "two/shared", SHARED)
    write(root, "three/log", text(3, 50_000))
    write(root, "history", b"of all")
    return root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """An archive in which a pack of one session is the base of another's."""
    folder = tmp_path / "archive"
    later = root / "two/log"
    data = later.read_bytes()
    later.unlink()
    kept(folder, root)
    write(root, "one/log", lines(5, 50))
    later.write_bytes(data)
    kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        assert archive.db.execute("SELECT count(*) FROM pack WHERE base IS NOT NULL").get > 0
    return folder


def forgotten(folder: Path, session: str, key: str | None = None) -> None:
    with ArchiveDatabase.open(folder, key=key) as archive:
        _, files = find_session_files(archive, session, belongs)
        proof = forget(archive, files)
        assert proof.found == 0, proof
        assert proof.samples > 20, proof


@pytest.mark.parametrize("session", ["one", "two", "three"])
def test_nothing_of_a_session_is_left(folder: Path, session: str) -> None:
    """Rows, bytes and traces go; everything else is as it was, byte for byte."""
    before = held(folder)
    forgotten(folder, session)
    after = held(folder)
    assert after == {name: data for name, data in before.items() if belongs("", name[1]) != session}
    clean(folder)
    raw = (folder / "archive.db").read_bytes()
    with ArchiveDatabase.open(folder) as archive:
        everything = raw + b"".join(archive.unpacked(pack) for (pack,) in archive.db.execute("SELECT id FROM pack"))
    for (_, name, _), data in before.items():
        if belongs("", name) == session and data != SHARED:
            own = [data[at : at + 48] for at in range(0, len(data) - 48, 997)]
            left = [
                window for window in own if window in everything and not any(window in kept for kept in after.values())
            ]
            assert left == []
        assert name.encode() not in raw or belongs("", name) != session


def test_the_proof_can_fail(folder: Path) -> None:
    """What is still there is found by it: in packs of nobody, in the file, beside it."""
    with ArchiveDatabase.open(folder) as archive:
        files = find_session_files(archive, "three", belongs)[1]
        sought = take_samples(archive, [one.kept.file for one in files])
        data = archive.read(files[0].kept.generation)
        forget(archive, files)
        assert look_for_samples(archive, sought).found == 0
        (folder / "index.db").write_bytes(data)
        found = look_for_samples(archive, sought)
        assert found.found > 20
        assert found.where == (str(folder / "index.db"),)


def test_a_broken_archive_that_was_put_aside_is_looked_through_too(folder: Path) -> None:
    """It is as much of the folder as the one that is used."""
    aside = folder / "archive.db.damaged-1"
    aside.write_bytes((folder / "archive.db").read_bytes())
    with ArchiveDatabase.open(folder) as archive:
        proof = forget(archive, find_session_files(archive, "three", belongs)[1])
    assert proof.found > 3
    assert proof.where == (str(aside),)


def test_the_packed_bytes_are_looked_for_too(folder: Path) -> None:
    """Compressed, nothing could be read in free pages that was not removed: so the packed form is sought as well."""
    with ArchiveDatabase.open(folder) as archive:
        files = find_session_files(archive, "three", belongs)[1]
        sought = take_samples(archive, [one.kept.file for one in files])
        archive.db.pragma("secure_delete", "OFF")
        pack = archive.pieces(files[0].kept.generation)[0].pack
        archive.db.execute("DELETE FROM pack WHERE id = ?", (pack,))
        raw = archive.path.read_bytes()
        assert sum(window in raw for window in sought.packed) > 10


def test_what_would_go_is_told_before(folder: Path, root: Path) -> None:
    """Files, generations, bytes, and what other sessions share."""
    with ArchiveDatabase.open(folder) as archive:
        rows = {row.path: row for row in files_to_forget(archive, find_session_files(archive, "one", belongs)[1])}
    assert set(rows) == {"one/log", "one/shared"}
    assert rows["one/log"].generations == 2
    assert rows["one/log"].bytes == len(lines(1, 3000)) + len(lines(5, 50))
    assert (rows["one/shared"].bytes, rows["one/shared"].shared) == (len(SHARED), len(SHARED))
    assert rows["one/log"].shared == 0


def test_a_tombstone_knows_the_name_and_does_not_tell_it(folder: Path) -> None:
    """A file of that name is known to be forgotten, until it is unburied."""
    forgotten(folder, "one")
    with ArchiveDatabase.open(folder) as archive:
        assert archive.graves().hold("one/log")
        assert name_digest(archive.salt, "one/log") in archive.buried()
        assert not archive.graves().hold("two/log")
        assert b"one/log" not in archive.path.read_bytes()
        assert unbury(archive, ["one/log", "never/there"]) == 1
        assert not archive.graves().hold("one/log")
        assert archive.graves().hold("one/shared")


def test_an_encrypted_archive_forgets_too(folder: Path, root: Path, tmp_path: Path) -> None:
    """With its key, all the same."""
    kept(tmp_path / "secret", root, key="sesame")
    forgotten(tmp_path / "secret", "three", key="sesame")
    clean(tmp_path / "secret", "sesame")


def test_numbers_of_packs_are_not_used_again(folder: Path, root: Path) -> None:
    """Whoever has the archive open does not take a new pack for one that he knew."""
    write(root, "five/log", text(55, 10_000))
    kept(folder, root)
    with ArchiveDatabase.open(folder) as reader:
        assert reader.read(reader.kept(1)["five/log"].generation) == text(55, 10_000)
        forgotten(folder, "five")
        (root / "five/log").unlink()
        write(root, "six/log", text(66, 10_000))
        kept(folder, root)
        assert reader.read(reader.kept(1)["six/log"].generation) == text(66, 10_000)
        assert reader.read(reader.kept(1)["two/log"].generation) == lines(1, 3000).replace(b'"text"', b'"words"')


def test_a_session_is_found_by_the_beginning_of_its_id(folder: Path) -> None:
    """Exactly, by its first characters, or not at all."""
    with ArchiveDatabase.open(folder) as archive:
        assert find_session_files(archive, "th", belongs)[0] == "three"
        assert find_session_files(archive, "two", belongs)[0] == "two"
        assert {session for _, session in files_by_session(archive, belongs)} == {"one", "two", "three"}
        with pytest.raises(Ambiguous, match="2 sessions"):
            find_session_files(archive, "t", belongs)
        for nothing in ("four", ""):
            with pytest.raises(NotFound):
                find_session_files(archive, nothing, belongs)
