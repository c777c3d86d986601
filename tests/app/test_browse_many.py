"""Ten thousand sessions: pages of the list are asked of the database, not of all that it holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.browsing import Browsed
from tests.app.many import many
from tests.app.serving import served
from unspool.app.context import AppContext
from unspool.app.marks import AllMarks
from unspool.app.session_query import PAGE_SIZE, SESSION_SORTS, SessionFinder, parse_session_query
from unspool.store.index.database import Index

SESSIONS = 10_000
WALKED = 2_000
"""So many where each page of the list is looked at, in each order."""
LISTED = WALKED - WALKED // 13 * 2
"""Those of them that are neither empty nor ghosts."""
MOST_WORK = 4_000_000
"""Instructions of the database for a page; what looks at each session again for each row takes hundreds of millions."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("many") / "archive", SESSIONS, requests=5)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("walked") / "archive", WALKED, requests=5)


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Browsed]:
    with served(AppContext(folder, [folder])) as address:
        yield Browsed(address)


@pytest.mark.parametrize(
    "query",
    [
        *({"sort": sort} for sort in SESSION_SORTS),
        {"page": "40"},
        {"q": "drift"},
        {"model": "model-4"},
        {"kind": "ghost"},
    ],
    ids=str,
)
def test_a_page_is_little_work(folder: Path, query: dict[str, str]) -> None:
    with Index.open(folder, readonly=True) as index:
        listing = SessionFinder(index.db, AllMarks())
        assert len(listing.page(parse_session_query(query)).rows) == PAGE_SIZE
        done = 0

        def counted() -> bool:
            nonlocal done
            done += 1000
            return False

        index.db.set_progress_handler(counted, 1000)
        listing.page(parse_session_query(query))
        index.db.set_progress_handler(None)
        assert 0 < done < MOST_WORK


@pytest.mark.parametrize("sort", SESSION_SORTS)
def test_pages_together_hold_every_session_once_and_in_order(walked: Path, sort: str) -> None:
    with Index.open(walked, readonly=True) as index:
        listing = SessionFinder(index.db, AllMarks())
        pages = [
            listing.page(parse_session_query({"sort": sort, "page": str(at)}))
            for at in range(1, LISTED // PAGE_SIZE + 2)
        ]
    rows = [row for page in pages for row in page.rows]
    assert {page.total for page in pages} == {LISTED}
    assert len(rows) == len({row.id for row in rows}) == LISTED
    if sort == "cost":
        assert [row.amount for row in rows] == sorted((row.amount for row in rows), reverse=True)
    if sort == "newest":
        assert [row.ended for row in rows] == sorted((row.ended for row in rows if row.ended), reverse=True)


def test_the_list_can_be_walked_by_its_links_alone(app: Browsed) -> None:
    seen, where = list[str](), "/sessions?kind=ghost"
    while where:
        seen += app.keys(where)
        where = next(
            (link for link in app.get(where).links("page=") if link.endswith(f"page={len(seen) // PAGE_SIZE + 1}")), ""
        )
    assert len(seen) == len(set(seen)) == SESSIONS // 13


def test_rows_alone_are_the_rows_of_the_page(app: Browsed) -> None:
    part = app.get("/sessions", page=2, part="rows")
    assert "<html" not in part.text
    assert app.keys("/sessions", page=2, part="rows") == app.keys("/sessions", page=2)
    assert "part=rows" not in part.text
