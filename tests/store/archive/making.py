"""Archives for tests: files in a folder, kept as a sync would keep them."""

import os
import random
from pathlib import Path

from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, Origin
from unspool.store.archive.verify import VerifyResult, verify_archive

HERE = "this machine"


def origin(root: Path, machine: str = HERE) -> Origin:
    return Origin(machine, "somebody", str(root), "an agent")


def text(seed: int, size: int) -> bytes:
    """Bytes that compress about as logs do, none of them like those of another seed."""
    chosen = random.Random(seed)
    words = [f"{chosen.getrandbits(40):x}" for _ in range(200)]
    out = bytearray()
    while len(out) < size:
        line = " ".join(chosen.choices(words, k=12))
        out += f'{{"n":"{chosen.getrandbits(64):x}","text":"{line}"}}\n'.encode()
    return bytes(out[:size])


def lines(seed: int, count: int) -> bytes:
    """Lines with ids, as those of a log."""
    chosen = random.Random(seed)
    words = text(seed, 60 * count).replace(b"\n", b" ").replace(b'"', b"'")
    return b"".join(
        b'{"uuid":"%036x","text":"%s"}\n' % (chosen.getrandbits(144), words[60 * at : 60 * at + 200])
        for at in range(count)
    )


def write(root: Path, name: str, data: bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def keep(archive: ArchiveDatabase, root: Path, machine: str = HERE) -> dict[str, str]:
    """Keep all files below a folder and note those that are gone; what became of each."""
    number = archive.origin(origin(root, machine))
    known, outcomes = archive.kept(number), {}
    with Keeper(archive) as keeper:
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            name = path.relative_to(root).as_posix()
            outcomes[name] = str(keeper.keep(number, name, path, FileStatus.of(path.stat()), known.get(name)))
        for name, kept in known.items():
            if name not in outcomes and kept.gone is None:
                keeper.missed(kept.file)
    return outcomes


def kept(folder: Path, root: Path, machine: str = HERE, key: str | None = None) -> dict[str, str]:
    """Keep all files below `root` in the archive of `folder`."""
    with ArchiveDatabase.open(folder, key=key) as archive:
        return keep(archive, root, machine)


def held(folder: Path, key: str | None = None) -> dict[tuple[str, str, int], bytes]:
    """Everything an archive holds: by machine, path and number of the generation."""
    with ArchiveDatabase.open(folder, key=key) as archive:
        return {
            (place.machine, name, one.number): archive.read(one.generation)
            for number, place in archive.origins().items()
            for name, last in archive.kept(number).items()
            for one in archive.generations(last.file)
        }


def clean(folder: Path, key: str | None = None) -> VerifyResult:
    """The proof of an archive that must have no damage."""
    proof = verify_archive(folder, key=key)
    assert proof.clean, (proof.problems, proof.damages, proof.damaged_pages)
    return proof


def age(path: Path, seconds: float = 10) -> None:
    """Set a file's time of modification back, so that a change of it shows."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - int(seconds * 1e9)))
