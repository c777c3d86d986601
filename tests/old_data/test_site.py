"""A site that an old version built is brought up to date where it is: no address of it is lost."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.old_data.unpacked import RELEASE, OldData

_ID = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'\b(?:href|src)="([^"#:]+)(?:#([^"]*))?"')


def pages(site: Path) -> dict[str, str]:
    """Every page by its path in the site."""
    return {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}


def anchors(found: dict[str, str]) -> set[tuple[str, str]]:
    """Every place in a page that an address could name: prompts, answers, calls."""
    return {(path, name) for path, text in found.items() for name in _ID.findall(text) if "-" in name}


def built(data: OldData) -> None:
    data.said("all", "-o", data.site, "-s", data.source, "-j", "1")


def test_every_page_and_place_keeps_its_address(unpacked: Callable[..., OldData]) -> None:
    data = unpacked("home", "site")
    before = pages(data.site)
    built(data)
    after = pages(data.site)
    assert set(before) <= set(after)
    assert len(anchors(before)) > 50
    assert anchors(before) - anchors(after) == set()


def test_every_link_of_the_updated_site_leads_somewhere(unpacked: Callable[..., OldData]) -> None:
    """Assets, which an update adds where they are missing, too."""
    data = unpacked("home", "site")
    built(data)
    found = pages(data.site)
    for path, text in found.items():
        for link, _ in _LINK.findall(text):
            assert ((data.site / path).parent / link.split("?")[0]).exists(), (path, link)


def test_a_session_that_went_on_is_made_again_in_its_place(unpacked: Callable[..., OldData]) -> None:
    """And what did not change stays, once today's version has been there."""
    data = unpacked("home", "site")
    known = json.loads((data.site / ".unspool.json").read_text())["sessions"].values()
    folder = next(one["folder"] for one in known if one["id"] == RELEASE)
    built(data)
    first = pages(data.site)
    built(data)
    assert pages(data.site) == first
    with data.log(RELEASE).open("ab") as log:
        log.write(b'{"type":"custom-title","customTitle":"A lighthouse","sessionId":"%s"}\n' % RELEASE.encode())
    built(data)
    now = pages(data.site)
    changed = {path for path in now if now[path] != first.get(path)}
    assert f"harbour/{folder}/index.html" in changed
    assert "A lighthouse" in now["index.html"]
    assert {path.split("/")[1] for path in changed if path.count("/") > 1} == {folder}
