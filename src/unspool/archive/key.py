"""The key of an encrypted archive: where it comes from, and whether a file needs one."""

from collections.abc import Callable, Mapping
from pathlib import Path

from unspool.archive import pages
from unspool.errors import NotFound, Unreadable, UsageProblem

KEY_FILE, PASSPHRASE = "UNSPOOL_KEY_FILE", "UNSPOOL_PASSPHRASE"
_MAGIC = b"SQLite format 3\0"
_LARGEST = 1024 * 1024


def key(environment: Mapping[str, str], key_file: Path | None, ask: Callable[[], str] | None) -> str | None:
    """The key: of the file named, else of the one the environment names, else the passphrase of the environment,
    else what `ask` returns; None where there is none of these.

    A key file's content is never used as it is: its digest is the passphrase, so that any file will do.
    """
    named = key_file or (Path(environment[KEY_FILE]).expanduser() if environment.get(KEY_FILE) else None)
    if named is not None:
        return _of_file(named)
    given = environment.get(PASSPHRASE) or (ask() if ask is not None else "")
    return given or None


def needed(path: Path, find: Callable[[], str | None]) -> str | None:
    """The key that a database file needs, found only where it needs one; None of a plain or new one."""
    if not encrypted(path):
        return None
    found = find()
    if found is None:
        raise UsageProblem(
            f"{path} is encrypted: name its key file with --key-file or {KEY_FILE}, or set {PASSPHRASE}."
        )
    return found


def encrypted(path: Path) -> bool:
    """Whether a database file is encrypted. One that is merely damaged at its beginning is not."""
    try:
        with path.open("rb") as stream:
            first = stream.read(pages.PAGE)
            if not first or first.startswith(_MAGIC):
                return False
            following = enumerate(iter(lambda: stream.read(pages.PAGE), b""), 2)
            return not any(pages.fits(page, number) for number, page in [(1, first), *_few(following)])
    except OSError:
        return False


def _few(following: "enumerate[bytes]") -> list[tuple[int, bytes]]:
    return [page for page, _ in zip(following, range(8), strict=False)]


def _of_file(path: Path) -> str:
    import hashlib  # dear to load, and most archives have no key

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
    return hashlib.sha256(content).hexdigest()
