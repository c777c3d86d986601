"""Pages above sessions: projects and the master page."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec
import pytest

from tests.site.pages import Read, demo, prices
from unspool.figures import figures
from unspool.site.list_pages import RECENT, ProjectRows, master_page, project_page
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame
from unspool.site.session_rows import SessionRow, session_row

DAY = datetime(2026, 5, 1, 9, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>\u202e'


def project(count: int, name: str = "shop", folder: str = "shop") -> ProjectRows:
    rows = (
        (
            f"s{at}",
            SessionRow(f"id{at}", f"Session {at}", started=DAY + timedelta(days=at), prompts=at, amount=Decimal(1)),
        )
        for at in range(count)
    )
    return ProjectRows(name, f"/home/dev/{name}", folder, tuple(rows))


def test_a_project_lists_its_sessions_newest_first() -> None:
    """Each leads to its folder below the project's."""
    page = project_page(project(3), SiteOptions(), Frame("../", (Crumb("All", "index.html"),)))
    assert page.path == "index.html"
    links = [link for link in Read(page.html).links if link.startswith("s")]
    assert links == ["s2/index.html", "s1/index.html", "s0/index.html"]
    assert "../index.html" in Read(page.html).links
    assert "$3.00" in page.html


def test_the_master_page_leads_to_projects_and_recent_sessions() -> None:
    """Projects with their number of sessions; of the sessions only the newest."""
    page = master_page([project(RECENT + 5), project(1, "notes", "notes")], SiteOptions(), Frame(search="search"))
    links = Read(page.html).links
    assert {"shop/index.html", "notes/index.html", "shop/s44/index.html"} <= set(links)
    assert "shop/s1/index.html" not in links
    assert "45 sessions" in page.html
    assert "1 session<" in page.html
    assert 'data-index="search"' in page.html


@pytest.mark.parametrize("count", [0, 1, 40])
def test_archive_pages_are_well_formed(count: int) -> None:
    """With no session, one, or many."""
    for page in (
        project_page(project(count), SiteOptions(), Frame("../")),
        master_page([project(count)], SiteOptions(self_contained=True), Frame()),
    ):
        assert Read(page.html).faults == []


def test_names_of_projects_and_sessions_are_text() -> None:
    """Whatever a project or a session is called, it is no markup."""
    one = SessionRow(HOSTILE, HOSTILE, HOSTILE, models=(HOSTILE,), started=DAY)
    bad = ProjectRows(HOSTILE, HOSTILE, "p", (("s", one),))
    for page in (project_page(bad, SiteOptions(), Frame("../")), master_page([bad], SiteOptions(), Frame())):
        assert Read(page.html).faults == []
        assert "<script>alert" not in page.html
        assert "\u202e" not in page.html


def test_sessions_without_a_time_are_listed() -> None:
    """They stand at the end, under no date."""
    page = project_page(ProjectRows("p", "", "p", (("s", SessionRow("x", "Timeless")),)), SiteOptions(), Frame())
    assert "Without a date" in page.html
    assert "Timeless" in page.html


def test_a_card_says_what_figures_say() -> None:
    """And survives being written and read."""
    for whole in demo():
        counted = figures(whole, prices())
        one = session_row(whole, counted)
        assert (one.prompts, one.tool_calls, one.commits) == (counted.turns, counted.tool_calls, len(counted.commits))
        assert one.amount == counted.cost.amount
        assert msgspec.json.decode(msgspec.json.encode(one), type=SessionRow) == one
