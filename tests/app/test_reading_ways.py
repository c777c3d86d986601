"""Ways through sessions that only a server has: words in all of one, branches side by side, a chain as one story."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin

import pytest

from tests.app.serving import served
from tests.app.sessions import STORM, demo_source, desk_of, get
from tests.log_builder.builder import LogBuilder
from tests.site.pages import Read
from unspool.app.session_routes import find_in_session
from unspool.config.settings import settings_path
from unspool.site.address import Addresses
from unspool.site.options import SiteOptions
from unspool.store.library import Library


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    with served(desk_of(demo_source())) as address:
        yield address


def _links(app: str, words: str, key: str = STORM) -> list[str]:
    found = json.loads(get(f"{app}/s/{key}/find?q={quote(words)}").body)
    assert found["count"] == len(found["links"])
    return list(found["links"])


def test_words_are_found_wherever_they_stand_and_each_place_is_on_its_page(app: str) -> None:
    links = _links(app, "SURGE")
    assert len({link.partition("#")[0] for link in links}) == 2
    for link in links:
        page, _, anchor = link.partition("#")
        html = get(f"{app}/s/{STORM}/{page}").text
        assert f'id="{anchor}"' in html
    assert _links(app, "surge ") == links
    assert _links(app, "") == []
    assert _links(app, "no such words") == []


def test_what_a_tool_was_given_and_answered_is_found_to_its_end(tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("Look").ran("find a needle", "hay\n" * 20_000 + "the last straw").assistant(log.text("There"))
    log.write(tmp_path)
    library = Library([tmp_path / "projects"])
    session = library.open(next(iter(library.logs())))
    addresses = Addresses(session, SiteOptions())
    assert find_in_session(session, addresses, "LAST  straw").count == 1
    assert find_in_session(session, addresses, "a needle").count == 1
    assert find_in_session(session, addresses, "look").links == (addresses.link(session.turns[0].prompt),)  # type: ignore[arg-type]
    assert find_in_session(session, addresses, "h" * 100_000).count == 0
    hay = find_in_session(session, addresses, "hay")
    assert (hay.count, hay.places, hay.total) == (1, (20_000,), 20_000)


@pytest.mark.parametrize("query", ["q=%00", "q=%ff", "q=" + "x" * 5000, "", "q=%F0%9F%98%80"])
def test_any_words_have_an_answer(app: str, query: str) -> None:
    assert json.loads(get(f"{app}/s/{STORM}/find?{query}").body)["count"] == 0


def test_branches_stand_side_by_side_from_where_they_part(app: str) -> None:
    html = get(f"{app}/s/{STORM}/branches").text
    page = Read(html)
    assert not page.faults
    pairs = re.split(r'<div class="pair"', html)[1:]
    assert 'aria-label="Prompt 7"' in pairs[0]
    left, right = pairs[0].split('<div class="side-two">')
    assert 'id="turn-7"' in left
    assert 'id="branch-1.turn-7"' in right
    assert "Make it longer" in right
    assert 'id="turn-6"' not in html
    assert "Has no prompt 8" in pairs[1]
    own = get(f"{app}/s/{STORM}/branch-1.html").text
    told = re.search(r'<section class="turn" id="branch-1.turn-7".*?</section>', own, re.S)
    assert told is not None
    assert told[0] in html


def test_the_ways_can_be_chosen_and_wrong_ones_are_none(app: str) -> None:
    turned = get(f"{app}/s/{STORM}/branches?left=1&right=0").text
    assert turned.index('id="branch-1.turn-7"') < turned.index('id="turn-7"')
    same = get(f"{app}/s/{STORM}/branches?left=1&right=1").text
    assert "Both are the same" in same
    for query in ("left=99&right=-1", "right=x&from=99999999999", "from=7"):
        assert 'class="pair"' in get(f"{app}/s/{STORM}/branches?{query}").text


def test_a_branch_of_a_branch_and_another_answer_are_compared_too(tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("One").assistant(log.text("First answer"))
    start = log.last
    log.prompt("Two").assistant(log.text("Second"))
    fork = log.last
    log.prompt("Three of the dead").assistant(log.text("No")).rewind(fork)
    log.prompt("Three of the lost").assistant(log.text("Neither")).rewind(start)
    for number in range(14):
        log.prompt(f"Live {number}").assistant(log.text("Yes"))
    log.write(tmp_path)
    with served(desk_of(tmp_path / "projects")) as address:
        base = f"{address}/s/{log.session_id}/branches"
        html = get(base).text
        numbers = sorted(int(one) for one in re.findall(r'<option value="(\d+)"', html))
        assert numbers == [0, 0, 1, 1, 2, 2]
        assert "1 to 10 of 14" in html
        assert "Live 13" in get(f"{base}?from=10").text
        siblings = get(f"{base}?left=1&right=2").text
        assert "Three of the dead" in siblings
        assert "Three of the lost" in siblings
        assert siblings.count('class="pair"') == 1


def test_a_session_without_branches_has_no_such_page(app: str) -> None:
    plain = next(log.session_id for log in Library([demo_source()]).logs() if log.session_id != STORM)
    assert get(f"{app}/s/{plain}/branches").status == 404
    assert "branches" not in get(f"{app}/s/{plain}/").text.partition('class="doors"')[2].partition("</p>")[0]


def _chain() -> tuple[str, str]:
    library = Library([demo_source()])
    for log in library.logs():
        for link in library.open(log).links:
            if link.relation == "follow-up":
                return log.session_id, link.session
    raise AssertionError("the demo has no chain")


def test_a_chain_is_read_through_in_order_from_any_of_its_sessions(app: str) -> None:
    earlier, later = _chain()
    for key in (earlier, later):
        assert 'href="story"' in get(f"{app}/s/{key}/").text
        first = get(f"{app}/s/{key}/story/1.html").text
        assert f'data-session="{earlier}"' in first
        second = get(f"{app}/s/{key}/story/2.html").text
        assert f'data-session="{later}"' in second
        assert 'href="2.html" rel="next"' in first
        assert get(f"{app}/s/{key}/story/3.html").status == 404
        assert not Read(first).faults
    assert get(f"{app}/s/{later}/story").text == get(f"{app}/s/{later}/story/2.html").text


def test_a_story_tells_what_the_pages_of_its_sessions_tell_apart_from_links(app: str) -> None:
    def bare(html: str) -> str:
        return re.sub(r'(href|id|aria-label)="[^"]*"', "", html)

    earlier, later = _chain()
    for number, key in ((1, earlier), (2, later)):
        told = get(f"{app}/s/{earlier}/story/{number}.html").text
        inside = told[told.index('<section class="turn"') : told.rindex("</section>")]
        page = get(f"{app}/s/{key}/page-001.html").text
        assert bare(inside) in bare(page)


def test_every_link_of_a_story_leads_somewhere(app: str) -> None:
    earlier, _ = _chain()
    for number in (1, 2):
        base = f"{app}/s/{earlier}/story/"
        for link in set(Read(get(f"{base}{number}.html").text).links):
            if link.startswith(("#", "http")) or (link.startswith("/") and not link.startswith("/s/")):
                continue
            assert get(urljoin(base, link.partition("#")[0])).status == 200, link


def test_what_the_settings_hide_is_on_the_page_all_the_same(app: str) -> None:
    whole = get(f"{app}/s/{STORM}/page-001.html").text
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text('hide = ["tools", "agents", "images", "thinking"]\n', "utf-8")
    got = get(f"{app}/s/{STORM}/page-001.html").text
    assert 'data-hide="tools,agents,images,thinking"' in got
    assert got[got.index("<body") :] == whole[whole.index("<body") :]
    assert "agent-" in get(f"{app}/s/{STORM}/").text
