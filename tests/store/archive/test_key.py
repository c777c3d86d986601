"""Encryption at rest: with the key everything, without it nothing."""

import hashlib
import itertools
import pickle
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.store.archive.making import clean, held, kept, text, write
from unspool.errors import NotFound, Unreadable, UsageProblem
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.keys import RawKey, check_length, find_key, find_new_key, is_encrypted, is_weak, needed_key
from unspool.store.archive.salvage import convert
from unspool.store.sync import sync

NEEDLE = b"a word that must not be readable in the file at all"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    write(root, "projects/s/log", text(1, 60_000) + NEEDLE)
    write(root, "projects/s/more", b"")
    (tmp_path / "nothing").mkdir()
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
            ArchiveDatabase.open(folder, key=wrong)
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
    with ArchiveDatabase.open(folder) as late:
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


def weakened(folder: Path, key: str) -> None:
    """The archive of a folder as an older version encrypted it: the cipher stretches the passphrase by itself."""
    convert(folder, None, key)
    with ArchiveDatabase.open(folder, key=key) as archive:
        archive.db.pragma("rekey", str(key))
    assert is_weak(folder / "archive.db")


def raw_key(key: str, salt: bytes, rounds: int | None) -> bytes:
    """What a passphrase becomes, by the cipher's own rounds or by scrypt."""
    if rounds:
        return hashlib.pbkdf2_hmac("sha256", key.encode(), salt, rounds)
    return hashlib.scrypt(key.encode(), salt=salt, n=2**17, r=8, p=1, maxmem=2**28, dklen=32)


def opens(path: Path, raw: bytes) -> bool:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    db.pragma("cipher", "chacha20")
    db.pragma("key", f"raw:{raw.hex()}")
    try:
        return bool(db.execute("SELECT count(*) FROM meta").get)
    except apsw.NotADBError:
        return False
    finally:
        db.close()


def test_a_guess_at_the_passphrase_costs_scrypt_and_not_a_few_rounds(folder: Path) -> None:
    convert(folder, None, "sesame, open wide")
    path = folder / "archive.db"
    salt = path.read_bytes()[:16]
    assert not opens(path, raw_key("sesame, open wide", salt, 64_007))
    assert opens(path, raw_key("sesame, open wide", salt, None))


def test_an_old_archive_opens_and_the_next_sync_makes_it_strong(folder: Path) -> None:
    """Also where it is only read before, which changes nothing; index and archive then have one key."""
    before = held(folder)
    weakened(folder, "sesame")
    raw = (folder / "archive.db").read_bytes()
    assert opens(folder / "archive.db", raw_key("sesame", raw[:16], 64_007))
    assert held(folder, "sesame") == before
    assert (folder / "archive.db").read_bytes() == raw
    with pytest.raises(Unreadable):
        sync(folder, [folder.parent / "nothing"], key="sesam")
    sync(folder, [folder.parent / "nothing"], key="sesame")
    assert not is_weak(folder / "archive.db")
    assert not is_weak(folder / "index.db")
    assert (folder / "index.db").read_bytes()[:16] == (folder / "archive.db").read_bytes()[:16]
    assert held(folder, "sesame") == before
    clean(folder, "sesame")


def test_an_old_archive_that_is_killed_while_it_is_made_strong_opens_with_the_same_passphrase(folder: Path) -> None:
    before = held(folder)
    weakened(folder, "sesame")
    code = "import sys, pathlib; from unspool.store.archive.salvage import strengthen;"
    code += "strengthen(pathlib.Path(sys.argv[1]), 'sesame')"
    for wait in (0.2, 0.4, 0.6, 0.9, 1.3):
        with subprocess.Popen([sys.executable, "-c", code, str(folder)], stderr=subprocess.DEVNULL) as child:
            try:
                child.wait(wait)
            except subprocess.TimeoutExpired:
                child.kill()
        assert held(folder, "sesame") == before
    clean(folder, "sesame")


def test_a_damaged_old_archive_stays_and_is_still_synced(folder: Path) -> None:
    weakened(folder, "sesame")
    with ArchiveDatabase.open(folder, key="sesame") as archive:
        archive.db.execute("UPDATE piece SET digest = zeroblob(32)")
    sync(folder, [folder.parent / "source"], key="sesame")
    assert is_weak(folder / "archive.db")


def test_one_process_stretches_a_passphrase_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often archive and index are opened."""
    convert(folder, None, "open sesame once")
    made: list[bytes] = []
    monkeypatch.setattr(hashlib, "scrypt", lambda *_, salt, **__: made.append(salt))
    for _ in range(3):
        sync(folder, [folder.parent / "source"], key="open sesame once")
        held(folder, "open sesame once")
    assert made == []


def test_a_key_file_may_hold_the_key_itself(folder: Path, tmp_path: Path) -> None:
    """32 bytes in hexadecimal are not stretched; an archive that an older version gave the same file opens too."""
    raw = bytes(range(32))
    file = write(tmp_path, "raw", raw.hex().encode() + b"\n")
    key = find_key({}, file, None)
    assert isinstance(key, RawKey)
    assert key == hashlib.sha256(file.read_bytes()).hexdigest()
    assert pickle.loads(pickle.dumps(key)).raw == raw  # noqa: S301  our own
    before = held(folder)
    weakened(folder, key)
    assert held(folder, key) == before
    sync(folder, [folder.parent / "nothing"], key=key)
    assert opens(folder / "archive.db", raw)
    assert held(folder, key) == before


def test_a_new_passphrase_is_as_long_as_that_of_a_share(tmp_path: Path) -> None:
    for short in ("x", "eleven char"):
        with pytest.raises(UsageProblem, match="at least 12"):
            check_length(short)
        with pytest.raises(UsageProblem, match="at least 12"):
            find_new_key({"UNSPOOL_PASSPHRASE": short}, None, None)
        with pytest.raises(UsageProblem, match="12 characters"):
            find_new_key({}, write(tmp_path, "short", short.encode() + b"\n"), None)
        assert find_key({"UNSPOOL_PASSPHRASE": short}, None, None) == short
    assert find_new_key({}, None, lambda: "twelve chars") == "twelve chars"
    assert find_new_key({}, None, None) is None
