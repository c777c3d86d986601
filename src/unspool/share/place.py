"""The folder of a share: there whole, in place of an earlier one, and of nothing else."""

from collections.abc import Iterable
from pathlib import Path

from unspool.errors import Exists
from unspool.share.encrypt import is_sealed
from unspool.site.address import INDEX
from unspool.site.build.disk import replace, swapped

REPORT = "report.json"


def put(folder: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write a share's folder in place of an earlier one; its first page. Exists where it holds something else."""
    if folder.exists() and not _ours(folder):
        raise Exists(f"{folder} holds something else than a share; nothing was written.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with swapped(folder) as part:
        for name, data in files:
            replace(part / name, data)
    return folder / INDEX


def _ours(folder: Path) -> bool:
    """Whether a folder is empty, or holds a share; one that is encrypted has one page and no report to be known by."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or (folder / REPORT).is_file() or (names == {INDEX} and is_sealed(folder / INDEX))
