"""Whether the index is there and of this version; it is made anew from the archive whenever it is not."""

from collections.abc import Iterator

from unspool.archive.key import encrypted
from unspool.archive.place import ARCHIVE, INDEX
from unspool.index.schema import VERSION
from unspool.sync.finding import Finding
from unspool.sync.scene import Scene

NAME = "index"
_VERSION = slice(60, 64)
"""Where a SQLite file holds the version of its user. Opened as a database, it might be written to."""
_BEGINS = b"SQLite format 3\0"


def index(scene: Scene) -> Iterator[Finding]:
    """The state of the index, where there is an archive."""
    if scene.holding is None:
        return
    path = scene.archive / INDEX
    remedy = "unspool sync makes it"
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except FileNotFoundError:
        yield Finding("warn", NAME, "There is no index yet: nothing is found by search.", (str(path),), remedy)
        return
    except OSError as error:
        yield Finding("bad", NAME, f"The index may not be read: {error.strerror}.", (str(path),), remedy)
        return
    if encrypted(scene.archive / ARCHIVE):
        return  # so is the index, and its version with it
    version = int.from_bytes(head[_VERSION])
    if not head.startswith(_BEGINS):
        yield Finding("warn", NAME, "The index is no database.", (str(path),), f"Remove it; {remedy} anew.")
    elif version != VERSION:
        message = f"The index is of version {version}, this is {VERSION}."
        yield Finding("note", NAME, message, (str(path),), f"{remedy} anew")
    else:
        yield Finding("ok", NAME, f"The index is of version {version}.", (str(path),))
