"""The story of a session as a picture: any title stands in it, whole or cut, within its edges, as text."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.log_builder.builder import LogBuilder
from tests.site.browser.tabs import tab
from unspool.prices import PriceTable
from unspool.site.story_card import MORE, set_title, story_card, view_for_card
from unspool.store.library import Library

SVG = "{http://www.w3.org/2000/svg}"
TITLES = [
    "The tide table",
    "Fix the flaky checkout test and deploy the harbour service without breaking the invoices of this year",
    "W" * 28 + " " + "M" * 28,
    "Averyveryverylongwordwithoutanyspaces" * 4,
    "潮汐表を更新して、港のサービスを本番環境に展開する方法を説明してください。すべての請求書を確認する",
    "🚢🌊⚓️ Tides 👩‍👩‍👧‍👦 family",
    "تحديث جدول المد والجزر للميناء ونشر الخدمة في الإنتاج مع English words",
    "</text><script>alert(1)</script> & \"quotes\" 'x' ]]>",
    "\u202eevil \x1b[31mred \x00 z" + "\u0301" * 50 + "algo",
    "",
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The same session under every title."""
    log = LogBuilder(session_id="one").prompt("Hello")
    session = Library().open(log.assistant(log.text("Hello.")).write(tmp_path_factory.mktemp("log")))
    prices = PriceTable.load()
    called = (replace(session.titles, custom=title, prompt=title or "") for title in TITLES)
    return [story_card(view_for_card(replace(session, titles=titles), prices)) for titles in called]


def test_a_title_is_text_of_a_picture_and_nothing_else(drawn: list[bytes]) -> None:
    for data in drawn:
        root = ElementTree.fromstring(data)  # noqa: S314  our own
        assert {one.tag for one in root.iter()} <= {f"{SVG}{name}" for name in ("svg", "g", "rect", "text")}
        assert b"href" not in data
        assert "\u202e" not in data.decode()
        assert "\x1b" not in data.decode()


def test_every_line_is_within_the_edges(browser: Any, drawn: list[bytes], tmp_path: Path) -> None:
    """As a browser draws it, in whatever font it has."""
    for number, data in enumerate(drawn):
        (tmp_path / f"{number}.svg").write_bytes(data)
        with tab(browser) as watched:
            page = watched.open(tmp_path / f"{number}.svg")
            boxes = page.evaluate(
                "Array.from(document.querySelectorAll('text'), (one) => one.getBBox().toJSON?.() ?? "
                "[one.getBBox().x, one.getBBox().x + one.getBBox().width])"
            )
            assert all(left > 16 and right <= 1184 for left, right in boxes), (TITLES[number], boxes)


def test_what_is_read_from_the_right_begins_there(drawn: list[bytes]) -> None:
    assert [b'direction="rtl"' in data for data in drawn] == ["\u0627" in title for title in TITLES]


WRITTEN = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=MORE), max_size=300)


@given(WRITTEN, st.floats(5, 30), st.integers(1, 4))
def test_lines_are_the_words_in_their_order(text: str, room: float, most: int) -> None:
    """All of them, or their beginning with a sign that there is more."""
    lines = set_title(text, room, most).lines
    told, whole = "".join("".join(lines).split()), "".join(text.split())
    assert len(lines) <= most
    assert whole.startswith(told.removesuffix(MORE))
    assert told.endswith(MORE) or told == whole


@given(st.text("ab cd", min_size=1, max_size=200), st.integers(8, 30))
def test_a_title_is_cut_only_where_it_does_not_fit(text: str, room: int) -> None:
    laid = set_title(text, room, 3)
    cut = bool(laid.lines) and laid.lines[-1].endswith(MORE)
    assert cut == (len(set_title(text, room, 10_000).lines) > 3)
    assert cut or " ".join(laid.lines).replace(" ", "") == text.replace(" ", "")


_BOXES = """Array.from(document.querySelectorAll("text"), (one) => {
  const { x, width } = one.getBBox();
  return [x, x + width];
})"""


def told(tmp_path: Path) -> bytes:
    log = LogBuilder(session_id="told", model="claude-opus-5").prompt("Why does the worker drop **orders**?")
    log.title("Orders").ran("pytest -q", "41 passed in 2.3s").edited("/a.py", "x = 1\n", "x = 1", "x = 2")
    log.assistant(log.text("It acknowledged `too early`:\n\n- one\n- two\n\n```\nsecret_code()\n```"))
    return story_card(view_for_card(Library().open(log.write(tmp_path)), PriceTable.load()))


def test_the_card_tells_what_was_asked_what_came_of_it_and_what_it_left(tmp_path: Path) -> None:
    drawn = told(tmp_path).decode()
    words = " ".join(text.strip() for text in ElementTree.fromstring(drawn).itertext() if text.strip())  # noqa: S314
    for said in (
        "Claude Code · Opus 5", "Orders", "ASKED Why does the worker drop orders?",
        "CAME OF IT It acknowledged too early: one two", "1 file +1 −1", "tests 41 passed", "1 prompt", "$",
    ):  # fmt: skip
        assert said in words
    assert "secret_code" not in drawn
    assert drawn.count('y="594"') >= 3


def test_a_title_that_says_all_that_was_asked_is_not_said_twice(tmp_path: Path) -> None:
    log = LogBuilder(session_id="brief").prompt("Say hello")
    session = Library().open(log.assistant(log.text("Hello.")).write(tmp_path))
    drawn = story_card(view_for_card(session, PriceTable.load())).decode()
    assert "ASKED" not in drawn
    assert drawn.count(">Say hello<") == 1


def test_a_session_that_says_nothing_has_a_card(tmp_path: Path) -> None:
    session = Library().open(LogBuilder(session_id="mute").prompt("").write(tmp_path))
    assert b"Untitled session" in story_card(view_for_card(session, PriceTable.load())) or session.title
