"""Repairs an archive: what can be put right with certainty, then from the source, then as much as can be saved."""

import os
from pathlib import Path

import msgspec

from unspool.archive import pages
from unspool.archive.archive import Archive
from unspool.archive.mend import mend
from unspool.archive.place import ARCHIVE
from unspool.archive.proof import Proof
from unspool.archive.salvage import salvage
from unspool.archive.trouble import told
from unspool.archive.verify import Progress, verify
from unspool.errors import Unreadable, UsageProblem

_MOST_PAGES = 5_000
_NOBODYS = (
    "DELETE FROM pack WHERE id NOT IN (SELECT pack FROM piece UNION SELECT base FROM pack WHERE base IS NOT NULL)",
    "DELETE FROM trait WHERE pack NOT IN (SELECT id FROM pack)",
)


class Repair(msgspec.Struct, frozen=True):
    """What was done, and how the archive stands now."""

    proof: Proof
    """After it; what it names is lost, unless another archive that has it is merged."""
    pages: int = 0
    """Pages put right by their sums."""
    pieces: int = 0
    """Pieces of files restored."""
    broken: str = ""
    """Where the broken file is, if the archive had to be put together anew."""


def repair(folder: Path, proof: Proof, *, key: str | None = None, progress: Progress = lambda _: None) -> Repair:
    """Mend what `proof` found, as far as it can be."""
    fixed, broken = 0, ""
    if proof.damaged_pages and key is None:
        fixed = _mend_pages(folder, proof.damaged_pages)
        proof = verify(folder, key=key, progress=progress) if fixed else proof
    if proof.refused:
        broken = str(salvage(folder, key))
        proof = verify(folder, key=key, progress=progress)
    pieces = 0
    if not proof.clean:
        pieces = _mend_content(folder, key, proof)
        proof = verify(folder, key=key, progress=progress)
    return Repair(proof, fixed, pieces, broken)


def _mend_content(folder: Path, key: str | None, proof: Proof) -> int:
    with Archive.open(folder, key=key) as archive:
        pieces = mend(archive) if proof.damages or proof.problems else 0
        with archive.writing():
            for query in _NOBODYS:
                archive.db.execute(query)
        if proof.damaged_pages:
            archive.compact()  # writes every page anew
    return pieces


def _mend_pages(folder: Path, damaged: tuple[int, ...]) -> int:
    """Put right the pages of which a single byte changed; how many there were."""
    fixed = 0
    with (folder / ARCHIVE).open("r+b", buffering=0) as stream:
        held = _held(folder)
        for number in damaged[:_MOST_PAGES]:
            stream.seek((number - 1) * pages.PAGE)
            page = pages.mended(stream.read(pages.PAGE), number)
            if page is not None:
                stream.seek((number - 1) * pages.PAGE)
                stream.write(page)
                fixed += 1
        os.fsync(stream.fileno())
        if held is not None:  # before the file is closed, for that would end the lock
            held.close()
    return fixed


def _held(folder: Path) -> Archive | None:
    """The archive, locked against everybody; None where it cannot even be opened, which nobody else can either."""
    try:
        archive = Archive.open(folder)
    except (Unreadable, UsageProblem):
        return None
    with told(archive.path):
        archive.db.execute("BEGIN EXCLUSIVE")
    return archive
