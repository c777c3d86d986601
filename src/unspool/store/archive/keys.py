"""Keys of what is encrypted: how strong they are made, how long a passphrase must be, and where a key comes from."""

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final, Self

from unspool.errors import NotFound, Unreadable, UsageProblem
from unspool.store.archive import page_checksums

SHORTEST: Final = 12
"""Characters of a new passphrase: whoever has the file can try as many as he has time for."""
SHARE_ROUNDS: Final = 600_000
"""Of PBKDF2-HMAC-SHA-256, for pages that are opened by a browser, which has nothing stronger."""
_MEMORY, _BLOCK, _LANES = 2**17, 8, 1
"""Of scrypt, for databases: 128 MiB for each guess."""
_SALT = 16
"""Bytes that an encrypted database begins with."""
_MARK = b"\xf5us1"
"""What the salt of a database begins with whose key is made by scrypt. Others are of older versions: the cipher made
their key from the passphrase, by 64,007 rounds of PBKDF2."""
_BITS = 256

KEY_FILE, PASSPHRASE = "UNSPOOL_KEY_FILE", "UNSPOOL_PASSPHRASE"
_MAGIC = b"SQLite format 3\0"
_LARGEST = 1024 * 1024


class RawKey(str):
    """The digest of a key file, which is what older archives were opened with, and the key that the file holds."""

    raw: bytes

    def __new__(cls, digest: str, raw: bytes) -> Self:
        made = super().__new__(cls, digest)
        made.raw = raw
        return made

    def __reduce__(self) -> tuple[type["RawKey"], tuple[str, bytes]]:
        return RawKey, (str(self), self.raw)


def cipher_key(path: Path, beside: Path, key: str) -> str:
    """A key as the cipher of a database takes it. A new database has the salt of the archive beside it, so that what
    opens one of them opens both."""
    salt = _header(path) or _new_salt(_header(beside))
    return f"raw:{_stretched(key, salt).hex()}{salt.hex()}" if salt.startswith(_MARK) else key


def _new_salt(beside: bytes) -> bytes:
    if beside.startswith(_MARK):
        return beside
    from hashlib import sha256  # dear to load, and most archives have no key

    # Of an archive that is weak yet, always the same: two processes may make a database at once.
    fresh = sha256(beside).digest() if beside else os.urandom(_SALT)
    return _MARK + fresh[: _SALT - len(_MARK)]


def _header(path: Path) -> bytes:
    """The salt of an encrypted database; empty where there is none."""
    try:
        with path.open("rb") as stream:
            first = stream.read(_SALT)
    except OSError:
        return b""
    return b"" if first == _MAGIC or len(first) < _SALT else first


_deriving = Lock()


def _stretched(key: str, salt: bytes) -> bytes:
    """The key of the cipher; made once a process, however many databases and threads ask for it."""
    if isinstance(key, RawKey):
        return key.raw
    with _deriving:
        return _by_scrypt(key, salt)


@lru_cache(16)
def _by_scrypt(key: str, salt: bytes) -> bytes:
    from hashlib import scrypt

    room = 160 * _MEMORY * _BLOCK  # 128 bytes are needed for each of these
    words = key.encode("utf-8", "surrogatepass")
    return scrypt(words, salt=salt, n=_MEMORY, r=_BLOCK, p=_LANES, maxmem=room, dklen=_BITS // 8)


def is_weak(path: Path) -> bool:
    """Whether a database is encrypted as older versions did it, with a key that is guessed more quickly."""
    return is_encrypted(path) and not _header(path).startswith(_MARK)


def check_length(words: str) -> str:
    """A new passphrase as it was given; UsageProblem where it is too short to protect anything."""
    if len(words) < SHORTEST:
        raise UsageProblem(f"A passphrase needs at least {SHORTEST} characters; several words are best.")
    return words


def find_key(environment: Mapping[str, str], key_file: Path | None, ask: Callable[[], str] | None) -> str | None:
    """The key: of the file named, else of the one the environment names, else the passphrase of the environment,
    else what `ask` returns; None where there is none of these.

    A key file may hold 32 bytes in hexadecimal, which are the key, or anything else: its digest is then the
    passphrase, so that any file will do.
    """
    named = _key_file(environment, key_file)
    if named is not None:
        return _key_of_file(named, 1)
    given = environment.get(PASSPHRASE) or (ask() if ask is not None else "")
    return given or None


def find_new_key(environment: Mapping[str, str], key_file: Path | None, ask: Callable[[], str] | None) -> str | None:
    """The same for a key that is given now; UsageProblem where it is too short."""
    named = _key_file(environment, key_file)
    if named is not None:
        return _key_of_file(named, SHORTEST)
    given = find_key(environment, None, ask)
    return None if given is None else check_length(given)


def _key_file(environment: Mapping[str, str], key_file: Path | None) -> Path | None:
    return key_file or (Path(environment[KEY_FILE]).expanduser() if environment.get(KEY_FILE) else None)


def needed_key(path: Path, find: Callable[[], str | None]) -> str | None:
    """The key that a database file needs, found only where it needs one; None of a plain or new one."""
    if not is_encrypted(path):
        return None
    found = find()
    if found is None:
        raise UsageProblem(
            f"{path} is encrypted: name its key file with --key-file or {KEY_FILE}, or set {PASSPHRASE}."
        )
    _given[path.absolute()] = found
    return found


_given: dict[Path, str] = {}
"""Keys that were asked for in this process."""


def known_key(path: Path) -> str | None:
    """The key of an encrypted database file as far as it was given: to this process before, or by its environment.
    Nobody is asked."""
    return _given.get(path.absolute()) or find_key(os.environ, None, None)


def is_encrypted(path: Path) -> bool:
    """Whether a database file is encrypted. One that is merely damaged at its beginning is not."""
    try:
        with path.open("rb") as stream:
            first = stream.read(page_checksums.PAGE)
            if not first or first.startswith(_MAGIC):
                return False
            pages = (first, *islice(iter(lambda: stream.read(page_checksums.PAGE), b""), 8))
            return not any(page_checksums.page_fits(page, number) for number, page in enumerate(pages, 1))
    except OSError:
        return False


def _key_of_file(path: Path, shortest: int) -> str:
    import hashlib

    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no key file {path}.") from None
    except OSError as error:
        raise Unreadable(f"Cannot read the key file {path}: {error.strerror or error}.") from None
    if not content.strip():
        raise UsageProblem(f"The key file {path} is empty.")
    if len(content) > _LARGEST:
        raise UsageProblem(f"The key file {path} is larger than a key may be (1 MB).")
    if len(content.strip()) < shortest:
        raise UsageProblem(f"The key file {path} holds too little for a key: {shortest} characters at least.")
    digest = hashlib.sha256(content).hexdigest()
    try:
        raw = bytes.fromhex(content.decode("ascii"))
    except ValueError:  # UnicodeDecodeError is one
        return digest
    return RawKey(digest, raw) if len(raw) == _BITS // 8 else digest
