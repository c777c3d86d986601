"""Opening an archive where people put theirs."""

from pathlib import Path

from unspool.store.archive import Archive


def test_links_in_the_path_lead_to_the_archive(tmp_path: Path) -> None:
    """A home that is a link, as on many machines, and a linked file are followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    with Archive.open(tmp_path / "link" / "kept") as archive:
        archive.note("said", "here")
    with Archive.open(tmp_path / "real" / "kept", readonly=True) as archive:
        assert archive.meta("said") == "here"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "archive.db").symlink_to(tmp_path / "real" / "kept" / "archive.db")
    with Archive.open(tmp_path / "other", readonly=True) as archive:
        assert archive.meta("said") == "here"
