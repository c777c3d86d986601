"""The page of the search and what the palette asks for, on a real server over a really synced source."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.app.asking import Site, harbour, shop, site
from tests.app.serving import served
from unspool.app.context import AppContext
from unspool.app.search_pages import _links
from unspool.app.search_results import MAX_FOUND_SESSIONS, MAX_QUESTION, SearchQuestion, extend_last_word


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("find"), shop(), harbour()) as opened:
        yield opened


def test_places_are_grouped_by_session_lit_and_counted_exactly(app: Site) -> None:
    got = app.get("/search", q="checkout")
    assert got.status == 200
    assert "places in 2 sessions" in got.said
    assert "<mark>checkout</mark>" in got.text
    assert [link for link in got.links("/s/") if link.endswith(("/shop/", "/harbour/"))]


def test_markup_in_a_title_is_text(app: Site) -> None:
    got = app.get("/search", q="checkout")
    assert "<b>checkout</b>" not in got.text
    assert "Slow &lt;b&gt;" in got.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "checkout", "kind": "prompt"}, {"shop", "harbour"}),
        ({"q": "checkout", "role": "tool"}, {"shop"}),
        ({"q": "checkout", "project": "/home/dev/harbour"}, {"harbour"}),
        ({"q": "checkout", "since": "7d"}, {"harbour"}),
        ({"q": "totals", "is": "error"}, {"shop"}),
        ({"q": "project:shop checkout"}, {"shop"}),
        ({"tool": "Bash"}, {"shop"}),
        ({"q": "checkout(cart):", "exact": "1"}, {"shop"}),
        ({"q": "checkout (cart)", "exact": "1"}, set()),
    ],
)
def test_filters_leave_what_they_ask_for(app: Site, query: dict[str, str], expected: set[str]) -> None:
    got = app.get("/search", **query)
    assert got.status == 200
    assert {link.split("/")[2] for link in got.links("/s/")} == expected


def test_every_filter_link_leads_to_a_page_and_keeps_the_words(app: Site) -> None:
    first = app.get("/search", q="checkout")
    links = [link for link in first.links("/search?") if "q=checkout" in link]
    assert len(links) > 15
    assert {app.get(link).status for link in links} == {200}


def test_a_chosen_filter_is_told_and_can_be_taken_away(app: Site) -> None:
    got = app.get("/search", q="checkout", kind="prompt", model="haiku")
    assert '<a class="chip" href="/search?q=checkout&amp;model=haiku" aria-current' not in got.text
    assert "model: haiku" in got.said
    assert "/search?q=checkout&kind=prompt" in got.links()


def test_a_mended_question_says_so(app: Site) -> None:
    assert "was not closed" in app.get("/search", q='"checkout slow').said
    assert "“Exact text” finds it" in app.get("/search", q="checkout {}").said


def test_a_filter_that_means_nothing_is_explained(app: Site) -> None:
    got = app.get("/search", q="checkout", kind="nonsense")
    assert got.status == 400
    assert "kind:nonsense means nothing" in got.said


def test_an_endless_question_is_cut_and_says_so(app: Site) -> None:
    got = app.get("/search", q="checkout " * 500)
    assert got.status == 200
    assert f"first {MAX_QUESTION:,} characters" in got.said


@pytest.mark.parametrize(
    "query", ["", "   ", "\x00", "\ud7ff\ufffe", "((((", "-", "AND OR NOT", "*", "%", "' OR 1=1 --"]
)
def test_whatever_is_typed_is_answered(app: Site, query: str) -> None:
    assert app.get("/search", q=query, n="99999999999999", hits="-3").status in (200, 400)
    assert "sessions" in app.json("/search.json", q=query)


def test_fewer_are_shown_than_found_and_a_link_leads_to_more(app: Site) -> None:
    got = app.get("/search", q="checkout", n=1)
    assert "the best 1 shown" in got.said
    assert any("n=21" in link for link in got.links("/search?"))


def test_all_places_of_one_session_have_a_page(app: Site) -> None:
    got = app.get("/search", q="checkout", hits=1)
    (more,) = got.links("session=shop")
    whole = app.json("/search.json", q="checkout session:shop")["sessions"][0]["count"]
    assert app.get(more).text.count('class="hit"') == whole > 1


def landed(app: Site, question: str, kind: str) -> str:
    """Page and fragment that the first hit of a kind leads to; there is such a page, and such a block on it."""
    found = app.json("/search.json", q=question)["sessions"][0]["hits"]
    href = next(hit["href"] for hit in found if hit["kind"] == kind)
    end = urlsplit(app.get(href).url)
    page = app.get(end.path)
    assert page.status == 200
    assert f'id="{end.fragment}"' in page.text
    return f"{end.path}#{end.fragment}"


def test_a_prompt_of_the_second_page_is_led_to(app: Site) -> None:
    assert landed(app, "quicksilver", "prompt").startswith("/s/shop/page-002.html#msg-")


def test_the_answer_to_a_call_leads_to_its_call(app: Site) -> None:
    assert landed(app, "zanzibar", "result") == landed(app, '"grep -rn checkout"', "call")


def test_words_of_a_subagent_lead_to_its_page(app: Site) -> None:
    assert landed(app, "keeperless", "answer").startswith("/s/harbour/agent-")


def test_an_anchor_of_no_block_leads_to_the_turn_that_had_begun(app: Site) -> None:
    assert "#turn-" in app.get("/s/shop/at/msg-9999999999999").url


@pytest.mark.parametrize("anchor", ["nothing", "msg-1", "%3Cscript%3E", "line-999"])
def test_an_anchor_that_means_nothing_leads_to_the_session(app: Site, anchor: str) -> None:
    assert app.get(f"/s/shop/at/{anchor}").url == f"{app.address}/s/shop/"


def test_an_unknown_session_has_no_places(app: Site) -> None:
    assert app.get("/s/nowhere/at/msg-1").status == 404


def test_the_palette_counts_what_the_page_counts(app: Site) -> None:
    """For the same words both say the same; where only a longer word is found, all of it is a question of its own."""
    for typed in ("check", "checkout", "checkou"):
        found = app.json("/search.json", q=typed)
        assert found["summary"].partition(",")[0] in app.get(found["all"]).said
    assert found["all"] == "/search?q=checkou%2A"
    assert app.json("/search.json", q="checkout")["all"] == "/search?q=checkout"


def test_what_is_being_typed_may_go_on(app: Site) -> None:
    assert app.json("/search.json", q="quicksil")["sessions"][0]["key"] == "shop"
    assert app.json("/search.json", q='"quicksil"')["sessions"] == []
    assert [extend_last_word(text) for text in ("a", "a ", '"a', "kind:a", "a OR", "a*")] == [
        "a*",
        "a ",
        '"a',
        "kind:a",
        "a OR",
        "a*",
    ]


def test_an_exact_text_that_is_being_typed_is_looked_for_as_it_stands(app: Site) -> None:
    assert app.json("/search.json", q="def checkout", exact=1)["sessions"]


def test_a_page_that_shows_all_it_can_offers_no_more(app: Site) -> None:
    assert app.get("/search", q="checkout", n=1).links(f"n={1 + 20}")
    assert not _links(SearchQuestion("checkout", sessions=MAX_FOUND_SESSIONS), ())["more"]
    assert _links(SearchQuestion("checkout", sessions=MAX_FOUND_SESSIONS - 1), ())["more"]


def test_a_filter_being_typed_is_completed(app: Site) -> None:
    assert app.json("/search.json", q="slow proj")["completions"] == ["slow project:"]
    assert app.json("/search.json", q="slow kind:pr")["completions"] == [
        "slow kind:prompt ",
        "slow kind:prompt-history ",
    ]
    assert app.json("/search.json", q="-project:harb")["completions"] == ["-project:/home/dev/harbour "]
    assert "tool:Bash " in app.json("/search.json", q="tool:")["completions"]


def test_pieces_of_a_hit_are_its_text(app: Site) -> None:
    hit = app.json("/search.json", q="quicksilver")["sessions"][0]["hits"][0]
    assert "".join(text for text, _ in hit["pieces"]) == "Is it the quicksilver?"
    assert [text for text, lit in hit["pieces"] if lit] == ["quicksilver"]


def test_without_an_index_it_is_said_why_nothing_is_found(tmp_path: Path) -> None:
    with served(AppContext(tmp_path)) as address:
        assert "no index" in Site(address).json("/search.json", q="checkout")["problem"]
        assert "no index" in Site(address).get("/search", q="checkout").said
        assert "no index" in Site(address).get("/stats").said
