"""Reading never writes: a source is after listing and opening as it was before."""

import hashlib
from pathlib import Path

from unspool.demo import write_demo
from unspool.store.library import Library


def digest(root: Path) -> dict[str, tuple[str, int, int]]:
    """Every file and folder with its bytes, its time and its rights."""
    return {
        str(path): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in (root, *sorted(root.rglob("*")))
    }


def test_nothing_is_written_below_a_source(tmp_path: Path) -> None:
    source = write_demo(tmp_path / "source")
    before = digest(source)
    library = Library([source])
    opened = [library.open(log) for log in library.logs()]
    library.listing()
    for session in opened:
        library.companions(session)
    library.find("latest")
    assert len(opened) > 3
    assert digest(source) == before


def test_a_source_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    source = write_demo(tmp_path / "source")
    folders = [path for path in (source, *source.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert Library([source]).listing().failures == ()
    finally:
        for folder in folders:
            folder.chmod(0o700)
