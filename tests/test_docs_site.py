"""The documentation as a site: a page and a picture for each command, and no link that leads nowhere."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from docs import site
from docs.make import ROOT
from unspool.cli.group import COMMANDS


def test_every_command_has_a_page_with_a_picture_of_what_it_prints(tmp_path: Path) -> None:
    """Where a command that is shown goes wrong, no site is made."""
    named = list(site._command_pages(tmp_path))
    assert named == [{name: f"commands/{name}.md"} for name, _ in COMMANDS]
    for name, line in COMMANDS:
        page = (tmp_path / "commands" / f"{name}.md").read_text("utf-8")
        drawn = re.sub(r"<[^>]+>|&#160;", " ", (tmp_path / "commands" / f"{name}.svg").read_text("utf-8"))
        assert line in page
        assert f"({name}.svg)" in page
        assert f"$ unspool {name}" in " ".join(drawn.split())


def test_pages_of_the_navigation_are_there_and_none_is_forgotten() -> None:
    text = (ROOT / "docs/mkdocs.yml").read_text("utf-8")
    named = set(re.findall(r": (\S+\.md)$", text, re.MULTILINE)) - {"docs/decisions/README.md"}
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {name for name in named if not (ROOT / name).is_file()} == set()
    assert {name for name in pages if "/decisions/" not in name} <= named


@pytest.mark.skipif(find_spec("zensical") is None, reason="the generator is not installed (scripts/docs --site)")
def test_the_site_is_made_without_a_broken_link(tmp_path: Path) -> None:
    site.build(tmp_path / "made")
    assert (tmp_path / "made/index.html").is_file()
    assert (tmp_path / "made/commands/search.html").is_file()
    assert "tide" in (tmp_path / "made/search.json").read_text("utf-8")
