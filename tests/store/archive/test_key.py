"""Encryption at rest: with the key everything, without it nothing."""

import itertools
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.store.archive.making import clean, held, kept, text, write
from unspool.errors import NotFound, Unreadable, UsageProblem
from unspool.store.archive import Archive
from unspool.store.archive.database import find_key, is_encrypted, needed_key
from unspool.store.archive.salvage import convert

NEEDLE = b"a word that must not be readable in the file at all"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    write(root, "projects/s/log", text(1, 60_000) + NEEDLE)
    write(root, "projects/s/more", b"")
    kept(tmp_path / "archive", root)
    return tmp_path / "archive"


def test_there_and_back(folder: Path) -> None:
    """Encrypted, given another key, decrypted: the same bytes each time, and no other file is left."""
    before = held(folder)
    keys = [None, "first key", 'it\'s "another" key; --', None]
    for old, new in itertools.pairwise(keys):
        (folder / "index.db").write_bytes(b"words")
        convert(folder, old, new)
        assert is_encrypted(folder / "archive.db") == (new is not None)
        assert held(folder, new) == before
        clean(folder, new)
        assert [path.name for path in folder.iterdir() if path.stat().st_size] == ["archive.db"]
        assert (folder / "archive.db").stat().st_mode & 0o777 == 0o600


def test_nothing_is_readable_without_the_key(folder: Path) -> None:
    """No name, no text; a wrong key or none is told, and destroys nothing."""
    convert(folder, None, "sesame")
    raw = (folder / "archive.db").read_bytes()
    assert not [word for word in (NEEDLE[:12], b"projects", b"CREATE TABLE", b"SQLite") if word in raw]
    for wrong in (None, "sesam"):
        with pytest.raises(Unreadable, match=r"encrypted|key is wrong"):
            Archive.open(folder, key=wrong)
    assert (folder / "archive.db").read_bytes() == raw
    kept(folder, folder.parent / "source", key="sesame")
    clean(folder, "sesame")


def test_a_damaged_archive_is_not_converted(folder: Path) -> None:
    """What is not whole could not be proved equal."""
    path = folder / "archive.db"
    raw = bytearray(path.read_bytes())
    raw[-5000] ^= 1
    path.write_bytes(raw)
    with pytest.raises(Unreadable, match="repair"):
        convert(folder, None, "sesame")
    assert path.read_bytes() == raw


def test_a_process_that_waits_does_not_write_into_the_old_file(folder: Path) -> None:
    """Whoever had the archive open when it was replaced is stopped, rather than keeping files in nothing."""
    with Archive.open(folder) as late:
        late.kept(1)
        convert(folder, None, "sesame")
        with pytest.raises(apsw.Error):
            late.db.execute("INSERT INTO meta VALUES('lost', 'words')")


def test_where_a_key_comes_from(tmp_path: Path) -> None:
    """The file named, the file of the environment, the passphrase of the environment, the question."""
    one, two = write(tmp_path, "one", b"\0\xff secret"), write(tmp_path, "two", b"other")
    full = {"UNSPOOL_KEY_FILE": str(two), "UNSPOOL_PASSPHRASE": "words"}
    first, second = find_key({}, one, None), find_key({}, two, None)
    assert first != second
    assert first is not None
    assert first.isalnum()
    assert find_key(full, one, None) == first
    assert find_key(full, None, None) == second
    assert find_key({"UNSPOOL_PASSPHRASE": "words"}, None, lambda: "asked") == "words"
    assert find_key({}, None, lambda: "asked") == "asked"
    assert find_key({}, None, None) is None
    assert find_key({}, None, lambda: "") is None
    for bad, error in ((write(tmp_path, "empty", b" \n"), UsageProblem), (tmp_path / "none", NotFound)):
        with pytest.raises(error):
            find_key({}, bad, None)


def test_a_key_is_asked_for_only_where_one_is_needed(folder: Path, tmp_path: Path) -> None:
    """A plain archive, a new one and one damaged at its beginning need none."""

    def refuse() -> str:
        raise AssertionError("it was asked for")

    path = folder / "archive.db"
    assert needed_key(path, refuse) is None
    assert needed_key(tmp_path / "none.db", refuse) is None
    with path.open("r+b") as stream:
        stream.write(b"SQUite")
    assert needed_key(path, refuse) is None
    with path.open("r+b") as stream:
        stream.write(b"SQLite")
    convert(folder, None, "sesame")
    assert needed_key(path, lambda: "sesame") == "sesame"
    with pytest.raises(UsageProblem, match="key-file"):
        needed_key(path, lambda: None)


def test_conversion_that_is_killed_leaves_one_of_the_two(folder: Path) -> None:
    """At any moment, the archive is the old one or the new one, whole."""
    before = held(folder)
    code = (
        "import sys, pathlib, unspool.store.archive.salvage as c; c.convert(pathlib.Path(sys.argv[1]), None, 'sesame')"
    )
    for wait in (0.15, 0.25, 0.3, 0.35, 0.4, 0.5):
        with subprocess.Popen([sys.executable, "-c", code, str(folder)], stderr=subprocess.DEVNULL) as child:
            try:
                child.wait(wait)
            except subprocess.TimeoutExpired:
                child.kill()
        now = "sesame" if is_encrypted(folder / "archive.db") else None
        clean(folder, now)
        assert held(folder, now) == before
        if now:
            break
    if not is_encrypted(folder / "archive.db"):
        convert(folder, None, "sesame")
    assert held(folder, "sesame") == before
