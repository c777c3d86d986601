"""Pictures beside pages."""

import re
from pathlib import Path

from tests.site.build.sites import made, pages_of, put, session
from unspool.site.options import SiteOptions


def test_a_picture_is_one_file_beside_the_pages_however_often_it_is_shown(tmp_path: Path) -> None:
    """Pages lead to it, and only what is tiny stays inside them."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 32
    log = session(1)
    log.prompt("Look", [picture]).assistant(log.text("I see.")).prompt("Again, and a dot", [picture, picture[:64]])
    put(tmp_path / "source", log.assistant(log.text("A dot.")))
    report = made(tmp_path / "source", tmp_path / "site")
    folder = pages_of(tmp_path / "site", 1)
    (file,) = folder.glob("*.png")
    shown = re.findall(r'<img src="([^"]+)"', "".join(page.read_text() for page in folder.glob("page-*.html")))
    assert file.read_bytes() == picture
    assert [src.partition(";")[0] for src in shown] == [file.name, file.name, "data:image/png"]
    assert report.size >= sum(path.stat().st_size for path in folder.iterdir())


def test_a_page_that_stands_alone_holds_its_pictures(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(8192)
    log = session(1)
    put(tmp_path / "source", log.prompt("Look", [picture]).assistant(log.text("I see.")))
    made(tmp_path / "source", tmp_path / "site", options=SiteOptions(self_contained=True))
    folder = pages_of(tmp_path / "site", 1)
    assert not list(folder.glob("*.png"))
    assert "data:image/png;base64," in "".join(page.read_text() for page in folder.glob("page-*.html"))
