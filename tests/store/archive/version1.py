"""The archive of version 1 that is kept as a fixture: how it was made, and what it holds.

`python -m tests.store.archive.version1` writes it. It is made once for each version of the archive, never again: what
was written by an old unspool must open for ever.
"""

import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import zstandard

from tests.store.archive.making import lines, text
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, Origin
from unspool.store.archive.chain import name_digest

FIXTURE = Path(__file__).parent / "fixtures" / "v1" / "archive.db.zst"
LAPTOP = Origin("laptop", "ada", "/home/ada/.agent", "an agent")
SERVER = Origin("server", "ada", "/srv/agent", "an agent")
ODD = os.fsdecode(b"projects/odd-\xff\xfe")

STEPS: tuple[tuple[Origin, str, bytes], ...] = (
    (LAPTOP, "projects/a/one.jsonl", lines(1, 200)),
    (LAPTOP, "projects/a/empty.jsonl", b""),
    (LAPTOP, ODD, b"a name that is no text"),
    (SERVER, "projects/a/one.jsonl", text(2, 3000)),
    (LAPTOP, "projects/a/two.jsonl", text(3, 2000)),
    (LAPTOP, "projects/a/two.jsonl", text(3, 2600)),
    (LAPTOP, "projects/a/two.jsonl", text(4, 500)),
    (LAPTOP, "projects/a/copy.jsonl", lines(1, 200).replace(b'"text"', b'"words"')),
    (LAPTOP, "projects/a/twin.jsonl", lines(1, 200)),
)
"""What was kept, one commit after the other."""

HELD = {
    ("laptop", "projects/a/one.jsonl", 1): STEPS[0][2],
    ("laptop", "projects/a/empty.jsonl", 1): b"",
    ("laptop", ODD, 1): STEPS[2][2],
    ("server", "projects/a/one.jsonl", 1): STEPS[3][2],
    ("laptop", "projects/a/two.jsonl", 1): STEPS[5][2],
    ("laptop", "projects/a/two.jsonl", 2): STEPS[6][2],
    ("laptop", "projects/a/copy.jsonl", 1): STEPS[7][2],
    ("laptop", "projects/a/twin.jsonl", 1): STEPS[8][2],
}
"""What it holds, by machine, path and number of the generation."""

GONE = "projects/a/empty.jsonl"
BURIED = "projects/b/forgotten.jsonl"


def build(folder: Path) -> None:
    """Write the archive; always the same one."""
    source = folder / "source"
    with (
        mock.patch("time.time", return_value=1_794_000_000.0),
        mock.patch("uuid.uuid4", return_value="00000000-0000-4000-8000-000000000001"),
        ArchiveDatabase.open(folder) as archive,
    ):
        for step, (origin, path, data) in enumerate(STEPS):
            source.write_bytes(data)
            status = FileStatus(len(data), 1_794_000_000 * 10**9 + step, 1_794_000_000 * 10**9 + step, 77)
            number = archive.origin(origin)
            with Keeper(archive) as keeper:
                keeper.keep(number, path, source, status, archive.last(number, path))
        with Keeper(archive) as keeper:
            keeper.missed(archive.kept(1)[GONE].file)
        grave = (name_digest(archive.salt, BURIED), 1_794_000_000.0)
        archive.db.execute("INSERT INTO tombstone VALUES(?, ?)", grave)
    source.unlink()


def unpacked(folder: Path) -> Path:
    """The fixture, as an archive in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = zstandard.ZstdDecompressor().decompress(FIXTURE.read_bytes())
    (folder / "archive.db").write_bytes(data)
    return folder


if __name__ == "__main__":
    if FIXTURE.exists():
        sys.exit("It is there already, and must stay as it is.")
    with tempfile.TemporaryDirectory() as place:
        build(Path(place))
        FIXTURE.parent.mkdir(parents=True, exist_ok=True)
        FIXTURE.write_bytes(zstandard.ZstdCompressor(19).compress((Path(place) / "archive.db").read_bytes()))
