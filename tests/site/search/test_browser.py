"""The search as people use it: the real script in a real browser, from disk and served."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.search.chromium import PATIENCE, served, until
from tests.site.search.made import page, write_archive, write_assets, write_session
from tests.thorough import tries
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.site.search_files import MAX_WORD, inline_records, split_words
from unspool.site.search_records import SearchRecord, session_records
from unspool.store.library import Library

HOSTILE = (
    '<img src=x onerror="window.hurt=1"></script><script>window.hurt=1</script> \u2028 \' " \\ `${window.hurt=1}` '
    "javascript:window.hurt=1 <svg/onload=window.hurt=1> hostileword"
)
START = 1_750_000_000

SITE = {
    "alpha/one": [
        SearchRecord("title", "index.html", START, "Losing orders, zebra"),
        SearchRecord("prompt", "page-001.html#msg-1", START + 1, "Where is the zebra_crossing in src/app/main.py?"),
        SearchRecord(
            "answer", "page-001.html#msg-2", START + 2, "The zebra is in a café. " * 30 + "Needle01 crossing zebra"
        ),
        SearchRecord("thinking", "page-002.html#msg-3", START + 3, "zebra thoughts 漢字仮名交じり文"),
        *(
            SearchRecord("tool", f"page-002.html#line-{at}", START + at, f"Bash ls zebra number{at}")
            for at in range(40)
        ),
    ],
    "beta/two": [
        SearchRecord("title", "index.html", START + 9_000, "<b>Second</b> session"),
        SearchRecord("answer", "page-001.html#msg-7", START + 9_001, "A zebra crossing the road, phase 2"),
        SearchRecord("notice", "page-001.html#msg-8", START + 9_002, HOSTILE),
    ],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_archive(folder, SITE)
    return folder


@pytest.fixture(scope="module", params=["disk", "served"])
def base(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """Where the site is, as an address."""
    if request.param == "disk":
        yield site.as_uri()
        return
    with served(site) as server:
        yield server.url


@pytest.fixture(scope="module")
def opened(browser: Any) -> Any:
    """One page for all tests, for a new one takes longer than most of them; and what it complained about."""
    only = browser.new_page()
    only.set_default_timeout(PATIENCE * 1000)
    only.errors = []
    only.on("pageerror", lambda error: only.errors.append(str(error)))
    only.on("console", lambda message: only.errors.append(message.text) if message.type == "error" else None)
    only.on("dialog", lambda dialog: only.errors.append(dialog.message))
    return only


@pytest.fixture
def tab(opened: Any) -> Iterator[Any]:
    """An empty page in which nothing may go wrong unseen."""
    opened.errors.clear()
    yield opened
    opened.goto("about:blank")
    assert [error for error in opened.errors if "favicon" not in error and "404" not in error] == []


def settled(tab: Any) -> None:
    until(tab, "document.querySelector('.search-results')?.ariaBusy === 'false'")


def search(tab: Any, query: str) -> list[str]:
    """Type a query; gives the texts of the hits once they stand."""
    if not tab.locator("dialog[open]").count():
        tab.click("[data-do=search]")
    tab.fill(".search-input", query)
    settled(tab)
    return list(tab.locator(".search-text").all_inner_texts())


def test_a_word_is_found_as_it_is_typed_and_enter_leads_to_it(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    (text,) = search(tab, "needle0")
    assert "Needle01" in text
    assert tab.locator(".search-text mark").all_inner_texts() == ["Needle0"]
    assert tab.inner_text(".search-status") == "1 match in 1 session"
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{base}/alpha/one/page-001.html#msg-2")
    assert tab.locator(":target").inner_text() == "msg-2"


def test_the_shown_piece_of_a_text_has_as_many_of_the_words_as_can_be_seen_together(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    (text,) = search(tab, "cafe needle01")
    assert tab.locator(".search-text mark").all_inner_texts()[-2:] == ["café", "Needle01"]
    assert text.startswith("… ")


def test_a_phrase_says_that_its_matches_are_not_counted_yet(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    search(tab, '"zebra is"')
    assert tab.inner_text(".search-status") == "up to 2 matches in 1 session"


def test_back_leads_to_the_search_again_and_escape_leaves_it(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    search(tab, "needle01")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/page-001.html#msg-2")
    tab.go_back()
    tab.wait_for_selector(".search-hit")
    assert tab.input_value(".search-input") == "needle01"
    tab.keyboard.press("Escape")
    until(tab, "!location.hash")
    assert not tab.locator("dialog[open]").count()


def test_sessions_are_ranked_by_kind_and_then_the_newest(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    search(tab, "zebra")
    assert tab.locator(".search-kind").all_inner_texts()[:2] == ["prompt", "title"]
    assert tab.locator(".search-session b").all_inner_texts() == [
        "Losing orders, zebra",
        "<b>Second</b> session",
    ]
    search(tab, "zebra crossing")
    assert tab.locator(".search-kind").all_inner_texts() == ["prompt", "answer", "answer"]
    search(tab, '"zebra crossing"')
    assert tab.locator(".search-session b").all_inner_texts() == ["<b>Second</b> session"]


FOUND = {
    "cafe": 1,
    "CAFÉ": 1,
    "zebra_cross": 1,
    "src/app/main.py": 1,
    '"zebra is in"': 1,
    '"zebra in is"': 0,
    "zeb ": 0,
    "phase 2": 1,
    "phase 3": 0,
    "漢字": 1,
    "字": 1,
    "名交じ": 1,
    "名字": 0,
    "road needle01": 0,
}


def test_words_phrases_paths_accents_and_scripts_are_found(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    assert {query: len(search(tab, query)) for query in FOUND} == FOUND


def test_one_session_is_searched_by_the_same_rules(tab: Any, base: str) -> None:
    tab.goto(f"{base}/alpha/one/index.html")
    assert {query: len(search(tab, query)) for query in FOUND} == {**FOUND, "phase 2": 0}


def test_the_state_is_in_the_address_and_comes_back_from_it(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    search(tab, "zebra")
    tab.select_option("[aria-label=Kind]", "answer")
    until(tab, "location.hash.includes('kind=answer')")
    tab.select_option("[aria-label=Project]", "beta")
    until(tab, "location.hash === '#search=zebra&kind=answer&project=beta'")
    assert len(tab.locator(".search-hit").all()) == 1
    address = tab.url
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_selector(".search-hit")
    assert tab.input_value(".search-input") == "zebra"
    assert tab.input_value("[aria-label=Project]") == "beta"
    assert tab.locator(".search-hit").all_inner_texts() == ["answer\nA zebra crossing the road, phase 2"]


def test_closing_gives_the_anchor_back(tab: Any, base: str) -> None:
    tab.goto(f"{base}/alpha/one/page-001.html#msg-2")
    search(tab, "zebra")
    assert "#search=zebra" in tab.url
    tab.keyboard.press("Escape")
    until(tab, "location.hash === '#msg-2'")


def test_a_session_is_searched_alone_until_all_are_asked_for(tab: Any, base: str) -> None:
    tab.goto(f"{base}/beta/two/page-001.html")
    assert search(tab, "zebra") == ["A zebra crossing the road, phase 2"]
    tab.select_option("[aria-label=Where]", "archive")
    until(tab, "document.querySelectorAll('.search-session').length === 2")
    assert "in=archive" in tab.url
    tab.keyboard.press("Escape")


def test_arrows_move_through_the_hits_and_the_rest_of_a_session_opens(tab: Any, base: str) -> None:
    tab.goto(f"{base}/alpha/one/index.html")
    search(tab, "zebra")
    assert len(tab.locator(".search-hit").all()) == 3
    for _ in range(3):
        tab.keyboard.press("ArrowDown")
    assert tab.locator("[aria-selected=true]").inner_text() == "41 more in this session"
    tab.keyboard.press("Enter")
    until(tab, "document.querySelectorAll('.search-hit').length === 23")
    tab.keyboard.press("ArrowUp")
    chosen = tab.locator("[aria-selected=true]")
    assert tab.get_attribute(".search-input", "aria-activedescendant") == chosen.get_attribute("id")
    assert chosen.inner_text().startswith("answer")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/alpha/one/page-001.html#msg-2")


def test_a_hit_on_the_same_page_closes_the_dialog(tab: Any, base: str) -> None:
    tab.goto(f"{base}/alpha/one/page-001.html")
    search(tab, "needle01")
    tab.click(".search-hit")
    until(tab, "location.hash === '#msg-2'")
    assert not tab.locator("dialog[open]").count()


def test_hostile_text_is_shown_as_text_and_runs_nothing(tab: Any, base: str) -> None:
    tab.goto(f"{base}/index.html")
    (text,) = search(tab, "hostileword")
    assert "onload=window.hurt=1> hostileword" in text
    (text,) = search(tab, '"<img src=x"')
    assert text.startswith('<img src=x onerror="window.hurt=1"></script>')
    assert tab.evaluate("window.hurt") is None
    assert tab.locator("dialog img, dialog svg, dialog script, dialog b b").count() == 0


def test_a_hostile_address_is_only_a_query(tab: Any, base: str) -> None:
    tab.goto(
        f"{base}/index.html#search=%3Cimg%20src%3Dx%20onerror%3Dwindow.hurt%3D1%3E&kind=%3Cb%3E&project=__proto__&in=toString"
    )
    settled(tab)
    assert "Search does not work" not in tab.inner_text(".search-status")
    assert tab.input_value(".search-input") == "<img src=x onerror=window.hurt=1>"
    assert tab.evaluate("window.hurt") is None


def test_a_session_by_itself_has_no_archive(tab: Any, tmp_path: Path) -> None:
    write_session(tmp_path, "", SITE["alpha/one"], alone=True)
    write_assets(tmp_path)
    tab.goto((tmp_path / "page-001.html").as_uri())
    assert len(search(tab, "needle01")) == 1
    assert tab.locator("[aria-label=Where]").is_hidden()


def test_records_inside_the_page_are_searched_without_any_file(tab: Any, tmp_path: Path) -> None:
    told = f'<script type="application/json" data-search>{inline_records(SITE["beta/two"])}</script></body>'
    text = page(["msg-7", "msg-8"], "", "two").replace("</body>", told)
    (tmp_path / "mailed.html").write_text(text, "utf-8")
    write_assets(tmp_path)
    tab.goto((tmp_path / "mailed.html").as_uri())
    assert search(tab, "crossing") == ["A zebra crossing the road, phase 2"]
    tab.keyboard.press("Enter")
    until(tab, "location.hash === '#msg-7'")
    assert tab.url.split("#")[0].endswith("/mailed.html")
    assert tab.evaluate("window.hurt") is None


def test_a_missing_index_is_said(tab: Any, tmp_path: Path) -> None:
    write_assets(tmp_path)
    (tmp_path / "index.html").write_text(page((), "", "", "search"), "utf-8")
    tab.goto((tmp_path / "index.html").as_uri())
    tab.click("[data-do=search]")
    until(tab, "document.querySelector('.search-status').textContent.startsWith('Search does not work here')")
    tab.errors.clear()


def test_the_script_and_the_index_mean_the_same_by_a_word(tab: Any, base: str) -> None:
    """Random text of every script has the same words in Python and in the browser."""
    chance = random.Random(3)
    blocks = ((32, 127), (160, 880), (880, 1424), (2304, 3712), (0x1100, 0x1200), (0x3000, 0x3200), (0x4E00, 0x4F00))
    ranges = (*blocks, (0xAC00, 0xAD00), (0xFF00, 0xFFF0), (0x10400, 0x10450), (0x20000, 0x20100))
    texts = [
        "".join(chr(chance.randrange(*ranges[chance.randrange(len(ranges))])) for _ in range(12)) for _ in range(400)
    ]
    tab.goto(f"{base}/index.html")
    found = tab.evaluate("(texts) => texts.map(unspoolSearch.words)", texts)
    kept = [{word[:MAX_WORD] for word in split_words(text) if len(word) > 1 or not word.isascii()} for text in texts]
    assert [set(one) for one in found] == kept


LOADED = 1_000_000
"""Bytes that a first query over the made corpus may load, the page and its scripts included."""


@pytest.fixture(scope="module")
def corpus(made_corpus: Callable[[int, int], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A site of the made corpus, and its needles with their sessions."""
    source = made_corpus(1, tries(20, 50))
    library, folder = Library([source / "projects"]), tmp_path_factory.mktemp("corpus")
    sessions = {}
    for log in library.logs():
        read = library.open(log)
        told = session_records(read, Addresses(read, SiteOptions()))
        sessions[f"{Path(read.log.path).parent.name}/{read.id}"] = list(told)
    write_archive(folder, sessions)
    truth = json.loads((source / "truth.json").read_text())["sessions"]
    return folder, {needle: told["session"] for told in truth for needle in told["needles"]}


def test_every_needle_of_many_megabytes_leads_to_its_session(tab: Any, corpus: tuple[Path, dict[str, str]]) -> None:
    folder, needles = corpus
    assert len(needles) > tries(8, 20)
    tab.goto((folder / "index.html").as_uri())
    for needle, session in needles.items():
        texts = search(tab, needle)
        assert needle in texts[0]
        links = {hit.get_attribute("href") for hit in tab.locator(".search-hit").all()}
        assert {re.sub(r".*/([^/]+)/[^/]+$", r"\1", str(link)) for link in links} == {session}
    tab.keyboard.press("Enter")
    tab.wait_for_selector(":target")


@pytest.mark.parametrize("query", ["needle", "the", "te", '"the of"', "error in the test"])
def test_a_first_query_over_many_megabytes_loads_little(tab: Any, corpus: tuple[Path, Any], query: str) -> None:
    with served(corpus[0]) as server:
        tab.goto(f"{server.url}/index.html")
        search(tab, query)
        assert sum(server.sent.values()) < LOADED < sum(path.stat().st_size for path in corpus[0].rglob("*.*")) / 2
