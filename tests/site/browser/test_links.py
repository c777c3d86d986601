"""Where the links of the built demo lead."""

from pathlib import Path

from tests.site.browser.making import made
from tests.site.links import Page, broken


def test_every_link_and_anchor_of_the_archive_resolves(archive: Path) -> None:
    assert not broken(archive)
    assert sum(len(Page(path.read_text("utf-8")).links) for path in archive.rglob("*.html")) > 200


def test_every_link_and_anchor_of_a_session_alone_resolves(tmp_path: Path) -> None:
    assert not broken(made(tmp_path / "storm", "json", "57024000", "--demo"))


def test_every_link_and_anchor_of_a_single_file_resolves(one_file: Path) -> None:
    assert not broken(one_file.parent)
    assert [path.name for path in one_file.parent.iterdir()] == [one_file.name]


def test_no_page_holds_an_id_twice(archive: Path) -> None:
    for path in archive.rglob("*.html"):
        ids = [rest.split('"', 1)[0] for rest in path.read_text("utf-8").split(' id="')[1:]]
        assert len(ids) == len(set(ids)), path.relative_to(archive)
