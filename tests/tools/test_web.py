"""The web."""

from tests.tools.calls import called
from tests.tools.examples import EXAMPLES
from unspool import tools
from unspool.doc import Fields, Link, Prose, Raw


def test_a_page_fetched_tells_its_host_and_code() -> None:
    asked, answer, detail = EXAMPLES["WebFetch"]
    fold = tools.describe(called("WebFetch", asked, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("WebFetch a.b/c", "200 OK · 1.2 kB · 4.2 s")
    assert fold.children == (Link("https://a.b/c/", "https://a.b/c/"), Prose("What?"), Prose("This."))


def test_an_address_that_is_not_of_the_web_is_no_link() -> None:
    fold = tools.describe(called("WebFetch", {"url": "javascript:alert(1)"}, None))
    assert fold.children == (Fields((("address", "javascript:alert(1)"),)),)


def test_a_search_lists_what_it_found() -> None:
    asked, answer, detail = EXAMPLES["WebSearch"]
    fold = tools.describe(called("WebSearch", asked, answer, detail=detail))
    assert (fold.summary, fold.outcome) == ("WebSearch q", "1 result · 2.5 s")
    assert fold.children == (Link("https://a.b", "T"), Prose("said"))


def test_pages_are_read_from_the_text_where_there_is_no_twin() -> None:
    text = 'Web search results for query: "q"\n\nLinks: [{"title":"T","url":"https://a.b"}]\n\nSaid.'
    fold = tools.describe(called("WebSearch", {"query": "q"}, text))
    assert (fold.outcome, fold.children) == ("1 result", (Link("https://a.b", "T"), Prose("\nSaid.")))


def test_a_search_by_the_provider_answers_in_pieces() -> None:
    part = {"type": "web_search_tool_result", "content": [{"type": "web_search_result", "url": "https://a.b"}]}
    fold = tools.describe(called("web_search", {"query": "q"}, "", parts=(part,)))
    assert (fold.outcome, fold.children) == ("1 result", (Link("https://a.b", "https://a.b"),))


def test_pieces_that_are_no_pages_are_shown_as_data() -> None:
    fold = tools.describe(called("web_search", {"query": "q"}, "", parts=({"type": "odd", "code": 1},)))
    assert Raw('{\n  "type": "odd",\n  "code": 1\n}', "odd") in fold.children
