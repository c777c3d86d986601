"""A session opens on its story: what was asked, what came of it, what it left, and the run as a strip."""

import re
from datetime import timedelta

import msgspec
import pytest

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import session as session_of
from tests.site.pages import NOON, broken, demo, made, prices, session, turn
from tests.waiting import ending
from unspool.figures import figures
from unspool.model import Place, Result, Session, Text, ToolCall
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.session_strip import strip_pieces
from unspool.site.session_view import SessionView


def view(whole: Session) -> SessionView:
    return SessionView(whole, figures(whole, prices()), SiteOptions(), Frame())


def index(whole: Session) -> str:
    pages = made(whole)
    assert broken(pages) == []
    return pages["index.html"]


def test_the_first_page_tells_what_was_asked_and_what_came_of_it() -> None:
    page = index(
        session([turn(1, "Mend the lamp", "Looking."), turn(2, "And?", "The lamp is mended, and burns again.", at=9)])
    )
    story = page[page.index('class="story"') : page.index("</section>", page.index('class="story"'))]
    assert "Mend the lamp" in story
    assert "The lamp is mended, and burns again." in story


def test_history_that_was_copied_is_not_what_was_asked() -> None:
    copied = msgspec.structs.replace(turn(1, "An older question", "Yes."), copied=True)
    page = index(session([copied, turn(2, "The question of this one", "No.", at=9)]))
    story = page[page.index('class="story"') : page.index("</section>", page.index('class="story"'))]
    assert "An older question" not in story
    assert "The question of this one" in story


def test_commits_files_and_the_last_tests_are_what_is_left() -> None:
    log = LogBuilder()
    first, second = log.use("Bash", command="pytest -q"), log.use("Bash", command="pytest -q")
    log.prompt("Test it").assistant(first).result(first, "== 3 failed in 1s ==", error=True)
    log.assistant(second).result(second, "== 41 passed in 2s ==").assistant(log.text("All is well now."))
    page = index(session_of(log))
    assert '<span class="good">41 passed</span>' in page


@pytest.mark.parametrize("whole", demo(), ids=lambda one: one.id[:8])
def test_every_piece_of_the_strip_leads_to_where_it_is_told(whole: Session) -> None:
    pages = made(whole)
    links = re.findall(r'<a href="([^"]*)"[^>]*><rect class="s-', pages["index.html"])
    assert len(links) in (0, len(strip_pieces(view(whole))))
    assert broken(pages) == []


def call(at: int, role: str, *, error: bool = False) -> ToolCall:
    place, time = Place(at, at * 100, 100), NOON + timedelta(seconds=at)
    result = Result(place, f"c{at}", "", error, time=time + timedelta(seconds=1))
    state = "error" if error else "ok"
    return ToolCall(place, f"c{at}", role.title(), {}, state, role, result, id=f"i{at}", time=time)  # type: ignore[arg-type]


def test_the_strip_shows_what_happened_and_joins_what_is_alike() -> None:
    asked = msgspec.structs.replace(
        turn(1, "Go"), blocks=(call(1, "read"), call(2, "read"), call(3, "edit"), call(4, "shell", error=True))
    )
    pieces = strip_pieces(view(session([asked])))
    assert [piece.kind for piece in pieces] == ["you", "looking", "changing", "failed"]
    assert pieces[1].says == "Read ×2 · 2 s"


def test_a_long_run_has_few_pieces_and_keeps_prompts_and_failures() -> None:
    blocks = tuple(call(at, ("read", "edit", "shell")[at % 3], error=at == 700) for at in range(1, 2_000))
    pieces = strip_pieces(view(session([msgspec.structs.replace(turn(1, "Go"), blocks=blocks, ended=NOON)])))
    assert 50 < len(pieces) < 200
    assert [piece.kind for piece in pieces].count("failed") == 1
    assert pieces[0].kind == "you"


def test_nobody_asked_so_there_is_no_story() -> None:
    silent = msgspec.structs.replace(turn(1, "x"), prompt=None, blocks=(Text(Place(1, 0, 1), "Hello"),))
    assert 'class="story"' not in index(session([silent]))


def test_a_turn_of_very_many_calls_is_no_work_that_grows_as_its_square() -> None:
    """One with a time at its end alone, and one whose every call has the same: both come to their end."""
    blocks = tuple(msgspec.structs.replace(call(at, "read"), time=None, result=None) for at in range(1, 60_000))
    long = msgspec.structs.replace(
        turn(1, "Go"), blocks=(*blocks, call(60_000, "shell")), ended=NOON + timedelta(days=1)
    )
    with ending():
        pieces = strip_pieces(view(session([long])))
    assert pieces[0].kind == "you"
    assert len(pieces) < 200
