"""A session's kept files, checked out for a while where every reader can read them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unspool.archive import Archive, Kept
from unspool.errors import Unreadable, UnspoolError
from unspool.library.scratch import scratch


@contextmanager
def lent(archive: Archive, files: Iterable[Kept], failures: list[str] | None = None) -> Iterator[Path]:
    """A private folder that holds the files at their paths, with their times; gone when the `with` ends.

    What cannot be given back is told in `failures` and left out; without that list it is an error.
    """
    with scratch() as root:
        for one in files:
            try:
                _put(archive, one, root)
            except UnspoolError as error:
                if failures is None:
                    raise
                failures.append(str(error))
        yield root


def _put(archive: Archive, one: Kept, root: Path) -> None:
    path = root / one.path
    if not path.resolve().is_relative_to(root.resolve()):
        return  # a merged archive may come from anyone
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            for chunk in archive.stream(one.generation):
                stream.write(chunk)
        os.utime(path, ns=(one.modified, one.modified))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise Unreadable(f"Cannot check {one.path} out to {root}: {error.strerror or error}.") from None
    except UnspoolError:
        path.unlink(missing_ok=True)
        raise
